package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"brine/hbase"
	"brine/internal/term"
	"brine/rowkey"
	"brine/schema/regions"
	"brine/skew"
	"brine/skew/display"
)

type regionsCmd struct {
	Ls      regionsLsCmd      `cmd:"" help:"List a table's regions with start keys, servers, sizes and loads."`
	Split   regionsSplitCmd   `cmd:"" help:"Split a region."`
	Merge   regionsMergeCmd   `cmd:"" help:"Merge two neighbouring regions."`
	Move    regionsMoveCmd    `cmd:"" help:"Move a region to another server."`
	Flush   regionsFlushCmd   `cmd:"" help:"Flush a region, or all regions of a table, from memory to disk."`
	Compact regionsCompactCmd `cmd:"" help:"Compact a region, or all regions of a table."`
}

// regionsFlags are the flags shared by the commands on regions.
type regionsFlags struct {
	configFlag
	timeoutFlag
	JSON bool `help:"Print JSON."`
}

const regionHelp = `REGION is the encoded name of a region, the beginning of it (four digits or more), or a row key that the region holds,
as the HBase shell prints it; key:ROW is a row key even if it looks like the beginning of a name.`

// open connects, finds the table and runs work on its regions. It uses the name as given if the configuration has no such table.
func (f *regionsFlags) open(e *env, name string, work func(*hbase.Client, *regions.Table) error) error {
	cfg, err := f.load(e)
	if err != nil {
		return err
	}
	var keys rowkey.Keys
	if known, err := table(cfg, name); err == nil {
		name, keys = known.Name, known.RowKeys()
	} else if name == "" || errors.Is(err, errAmbiguous) {
		return err
	}
	err = withHBase(e, cfg, func(client *hbase.Client) error {
		t, err := regions.Open(e.ctx, client, name, keys)
		if err != nil {
			return noSuchTable(name, err)
		}
		return work(client, t)
	})
	if _, ok := errors.AsType[*regions.NameError](err); ok {
		return usage(err)
	}
	return err
}

// report prints what was done to regions.
func (f *regionsFlags) report(e *env, what string, t *regions.Table, changed ...hbase.Region) error {
	if f.JSON {
		names := make([]string, len(changed))
		for i, r := range changed {
			names[i] = r.Encoded
		}
		return json.NewEncoder(e.stdout).Encode(map[string]any{"table": t.Name, "done": what, "regions": names})
	}
	for _, r := range changed {
		fmt.Fprintf(e.stdout, "%s: region %s %s\n", t.Name, r.Encoded, what)
	}
	return nil
}

type regionsLsCmd struct {
	regionsFlags
	Table string `arg:"" optional:"" help:"Table (default: the only one of the configuration)."`
}

// Help returns the detailed help of the command.
func (regionsLsCmd) Help() string {
	return "Examples:\n  brine regions ls -c examples/scans.yaml\n  brine regions ls -c examples/scans.yaml scans --json"
}

func (c *regionsLsCmd) Run(e *env) error {
	return c.open(e, c.Table, func(_ *hbase.Client, t *regions.Table) error {
		all := t.List()
		if c.JSON {
			return json.NewEncoder(e.stdout).Encode(map[string]any{"table": t.Name, "regions": all})
		}
		w := term.Table{Out: e.stdout}
		w.Row("REGION", "START", "SERVER", "     SIZE", "       READS", "      WRITES")
		writes := make([]float64, len(all))
		for i, r := range all {
			writes[i] = float64(r.Writes)
			w.Row(r.Name[:min(regions.ShortName, len(r.Name))], term.Clip(display.Start(t.Keys, r.Start), 48), r.Server,
				fmt.Sprintf("%9s", t.Size(r.Name)),
				fmt.Sprintf("%12s", term.Thousands(int64(r.Reads))), fmt.Sprintf("%12s", term.Thousands(int64(r.Writes))))
		}
		w.Flush()
		x := skew.Measure(writes)
		fmt.Fprintf(e.stdout, "%s: %s; writes max/mean %.3f, CV %.3f, Gini %.3f\n",
			t.Name, term.Count(len(all), "region"), x.MaxMean, x.CV, x.Gini)
		return nil
	})
}

// noSuchTable attaches the exit code to the error of a missing table.
func noSuchTable(table string, err error) error {
	if errors.Is(err, hbase.ErrNoTable) {
		return &exitError{exitMissing, fmt.Errorf("table %s: %w", table, hbase.ErrNoTable),
			"brine tables apply creates the tables of the configuration"}
	}
	return err
}
