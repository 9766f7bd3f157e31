package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"brine/ingest/offsets"
	"brine/internal/term"
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
	client := lookUps(&cfg.Kafka)
	defer client.Close()
	groups, err := c.groups(e.ctx, cfg, client)
	if err != nil {
		return err
	}
	moves := make([][]offsets.Move, len(groups))
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
		return errors.Join(err, c.print(e, groups, moves, false))
	}
	if err := confirm(e, c.Yes, "Set these offsets?"); err != nil {
		return err
	}
	for i, g := range groups {
		if err := setError(g, client.Set(e.ctx, g.Group, moves[i])); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return c.print(e, groups, moves, true)
}

// idle fails when a group has members: they would not notice, and commit over what is set.
func idle(groups []*liveGroup) error {
	var members []string
	for _, g := range groups {
		for _, m := range g.Members {
			members = append(members, g.Group.Group+": "+m)
		}
	}
	if len(members) == 0 {
		return nil
	}
	return &exitError{exitFailed, fmt.Errorf("the group is in use, nothing was changed:\n%s", strings.Join(members, "\n")),
		"stop these, or use brine replay, which works beside them; a member that was killed is gone once kafka.session_timeout is over"}
}

// moves says what would change for a group.
func (c *offsetsSetCmd) moves(ctx context.Context, g *liveGroup, client *offsets.Client) ([]offsets.Move, error) {
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

// target returns the offset that --to means, for each partition that it means.
func (c *offsetsSetCmd) target(ctx context.Context, g *liveGroup, client *offsets.Client) (map[int]int64, error) {
	text := strings.TrimSpace(c.To)
	if file, saved := strings.CutPrefix(text, "file:"); saved {
		return savedOffsets(file, g.name)
	}
	then, err := client.Target(ctx, g.Group, text, time.Now())
	switch {
	case errors.Is(err, offsets.ErrNoPartition):
		return nil, &exitError{exitMissing, fmt.Errorf("--to: %w", err), ""}
	case errors.Is(err, offsets.ErrSyntax):
		return nil, usage(fmt.Errorf("--to %q: %w", text, err))
	}
	return then, kafkaError(err)
}

// setError gives the error of a group whose offsets could not be set its exit code.
func setError(g *liveGroup, err error) error {
	switch {
	case errors.Is(err, offsets.ErrMembers):
		err = fmt.Errorf("group %s has a member since: its offsets were not set: %w", g.Group.Group, err)
		return &exitError{exitFailed, err, "stop it first"}
	case offsets.Answered(err):
		return err
	}
	return kafkaError(err)
}

func printMoves(out io.Writer, groups []*liveGroup, moves [][]offsets.Move) {
	for i, g := range groups {
		if len(moves[i]) == 0 {
			continue
		}
		fmt.Fprintf(out, "%s: topic %s, group %s\n", g.name, g.Topic, g.Group.Group)
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
			fmt.Fprintf(out, "  %s records would be skipped: %s never writes them, unless they are replayed\n", term.Thousands(skipped), g.name)
		}
	}
}

// print says what has become of the moves.
func (c *offsetsSetCmd) print(e *env, groups []*liveGroup, moves [][]offsets.Move, set bool) error {
	n, enc := 0, json.NewEncoder(e.stdout)
	for i, of := range moves {
		n += len(of)
		for _, m := range of {
			if !c.JSON {
				continue
			}
			if err := enc.Encode(offsetMove{groups[i].name, m.Partition, m.Now, m.Then, m.Again, m.Skipped, set}); err != nil {
				return err
			}
		}
	}
	if !c.JSON && set && n > 0 {
		fmt.Fprintf(e.stdout, "the offsets of %s are set\n", term.Count(n, "partition"))
	}
	return nil
}

// savedOffsets reads what show --json has printed of a group. Partitions without a commit are left as they are.
func savedOffsets(file, name string) (map[int]int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usage(fmt.Errorf("--to: %w", err))
	}
	defer f.Close()
	out, found := map[int]int64{}, 0
	lines := json.NewDecoder(f)
	for n := 1; ; n++ {
		var line offsetLine
		err := lines.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && line.Pipeline == "" {
			err = errors.New("it names no pipeline")
		}
		if err != nil {
			return nil, usage(fmt.Errorf("--to: %s: object %d is no line of brine offsets show --json: %w", file, n, err))
		}
		if line.Pipeline != name {
			continue
		}
		if found++; line.Committed != nil {
			out[line.Partition] = *line.Committed
		}
	}
	if found == 0 {
		return nil, usage(fmt.Errorf("--to: %s holds nothing of %s; choose the pipelines that it was saved of with --pipeline and --half",
			file, name))
	}
	return out, nil
}
