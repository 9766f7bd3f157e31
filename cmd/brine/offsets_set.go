package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"
)

type offsetsSetCmd struct {
	offsetsFlags
	brokersFlag
	To         string `required:"" placeholder:"WHERE" help:"earliest, latest, a time (2013-01-31T08:00:00Z, or 2h ago as 2h), offsets (0:1200,1:900), +N or (as --to=-N) -N records from where it is, or file:PATH with lines of brine offsets show --json."`
	Partitions []int  `placeholder:"N" help:"Only these partitions (default: those of the offsets, else all)."`
	Yes        bool   `short:"y" help:"Do not ask."`
	DryRun     bool   `help:"Show what would change, and stop."`
	JSON       bool   `help:"Print a JSON object per partition."`
}

// Help is shown under the command's own help.
func (offsetsSetCmd) Help() string {
	return `Shows per partition where the live group goes on now and where it would, and asks. It is refused while brine runs with this group:
stop it first. To write records again beside a brine that runs, use brine replay: it moves nothing.

Records that are read again change nothing that is there and newer. Records that are skipped are never written.

Examples:
  brine offsets set -c brine.yaml --pipeline scans --to 2013-01-05T00:00:00Z --dry-run
  brine offsets set -c brine.yaml --pipeline orders --half documents --to earliest
  brine offsets set -c brine.yaml --to file:saved.jsonl --yes`
}

// offsetMove is what would become of one partition.
type offsetMove struct {
	Pipeline  string `json:"pipeline"` // pipeline.half
	Partition int    `json:"partition"`
	Now       *int64 `json:"now"` // null: nothing is committed
	Then      int64  `json:"then"`
	Again     int64  `json:"again"`   // records that are read again
	Skipped   int64  `json:"skipped"` // records that are never read
	Done      bool   `json:"done"`
}

func (c *offsetsSetCmd) Run(e *env) error {
	cfg, err := c.config(e, c.configFlag)
	if err != nil {
		return err
	}
	client := kafkaClient(&cfg.Kafka)
	groups, err := c.groups(e.ctx, cfg, client)
	if err != nil {
		return err
	}
	moves := make([][]offsetMove, len(groups))
	n := 0
	for i, g := range groups {
		if moves[i], err = c.moves(e.ctx, g, client); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		n += len(moves[i])
	}
	if n == 0 {
		fmt.Fprintln(e.stderr, "nothing to change: the groups are there already")
		return nil
	}
	if !c.JSON || !c.Yes && !c.DryRun {
		printMoves(e.stderr, groups, moves)
	}
	if err := idle(groups); err != nil || c.DryRun {
		return errors.Join(err, c.print(e, moves))
	}
	if err := confirm(e, c.Yes, "Set these offsets?"); err != nil {
		return err
	}
	for i, g := range groups {
		if err := g.set(e.ctx, client, moves[i]); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return c.print(e, moves)
}

// idle fails when a group has members: they would not notice, and commit over what is set.
func idle(groups []*liveGroup) error {
	var members []string
	for _, g := range groups {
		for _, m := range g.members {
			members = append(members, g.group+": "+m)
		}
	}
	if len(members) == 0 {
		return nil
	}
	return &exitError{exitFailed, fmt.Errorf("the group is in use, nothing was changed:\n%s", strings.Join(members, "\n")),
		"stop these, or use brine replay, which works beside them; a member that was killed is gone once kafka.session_timeout is over"}
}

// moves says what would change for a group.
func (c *offsetsSetCmd) moves(ctx context.Context, g *liveGroup, client *kafka.Client) ([]offsetMove, error) {
	then, err := c.target(ctx, g, client)
	if err != nil {
		return nil, err
	}
	for _, p := range c.Partitions {
		if p < 0 || p >= len(g.ends) {
			return nil, &exitError{exitMissing, fmt.Errorf("--partitions: topic %q has no partition %d; it has %d", g.topic, p, len(g.ends)), ""}
		}
	}
	var out []offsetMove
	for p := range g.ends {
		to, ok := then[p]
		if !ok || len(c.Partitions) > 0 && !slices.Contains(c.Partitions, p) {
			continue
		}
		now, committed := g.at(p)
		if committed && now == to {
			continue
		}
		if to < g.earliest[p] || to > g.ends[p] {
			return nil, usage(fmt.Errorf("--to %s: partition %d would go on at offset %d, and its log is %d to %d; choose an offset within, or earliest or latest", c.To, p, to, g.earliest[p], g.ends[p]))
		}
		m := offsetMove{Pipeline: g.name, Partition: p, Then: to, Again: max(0, now-to), Skipped: max(0, to-max(now, g.earliest[p]))}
		if committed {
			m.Now = &now
		}
		out = append(out, m)
	}
	return out, nil
}

// set commits, as nobody who is a member: brokers refuse that while there are any.
func (g *liveGroup) set(ctx context.Context, client *kafka.Client, moves []offsetMove) error {
	if len(moves) == 0 {
		return nil
	}
	offsets := make([]kafka.OffsetCommit, len(moves))
	for i, m := range moves {
		offsets[i] = kafka.OffsetCommit{Partition: m.Partition, Offset: m.Then}
	}
	resp, err := client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: g.group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{g.topic: offsets}})
	if err != nil {
		return kafkaError(err)
	}
	for _, p := range resp.Topics[g.topic] {
		if errors.Is(p.Error, kafka.UnknownMemberId) {
			return &exitError{exitFailed, fmt.Errorf("group %s has a member since: partition %d was not set", g.group, p.Partition), "stop it first"}
		}
		if p.Error != nil {
			return fmt.Errorf("group %s, partition %d: %w", g.group, p.Partition, p.Error)
		}
	}
	for i := range moves {
		moves[i].Done = true
	}
	return nil
}

func printMoves(out io.Writer, groups []*liveGroup, moves [][]offsetMove) {
	for i, g := range groups {
		if len(moves[i]) == 0 {
			continue
		}
		fmt.Fprintf(out, "%s: topic %s, group %s\n", g.name, g.topic, g.group)
		fmt.Fprintf(out, "  partition            now           then     read again        skipped\n")
		var again, skipped int64
		for _, m := range moves[i] {
			now := "-"
			if m.Now != nil {
				now = thousands(*m.Now)
			}
			fmt.Fprintf(out, "  %9d %14s %14s %14s %14s\n", m.Partition, now, thousands(m.Then), thousands(m.Again), thousands(m.Skipped))
			again, skipped = again+m.Again, skipped+m.Skipped
		}
		fmt.Fprintf(out, "  %9s %14s %14s %14s %14s\n", "all", "", "", thousands(again), thousands(skipped))
		if skipped > 0 {
			fmt.Fprintf(out, "  %s records would be skipped: %s never writes them, unless they are replayed\n", thousands(skipped), g.name)
		}
	}
}

func (c *offsetsSetCmd) print(e *env, moves [][]offsetMove) error {
	n := 0
	for _, of := range moves {
		for _, m := range of {
			if m.Done {
				n++
			}
			if c.JSON {
				if err := json.NewEncoder(e.stdout).Encode(m); err != nil {
					return err
				}
			}
		}
	}
	if !c.JSON && n > 0 {
		fmt.Fprintf(e.stdout, "the offsets of %s are set\n", count(n, "partition"))
	}
	return nil
}
