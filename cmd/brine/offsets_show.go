package main

import (
	"encoding/json"
	"fmt"
	"io"

	"brine/ingest/offsets"
	"brine/internal/term"
	"brine/service/brokers"
)

type offsetsShowCmd struct {
	offsetsFlags
	JSON bool `help:"Print a JSON object per partition, for brine offsets set --to file:…."`
}

// Help returns the detailed help of the command.
func (offsetsShowCmd) Help() string {
	return `COMMITTED is the next offset to read, or - if nothing is committed yet; everything before it is settled. LAG is the number of
offsets left to read, an upper bound of the records, since transaction markers have offsets too. Members are
listed until their sessions end.

Examples:
  brine offsets show -c brine.yaml
  brine offsets show --brokers localhost:9092
  brine offsets show -c brine.yaml --pipeline scans --json > saved.jsonl`
}

func (c *offsetsShowCmd) Run(e *env) error {
	return c.open(e, func(_ *offsets.Client, groups []*brokers.Group) error { return c.show(e, groups) })
}

func (c *offsetsShowCmd) show(e *env, groups []*brokers.Group) error {
	for i, g := range groups {
		if c.JSON {
			enc := json.NewEncoder(e.stdout)
			for _, p := range g.Positions() {
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
