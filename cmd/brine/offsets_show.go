package main

import (
	"encoding/json"
	"fmt"

	"brine/internal/term"
)

type offsetsShowCmd struct {
	offsetsFlags
	brokersFlag
	JSON bool `help:"Print a JSON object per partition; brine offsets set --to file:… takes them back."`
}

// Help is shown under the command's own help.
func (offsetsShowCmd) Help() string {
	return `COMMITTED is the offset that is read next, - where nothing is committed yet; everything before it is settled. LAG is how many
offsets are left to read, an upper bound of the records: markers of transactions have offsets too. Members are
listed until their sessions end.

Examples:
  brine offsets show -c brine.yaml
  brine offsets show --brokers localhost:9092
  brine offsets show -c brine.yaml --pipeline scans --json > saved.jsonl`
}

// offsetLine is what show says of a partition. set takes pipeline, partition and committed back.
type offsetLine struct {
	Pipeline  string   `json:"pipeline"` // pipeline.half
	Group     string   `json:"group"`
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Earliest  int64    `json:"earliest"`
	Committed *int64   `json:"committed"` // null: nothing
	Latest    int64    `json:"latest"`
	Lag       int64    `json:"lag"`             // offsets, an upper bound of the records
	Members   []string `json:"members"`         // of the group, and those that were killed until their sessions end
	Session   float64  `json:"session_seconds"` // for how long at most
}

func (c *offsetsShowCmd) Run(e *env) error {
	cfg, err := c.config(e, c.configFlag)
	if err != nil {
		return err
	}
	client := lookUps(&cfg.Kafka)
	defer client.Close()
	groups, err := c.groups(e.ctx, cfg, client)
	if err != nil {
		return err
	}
	for i, g := range groups {
		if c.JSON {
			if err := g.encode(json.NewEncoder(e.stdout)); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		g.print(e)
	}
	return nil
}

func (g *liveGroup) line(partition int) offsetLine {
	next, committed := g.Next(partition)
	line := offsetLine{Pipeline: g.name, Group: g.Group.Group, Topic: g.Topic, Partition: partition, Earliest: g.Starts[partition],
		Latest: g.Ends[partition], Lag: g.Lag(partition), Members: g.Members, Session: g.session.Seconds()}
	if committed {
		line.Committed = &next
	}
	return line
}

func (g *liveGroup) encode(enc *json.Encoder) error {
	for p := range g.Ends {
		if err := enc.Encode(g.line(p)); err != nil {
			return err
		}
	}
	return nil
}

func (g *liveGroup) print(e *env) {
	fmt.Fprintf(e.stdout, "%s: topic %s, group %s\n", g.name, g.Topic, g.Group.Group)
	fmt.Fprintf(e.stdout, "  partition       earliest      committed         latest lag in offsets\n")
	var lag int64
	for p := range g.Ends {
		line, committed := g.line(p), "-"
		if line.Committed != nil {
			committed = term.Thousands(*line.Committed)
		}
		earliest, latest := term.Thousands(line.Earliest), term.Thousands(line.Latest)
		fmt.Fprintf(e.stdout, "  %9d %14s %14s %14s %14s\n", p, earliest, committed, latest, term.Thousands(line.Lag))
		lag += line.Lag
	}
	fmt.Fprintf(e.stdout, "  %9s %14s %14s %14s %14s\n", "all", "", "", "", term.Thousands(lag))
	if len(g.Members) == 0 {
		fmt.Fprintln(e.stdout, "  no members")
	}
	for _, m := range g.Members {
		fmt.Fprintf(e.stdout, "  member %s, unless it was killed less than %v ago\n", m, g.session)
	}
}
