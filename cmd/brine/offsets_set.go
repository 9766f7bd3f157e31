package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"brine/config"
	"brine/ingest/offsets"
	"brine/internal/term"
	"brine/service/brokers"
)

type offsetsSetCmd struct {
	offsetsFlags
	To         string `required:"" placeholder:"WHERE" help:"New offsets: earliest, latest, a time (2013-01-31T08:00:00Z, or an age such as 2h), offsets (0:1200,1:900), +N or (as --to=-N) -N relative to the current ones, or file:PATH with lines of brine offsets show --json."`
	Partitions []int  `placeholder:"N" help:"Only these partitions (default: those whose offsets are given, else all)."`
	Yes        bool   `short:"y" help:"Do not ask for confirmation."`
	DryRun     bool   `help:"Show what would be done, and exit."`
	JSON       bool   `help:"Print a JSON object per partition."`
}

// Help returns the detailed help of the command.
func (offsetsSetCmd) Help() string {
	return `Shows for each partition where the live group would continue now and where it would then, and asks. It is refused while brine runs
with this group: stop it first. To write records again while brine runs, use brine replay: it moves no offsets.

Records that are read again overwrite nothing newer. Records that are skipped are never written.

Examples:
  brine offsets set -c brine.yaml --pipeline scans --to 2013-01-05T00:00:00Z --dry-run
  brine offsets set -c brine.yaml --pipeline orders --half documents --to earliest
  brine offsets set -c brine.yaml --to file:saved.jsonl --yes`
}

func (c *offsetsSetCmd) Run(e *env) error {
	return c.open(e, func(_ *config.Config, client *offsets.Client, groups []*brokers.Group) error {
		return c.set(e, client, groups)
	})
}

func (c *offsetsSetCmd) set(e *env, client *offsets.Client, groups []*brokers.Group) (err error) {
	if _, places := offsets.Parse(c.To); places == nil || len(c.Partitions) > 0 {
		if err := brokers.OfOneTopic(brokers.HalvesOf(groups), "--to, --partitions"); err != nil {
			return err
		}
	}
	moves := make([][]offsets.Move, len(groups))
	n := 0
	for i, g := range groups {
		if moves[i], err = c.moves(e.ctx, g, client); err != nil {
			return fmt.Errorf("%s: %w", g.Half.Name(), err)
		}
		n += len(moves[i])
	}
	if n == 0 {
		fmt.Fprintln(e.stderr, "nothing to change: the groups are already at these offsets")
		return nil
	}
	if !c.JSON || !c.Yes && !c.DryRun {
		printMoves(e.stderr, groups, moves)
	}
	if err := brokers.Idle(groups); err != nil || c.DryRun {
		return errors.Join(err, c.print(e, groups, moves, 0))
	}
	if err := confirm(e, c.Yes, "Set these offsets?"); err != nil {
		return err
	}
	set, err := brokers.SetAll(e.ctx, client, groups, moves)
	if set == 0 {
		return err
	}
	return errors.Join(c.print(e, groups, moves, set), err)
}

// moves returns what would change for a group.
func (c *offsetsSetCmd) moves(ctx context.Context, g *brokers.Group, client *offsets.Client) ([]offsets.Move, error) {
	then, err := c.target(ctx, g, client)
	if err != nil {
		return nil, err
	}
	moves, err := g.Moves(then, c.Partitions)
	switch {
	case errors.Is(err, offsets.ErrNoPartition):
		return nil, &exitError{exitMissing, fmt.Errorf("--partitions: %w", err), ""}
	case err != nil:
		return nil, usage(fmt.Errorf("--to %s: %w", c.To, err))
	}
	return moves, nil
}

// target returns the offset that --to selects, per partition.
func (c *offsetsSetCmd) target(ctx context.Context, g *brokers.Group, client *offsets.Client) (map[int]int64, error) {
	text := strings.TrimSpace(c.To)
	if file, saved := strings.CutPrefix(text, "file:"); saved {
		return brokers.SavedIn(file, g.Half)
	}
	then, err := client.Target(ctx, g.Group, text, time.Now())
	switch {
	case errors.Is(err, offsets.ErrNoPartition):
		return nil, &exitError{exitMissing, fmt.Errorf("--to: %w", err), ""}
	case errors.Is(err, offsets.ErrSyntax):
		return nil, usage(fmt.Errorf("--to %q: %w", text, err))
	}
	return then, brokers.Error(err)
}

func printMoves(out io.Writer, groups []*brokers.Group, moves [][]offsets.Move) {
	for i, g := range groups {
		if len(moves[i]) == 0 {
			continue
		}
		fmt.Fprintf(out, "%s: topic %s, group %s\n", g.Half.Name(), g.Topic, g.Group.Group)
		fmt.Fprintf(out, "  partition            now           then     read again        skipped\n")
		var again, skipped int64
		for _, m := range moves[i] {
			now := "-"
			if m.Now != nil {
				now = term.Thousands(*m.Now)
			}
			fmt.Fprintf(out, "  %9d %14s %14s %14s %14s\n",
				m.Partition, now, term.Thousands(m.Then), term.Thousands(m.Again), term.Thousands(m.Skipped))
			again, skipped = again+m.Again, skipped+m.Skipped
		}
		fmt.Fprintf(out, "  %9s %14s %14s %14s %14s\n", "all", "", "", term.Thousands(again), term.Thousands(skipped))
		if skipped > 0 {
			fmt.Fprintf(out, "  at most %s records would be skipped: %s will never write them, unless they are replayed\n",
				term.Thousands(skipped), g.Half.Name())
		}
	}
}

// print prints the moves. Those of the first set groups have been committed.
func (c *offsetsSetCmd) print(e *env, groups []*brokers.Group, moves [][]offsets.Move, set int) error {
	n, enc := 0, json.NewEncoder(e.stdout)
	for i, of := range moves {
		if i < set {
			n += len(of)
		}
		for _, m := range of {
			if !c.JSON {
				continue
			}
			if err := enc.Encode(groups[i].Move(m, i < set)); err != nil {
				return err
			}
		}
	}
	if !c.JSON && n > 0 {
		fmt.Fprintf(e.stdout, "offsets of %s set\n", term.Count(n, "partition"))
	}
	return nil
}
