package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"brine/config"
	"brine/ingest/offsets"
	"brine/internal/term"
	"brine/service"
	"brine/service/brokers"
	"brine/service/former"
)

type offsetsShowCmd struct {
	offsetsFlags
	JSON bool `help:"Print a JSON object per partition, for brine offsets set --to file:…."`
}

// Help returns the detailed help of the command.
func (offsetsShowCmd) Help() string {
	return `COMMITTED is the next offset to read, or - if nothing is committed yet; everything before it is settled. LAG is the number of
offsets left to read, an upper bound of the records, since transaction markers have offsets too. Members are
listed until their sessions end. Where a reload or a start has changed what becomes of records, as by another filter, the
offset is shown from which on the change applies. If some records had not settled when the half stopped or its process was killed,
the offset is shown before which records may be written both as before and as after the change.

Examples:
  brine offsets show -c brine.yaml
  brine offsets show --brokers localhost:9092
  brine offsets show -c brine.yaml --pipeline scans --json > saved.jsonl`
}

func (c *offsetsShowCmd) Run(e *env) error {
	return c.open(e, func(cfg *config.Config, _ *offsets.Client, groups []*brokers.Group) error {
		log, done := newLog(e, slog.LevelWarn)
		defer done()
		notes, err := service.Former(e.ctx, cfg, log)
		if err != nil {
			return err
		}
		return c.show(e, groups, notes)
	})
}

// show shows the positions of groups. notes are nil if brine may not read them.
func (c *offsetsShowCmd) show(e *env, groups []*brokers.Group, notes *former.Notes) error {
	for i, g := range groups {
		onward := notes.Onward(g.Group.Group, g.Topic)
		if c.JSON {
			enc := json.NewEncoder(e.stdout)
			for _, p := range g.Positions() {
				if m, marked := onward[p.Partition]; marked {
					p.Onward = &brokers.Onward{Offset: m.Offset, Until: m.Until, By: m.By, At: m.At}
				}
				if err := enc.Encode(p); err != nil {
					return err
				}
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		printPositions(e.stdout, g)
		for _, partition := range slices.Sorted(maps.Keys(onward)) {
			m := onward[partition]
			fmt.Fprintf(e.stdout, "  partition %d is written as configured at %s by %s from offset %s on", partition,
				m.At.UTC().Format(time.RFC3339), term.Line(m.By), term.Thousands(m.Offset))
			if m.Until > m.Offset {
				fmt.Fprintf(e.stdout, "; records before offset %s may be written with both configurations", term.Thousands(m.Until))
			}
			fmt.Fprintln(e.stdout)
		}
	}
	return nil
}

func printPositions(out io.Writer, g *brokers.Group) {
	fmt.Fprintf(out, "%s: topic %s, group %s\n", g.Half.Name(), g.Topic, g.Group.Group)
	fmt.Fprintf(out, "  partition       earliest      committed         latest lag in offsets\n")
	var lag int64
	for _, p := range g.Positions() {
		committed := "-"
		if p.Committed != nil {
			committed = term.Thousands(*p.Committed)
		}
		fmt.Fprintf(out, "  %9d %14s %14s %14s %14s\n", p.Partition, term.Thousands(p.Earliest), committed, term.Thousands(p.Latest),
			term.Thousands(p.Lag))
		lag += p.Lag
	}
	fmt.Fprintf(out, "  %9s %14s %14s %14s %14s\n", "all", "", "", "", term.Thousands(lag))
	if len(g.Members) == 0 {
		fmt.Fprintln(out, "  no members")
	}
	for _, m := range g.Members {
		fmt.Fprintf(out, "  member %s, unless it was killed less than %v ago\n", m, g.Session)
	}
}
