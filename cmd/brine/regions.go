package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/config"
	"brine/hbase"
	"brine/rowkey"
	"brine/skew"
)

type regionsCmd struct {
	Ls      regionsLsCmd      `cmd:"" help:"List a table's regions with their start keys, servers, sizes and loads."`
	Split   regionsSplitCmd   `cmd:"" help:"Split a region."`
	Merge   regionsMergeCmd   `cmd:"" help:"Merge two neighbouring regions."`
	Move    regionsMoveCmd    `cmd:"" help:"Move a region to another server."`
	Flush   regionsFlushCmd   `cmd:"" help:"Write what a region, or all of a table, holds in memory to disk."`
	Compact regionsCompactCmd `cmd:"" help:"Merge the files of a region, or of all of a table."`
}

// regionsFlags are those of every command on regions.
type regionsFlags struct {
	configFlag
	timeoutFlag
	JSON bool `help:"Print JSON."`
}

const regionHelp = `REGION is the encoded name of a region, the beginning of it (four digits or more), or a row key that the region holds,
as the HBase shell prints it; key:ROW is a row key even if it looks like the beginning of a name.`

// tableRegions are a table's regions, as a command works on them.
type tableRegions struct {
	client  *hbase.Client
	table   string
	keys    rowkey.Keys // none: the configuration does not know the table
	regions []hbase.Region
	loads   map[string]hbase.RegionLoad // by encoded name
}

