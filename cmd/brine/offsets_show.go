package main

import (
	"encoding/json"
	"fmt"
)

type offsetsShowCmd struct {
	offsetsFlags
	brokersFlag
	JSON bool `help:"Print a JSON object per partition; brine offsets set --to file:… takes them back."`
}

// Help is shown under the command's own help.
func (offsetsShowCmd) Help() string {
	return `COMMITTED is the offset that is read next, - where nothing is committed yet; everything before it is settled. LAG is how many offsets are
left to read, an upper bound of the records: markers of transactions have offsets too. Members are listed until their sessions end.

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
	groups, err := c.groups(e.ctx, cfg, kafkaClient(&cfg.Kafka))
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
	at, committed := g.at(partition)
	line := offsetLine{Pipeline: g.name, Group: g.group, Topic: g.topic, Partition: partition,
		Earliest: g.earliest[partition], Latest: g.ends[partition], Lag: max(0, g.ends[partition]-max(at, g.earliest[partition])), Members: g.members, Session: g.session.Seconds()}
	if committed {
		line.Committed = &at
	}
	return line
}

func (g *liveGroup) encode(enc *json.Encoder) error {
	for p := range g.ends {
		if err := enc.Encode(g.line(p)); err != nil {
			return err
		}
	}
	return nil
}

func (g *liveGroup) print(e *env) {
	fmt.Fprintf(e.stdout, "%s: topic %s, group %s\n", g.name, g.topic, g.group)
	fmt.Fprintf(e.stdout, "  partition       earliest      committed         latest lag in offsets\n")
	var lag int64
	for p := range g.ends {
		line, committed := g.line(p), "-"
		if line.Committed != nil {
			committed = thousands(*line.Committed)
		}
		fmt.Fprintf(e.stdout, "  %9d %14s %14s %14s %14s\n", p, thousands(line.Earliest), committed, thousands(line.Latest), thousands(line.Lag))
		lag += line.Lag
	}
	fmt.Fprintf(e.stdout, "  %9s %14s %14s %14s %14s\n", "all", "", "", "", thousands(lag))
	if len(g.members) == 0 {
		fmt.Fprintln(e.stdout, "  no members")
	}
	for _, m := range g.members {
		fmt.Fprintf(e.stdout, "  member %s, unless it was killed less than %v ago\n", m, g.session)
	}
}
