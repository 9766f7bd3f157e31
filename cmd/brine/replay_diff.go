package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"brine/config"
	"brine/internal/term"
	"brine/service"
	"brine/verify"
)

// replayDiff is the JSON line of what a replay would change.
type replayDiff struct {
	Pipeline string `json:"pipeline"` // pipeline.rows
	verify.DiffReport
}

// diff compares a sample of the range with the tables. It writes nothing.
func (c *replayCmd) diff(e *env, cfg *config.Config, p *config.Pipeline, replays []*service.Replay, shown *replayScreen) error {
	i := slices.IndexFunc(replays, func(r *service.Replay) bool { return r.Options.Group == p.RowsGroup() })
	if i < 0 {
		return usage(errors.New("--diff compares rows; the replay writes documents alone"))
	}
	if _, looksUp := p.Lookup(); looksUp {
		return usage(fmt.Errorf("--diff: the pipeline %s looks keys up (key_from), which only writing does; replay --into another table and "+
			"compare", p.Name))
	}
	r := replays[i]
	cluster, err := openHBase(e, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	d, err := verify.Diff(e.ctx, cluster.Client, verify.DiffOptions{Ingest: r.Options.Options, Plan: r.Plan, Keys: r.Options.Keys,
		Rows: p.Sink(), Records: c.Diff})
	if err != nil {
		return fmt.Errorf("--diff: %w", err)
	}
	d.Hide(cfg.Mask())
	shown.diff(replayDiff{r.Name, *d})
	return nil
}

func (s *replayScreen) diff(d replayDiff) {
	if s.json {
		s.JSON(d)
		return
	}
	n := func(n int) string { return term.Thousands(int64(n)) }
	fmt.Fprintf(s.Out, "%s: %s of the range would become %s", d.Pipeline, term.Count(d.Records, "record"), term.Count(d.Rows, "row"))
	if d.Rejected > 0 {
		fmt.Fprintf(s.Out, ", and %s of them dead letters", n(d.Rejected))
	}
	fmt.Fprint(s.Out, term.LeftOut(d.LeftOut, d.Filtered))
	fmt.Fprintf(s.Out, ":\n  %12s rows are not there\n  %12s rows are there and would change\n  %12s rows would stay as they are\n",
		n(d.New), n(d.Changed), n(d.Rows-d.New-d.Changed))
	fmt.Fprintf(s.Out, "of the cells of rows that are there:\n  %12s are the same\n  %12s stay, since they are newer\n  %12s would be added\n"+
		"  %12s would be replaced, since they are older\n  %12s would be overwritten by another value of the same version\n",
		n(d.Same), n(d.Kept), n(d.Added), n(d.Replaced), n(d.Tied))
	for _, table := range d.Missing {
		fmt.Fprintf(s.Out, "table %s does not exist\n", table)
	}
	for _, x := range d.Examples {
		term.Println(s.Out, "  %s %s %s: %s at %d → %s at %d", x.Table, x.Row, x.Column, cmp.Or(x.Now, "-"), x.At, x.Then, x.Version)
	}
}