// open connects, finds the table and runs work on its regions. A table that the configuration does not name is taken as it
// is written.
func (f *regionsFlags) open(e *env, name string, work func(*tableRegions) error) error {
	cfg, err := f.load(e)
	if err != nil {
		return err
	}
	cluster, err := openHBase(e.ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	t, err := findRegions(e.ctx, cfg, cluster.client, name)
	if err != nil {
		return err
	}
	return work(t)
}

func findRegions(ctx context.Context, cfg *config.Config, client *hbase.Client, name string) (*tableRegions, error) {
	t := &tableRegions{client: client, table: name}
	if known, err := table(cfg, name); err == nil {
		t.table, t.keys = known.Name, known.RowKeys()
	} else if name == "" {
		return nil, err
	}
	var err error
	if t.regions, err = client.Regions(ctx, t.table); err != nil {
		return nil, noSuchTable(t.table, err)
	}
	loads, err := client.RegionLoads(ctx, t.table)
	if err != nil {
		return nil, fmt.Errorf("loads of the regions of %s: %w", t.table, err)
	}
	t.loads = map[string]hbase.RegionLoad{}
	for _, l := range loads {
		t.loads[l.Encoded] = l
	}
	return t, nil
}

// leastPrefix is how much of an encoded name stands for it.
const leastPrefix = 4

// find finds the region that a person named.
func (t *tableRegions) find(name string) (hbase.Region, error) {
	row, isKey := strings.CutPrefix(name, "key:")
	key, err := unescape(row)
	if err != nil {
		return hbase.Region{}, usage(err)
	}
	holder := slices.IndexFunc(t.regions, func(r hbase.Region) bool { return holds(r, key) })
	if holder < 0 {
		return hbase.Region{}, fmt.Errorf("no region of %s holds the key %s just now: hbase:meta has a hole, or a region is being split", t.table, row)
	}
	if isKey || len(name) < leastPrefix || strings.Trim(name, "0123456789abcdef") != "" {
		return t.regions[holder], nil
	}
	var named []hbase.Region
	for _, r := range t.regions {
		if strings.HasPrefix(r.Encoded, name) {
			named = append(named, r)
		}
	}
	switch {
	case len(named) == 0:
		return t.regions[holder], nil
	case len(named) == 1 && len(name) >= 2*leastPrefix:
		return named[0], nil
	}
	return hbase.Region{}, usage(fmt.Errorf("%s is the beginning of the name of region %s, and a row key; write more of the name, or key:%s", name, named[0].Encoded, name))
}

func holds(r hbase.Region, key []byte) bool {
	return bytes.Compare(r.Start, key) <= 0 && (len(r.End) == 0 || bytes.Compare(key, r.End) < 0)
}

// describe names a region to people.
func (t *tableRegions) describe(r hbase.Region) string {
	end := "the end"
	if len(r.End) > 0 {
		end = clip(rowkey.Binary(r.End), 40)
	}
	return fmt.Sprintf("region %s of %s, from %s to %s, %s on %s", r.Encoded, t.table, clip(start(rowkey.Binary(r.Start)), 40), end,
		size(t.loads[r.Encoded]), r.Server)
}

// size is what a region holds in files and memory; servers tell it in MB.
func size(l hbase.RegionLoad) string { return thousands(int64(l.StoreFileMB+l.MemStoreMB)) + " MB" }

type regionsLsCmd struct {
	regionsFlags
	Table string `arg:"" optional:"" help:"Table (default: the only one of the configuration)."`
}

// Help is shown under the command's own help.
func (regionsLsCmd) Help() string {
	return "Examples:\n  brine regions ls -c examples/scans.yaml\n  brine regions ls -c examples/scans.yaml scans --json"
}

// shownRegion is a region as it is printed.
type shownRegion struct {
	Name   string   `json:"name"` // encoded
	Start  skew.Key `json:"start"`
	End    skew.Key `json:"end"`
	Fields string   `json:"start_fields,omitempty"` // those that the start key holds whole
	Server string   `json:"server"`
	State  string   `json:"state,omitempty"`
	FileMB int      `json:"files_mb"`
	Memory int      `json:"memstore_mb"`
	Files  int      `json:"files"`
	Reads  uint64   `json:"reads"` // since the region was opened
	Writes uint64   `json:"writes"`
	Local  float32  `json:"locality"` // part of the files that lies on the region's server
}

func (t *tableRegions) shown() []shownRegion {
	out := make([]shownRegion, len(t.regions))
	for i, r := range t.regions {
		l := t.loads[r.Encoded]
		out[i] = shownRegion{Name: r.Encoded, Start: r.Start, End: r.End, Fields: decodedStart(t.keys, r.Start), Server: r.Server, State: r.State,
			FileMB: l.StoreFileMB, Memory: l.MemStoreMB, Files: l.StoreFiles, Reads: l.Reads, Writes: l.Writes, Local: l.Locality}
	}
	return out
}

func (c *regionsLsCmd) Run(e *env) error {
	return c.open(e, c.Table, func(t *tableRegions) error {
		all := t.shown()
		if c.JSON {
			return json.NewEncoder(e.stdout).Encode(map[string]any{"table": t.table, "regions": all})
		}
		w := columns{out: e.stdout}
		w.row([]string{"REGION", "START", "SERVER", "     SIZE", "       READS", "      WRITES"})
		writes := make([]float64, len(all))
		for i, r := range all {
			writes[i] = float64(r.Writes)
			w.row([]string{r.Name[:min(2*leastPrefix, len(r.Name))], clip(startOf(t.keys, r.Start), 48), r.Server, fmt.Sprintf("%9s", size(t.loads[r.Name])),
				fmt.Sprintf("%12s", thousands(int64(r.Reads))), fmt.Sprintf("%12s", thousands(int64(r.Writes)))})
		}
		w.flush()
		x := skew.Measure(writes)
		fmt.Fprintf(e.stdout, "%s: %s; writes max/mean %.3f, CV %.3f, Gini %.3f\n", t.table, count(len(all), "region"), x.MaxMean, x.CV, x.Gini)
		return nil
	})
}

// noSuchTable gives the error of a missing table its exit code.
func noSuchTable(table string, err error) error {
	if errors.Is(err, hbase.ErrNoTable) {
		return &exitError{exitMissing, fmt.Errorf("table %s: %w", table, hbase.ErrNoTable), "brine tables apply creates the tables of the configuration"}
	}
	return fmt.Errorf("regions of table %s: %w", table, err)
}
