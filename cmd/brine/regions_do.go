package main

import (
	"errors"
	"fmt"

	"brine/hbase"
	"brine/rowkey"
	"brine/schema/regions"
)

type regionsSplitCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" help:"Region: its name, a prefix of it, or a row key."`
	At     string `placeholder:"ROW" help:"Row key at which to split, in the HBase shell's notation (default: the middle of the region, chosen by its server)."`
	Yes    bool   `short:"y" help:"Do not ask for confirmation."`
}

// Help returns the detailed help of the command.
func (regionsSplitCmd) Help() string {
	return regionHelp + "\n\nExamples:\n  brine regions split -c examples/scans.yaml scans 8000\n  brine regions split -c " +
		"examples/scans.yaml scans 1f3a77c2 --at 9a --yes"
}

func (c *regionsSplitCmd) Run(e *env) error {
	return c.open(e, c.Table, func(client *hbase.Client, t *regions.Table) error {
		r, err := t.Find(c.Region)
		if err != nil {
			return err
		}
		at, err := t.SplitPoint(r, c.At)
		if err != nil {
			return usage(fmt.Errorf("--at: %w", err))
		}
		where := "in its middle"
		if len(at) > 0 {
			where = "at " + rowkey.Binary(at)
		}
		if err := confirm(e, c.Yes, fmt.Sprintf("Split %s, %s?", t.Describe(r), where)); err != nil {
			return err
		}
		if err := client.SplitRegion(e.ctx, r, at); err != nil {
			return err
		}
		return c.report(e, "split "+where, t, r)
	})
}

type regionsMergeCmd struct {
	regionsFlags
	Table string `arg:"" help:"Table."`
	A     string `arg:"" name:"region" help:"One region: its name, a prefix of it, or a row key."`
	B     string `arg:"" name:"neighbour" help:"The neighbouring region, in any of these forms."`
	Yes   bool   `short:"y" help:"Do not ask for confirmation."`
}

// Help returns the detailed help of the command.
func (regionsMergeCmd) Help() string {
	return regionHelp + "\n\nExample:\n  brine regions merge -c examples/scans.yaml scans 8000 9000"
}

func (c *regionsMergeCmd) Run(e *env) error {
	return c.open(e, c.Table, func(client *hbase.Client, t *regions.Table) error {
		a, b, err := t.Neighbours(c.A, c.B)
		if err != nil {
			return err
		}
		if err := confirm(e, c.Yes, fmt.Sprintf("Merge %s, and %s?", t.Describe(a), t.Describe(b))); err != nil {
			return err
		}
		if err := client.MergeRegions(e.ctx, a, b); err != nil {
			return err
		}
		return c.report(e, "merged", t, a, b)
	})
}

type regionsMoveCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" help:"Region: its name, a prefix of it, or a row key."`
	To     string `placeholder:"HOST:PORT" help:"Region server to move it to (default: chosen by the master)."`
	Yes    bool   `short:"y" help:"Do not ask for confirmation."`
}

// Help returns the detailed help of the command.
func (regionsMoveCmd) Help() string {
	return regionHelp + "\n\nExample:\n  brine regions move -c examples/scans.yaml scans 8000 --to server2:16020"
}

func (c *regionsMoveCmd) Run(e *env) error {
	return c.open(e, c.Table, func(client *hbase.Client, t *regions.Table) error {
		r, err := t.Find(c.Region)
		if err != nil {
			return err
		}
		if c.To == r.Server && c.To != "" {
			return usage(fmt.Errorf("--to: the region is already on %s", c.To))
		}
		where := "another server"
		if c.To != "" {
			where = c.To
		}
		if err := confirm(e, c.Yes, fmt.Sprintf("Move %s, to %s?", t.Describe(r), where)); err != nil {
			return err
		}
		server, err := t.Move(e.ctx, r, c.To)
		switch {
		case err != nil:
			return err
		case server == "": // split or merged in the meantime
			return c.report(e, "moved", t, r)
		case server == r.Server:
			return &exitError{exitFailed, fmt.Errorf("region %s is still on %s", r.Encoded, r.Server),
				"the master chose the same server: if there is another one, name it with --to"}
		}
		return c.report(e, "moved to "+server, t, r)
	})
}

type regionsFlushCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" optional:"" help:"Region: its name, a prefix of it, or a row key (default: all)."`
}

// Help returns the detailed help of the command.
func (regionsFlushCmd) Help() string {
	return regionHelp + "\n\nExample:\n  brine regions flush -c examples/scans.yaml scans"
}

func (c *regionsFlushCmd) Run(e *env) error {
	return c.open(e, c.Table, func(client *hbase.Client, t *regions.Table) error {
		return c.each(e, t, c.Region, "flushed", func(r hbase.Region) error { return client.FlushRegion(e.ctx, r) })
	})
}

type regionsCompactCmd struct {
	regionsFlags
	Table  string `arg:"" help:"Table."`
	Region string `arg:"" optional:"" help:"Region: its name, a prefix of it, or a row key (default: all)."`
	Major  bool   `help:"Rewrite each family into one file, without deleted and expired cells."`
}

// Help returns the detailed help of the command.
func (regionsCompactCmd) Help() string {
	return regionHelp + "\nCompactions run on after the command has ended.\n\nExample:\n  brine regions compact -c examples/scans.yaml " +
		"scans 8000 --major"
}

func (c *regionsCompactCmd) Run(e *env) error {
	return c.open(e, c.Table, func(client *hbase.Client, t *regions.Table) error {
		return c.each(e, t, c.Region, "will be compacted", func(r hbase.Region) error { return client.CompactRegion(e.ctx, r, c.Major) })
	})
}

// each calls do for the named region, or for all regions if none is named.
func (f *regionsFlags) each(e *env, t *regions.Table, name, done string, do func(hbase.Region) error) error {
	some, err := t.FindOrAll(name)
	if err != nil {
		return err
	}
	worked, err := regions.Each(some, do)
	if len(worked) == 0 {
		return err
	}
	return errors.Join(f.report(e, done, t, worked...), err)
}
