package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"brine/hbase"
	"brine/rowkey"
)

type regionsSplitCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" help:"Region: its name, the beginning of it, or a row key."`
	At     string `placeholder:"ROW" help:"First row of the second half, as the HBase shell prints it (default: the servers choose the middle)."`
	Yes    bool   `short:"y" help:"Do not ask."`
}

// Help is shown under the command's own help.
func (regionsSplitCmd) Help() string {
	return regionHelp + "\n\nExamples:\n  brine regions split -c examples/scans.yaml scans 8000\n  brine regions split -c examples/scans.yaml scans 1f3a77c2 --at 9a --yes"
}

func (c *regionsSplitCmd) Run(e *env) error {
	return c.open(e, c.Table, func(t *tableRegions) error {
		r, err := t.find(c.Region)
		if err != nil {
			return err
		}
		at, err := unescape(c.At)
		if err != nil {
			return usage(fmt.Errorf("--at: %w", err))
		}
		where := "in its middle"
		if len(at) > 0 {
			if !holds(r, at) || bytes.Equal(at, r.Start) {
				return usage(fmt.Errorf("--at: %s does not lie within %s", rowkey.Binary(at), t.describe(r)))
			}
			where = "at " + rowkey.Binary(at)
		}
		if err := confirm(e, c.Yes, fmt.Sprintf("Split %s, %s?", t.describe(r), where)); err != nil {
			return err
		}
		if err := t.client.SplitRegion(e.ctx, r, at); err != nil {
			return err
		}
		return c.done(e, "split "+where, t, r)
	})
}

// done says what was done to regions.
func (f *regionsFlags) done(e *env, what string, t *tableRegions, regions ...hbase.Region) error {
	if f.JSON {
		names := make([]string, len(regions))
		for i, r := range regions {
			names[i] = r.Encoded
		}
		return json.NewEncoder(e.stdout).Encode(map[string]any{"table": t.table, "done": what, "regions": names})
	}
	for _, r := range regions {
		fmt.Fprintf(e.stdout, "%s: region %s %s\n", t.table, r.Encoded, what)
	}
	return nil
}

type regionsMergeCmd struct {
	regionsFlags
	Table string `arg:"" help:"Table."`
	A     string `arg:"" name:"region" help:"One region: its name, the beginning of it, or a row key."`
	B     string `arg:"" name:"neighbour" help:"The one beside it."`
	Yes   bool   `short:"y" help:"Do not ask."`
}

// Help is shown under the command's own help.
func (regionsMergeCmd) Help() string {
	return regionHelp + "\n\nExample:\n  brine regions merge -c examples/scans.yaml scans 8000 9000"
}

func (c *regionsMergeCmd) Run(e *env) error {
	return c.open(e, c.Table, func(t *tableRegions) error {
		a, err := t.find(c.A)
		if err != nil {
			return err
		}
		b, err := t.find(c.B)
		if err != nil {
			return err
		}
		if bytes.Compare(a.Start, b.Start) > 0 {
			a, b = b, a
		}
		switch {
		case a.Encoded == b.Encoded:
			return usage(fmt.Errorf("%s and %s are the same region, %s", c.A, c.B, a.Encoded))
		case !bytes.Equal(a.End, b.Start):
			return usage(fmt.Errorf("%s and %s are no neighbours: other regions lie between them; merge those first", t.describe(a), t.describe(b)))
		}
		if err := confirm(e, c.Yes, fmt.Sprintf("Merge %s, and %s?", t.describe(a), t.describe(b))); err != nil {
			return err
		}
		if err := t.client.MergeRegions(e.ctx, a, b); err != nil {
			return err
		}
		return c.done(e, "merged", t, a, b)
	})
}

type regionsMoveCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" help:"Region: its name, the beginning of it, or a row key."`
	To     string `placeholder:"HOST:PORT" help:"Server to move it to (default: the master chooses)."`
	Yes    bool   `short:"y" help:"Do not ask."`
}

// Help is shown under the command's own help.
func (regionsMoveCmd) Help() string {
	return regionHelp + "\n\nExample:\n  brine regions move -c examples/scans.yaml scans 8000 --to server2:16020"
}

func (c *regionsMoveCmd) Run(e *env) error {
	return c.open(e, c.Table, func(t *tableRegions) error {
		r, err := t.find(c.Region)
		if err != nil {
			return err
		}
		if c.To == r.Server && c.To != "" {
			return usage(fmt.Errorf("--to: the region is on %s already", c.To))
		}
		where := "another server"
		if c.To != "" {
			where = c.To
		}
		if err := confirm(e, c.Yes, fmt.Sprintf("Move %s, to %s?", t.describe(r), where)); err != nil {
			return err
		}
		if err := t.client.MoveRegion(e.ctx, r, c.To); err != nil {
			return err
		}
		after, err := t.client.Regions(e.ctx, t.table)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(after, func(a hbase.Region) bool { return a.Encoded == r.Encoded })
		switch {
		case i < 0: // split or merged meanwhile
			return c.done(e, "moved", t, r)
		case after[i].Server == r.Server:
			return &exitError{exitFailed, fmt.Errorf("region %s is still on %s", r.Encoded, r.Server), "the master has chosen the same server: is there another one? Name it with --to"}
		}
		return c.done(e, "moved to "+after[i].Server, t, r)
	})
}

type regionsFlushCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" optional:"" help:"Region: its name, the beginning of it, or a row key (default: all)."`
}

// Help is shown under the command's own help.
func (regionsFlushCmd) Help() string {
	return regionHelp + "\n\nExample:\n  brine regions flush -c examples/scans.yaml scans"
}

func (c *regionsFlushCmd) Run(e *env) error {
	return c.open(e, c.Table, func(t *tableRegions) error {
		regions, err := t.some(c.Region)
		if err != nil {
			return err
		}
		for _, r := range regions {
			err = errors.Join(err, t.client.FlushRegion(e.ctx, r))
		}
		if err != nil {
			return err
		}
		return c.done(e, "flushed", t, regions...)
	})
}

type regionsCompactCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" optional:"" help:"Region: its name, the beginning of it, or a row key (default: all)."`
	Major  bool   `help:"Into one file a family, leaving out what is deleted or too old."`
}

// Help is shown under the command's own help.
func (regionsCompactCmd) Help() string {
	return regionHelp + "\nCompactions run on after the command has ended.\n\nExample:\n  brine regions compact -c examples/scans.yaml scans 8000 --major"
}

func (c *regionsCompactCmd) Run(e *env) error {
	return c.open(e, c.Table, func(t *tableRegions) error {
		regions, err := t.some(c.Region)
		if err != nil {
			return err
		}
		for _, r := range regions {
			err = errors.Join(err, t.client.CompactRegion(e.ctx, r, c.Major))
		}
		if err != nil {
			return err
		}
		return c.done(e, "is to be compacted", t, regions...)
	})
}

// some finds the region that is named, or gives all.
func (t *tableRegions) some(name string) ([]hbase.Region, error) {
	if name == "" {
		return t.regions, nil
	}
	r, err := t.find(name)
	return []hbase.Region{r}, err
}
