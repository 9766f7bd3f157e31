package main

import (
	"fmt"

	"brine/config"
	"brine/hbase"
	"brine/internal/term"
	"brine/service/replays"
)

// diffReplay compares a sample of the range with the tables. It writes nothing.
func diffReplay(e *env, cfg *config.Config, set *replays.Set, shown *replayScreen) error {
	r, err := set.DiffOf()
	if err != nil {
		return err
	}
	return withHBase(e, cfg, func(cluster *hbase.Client) error {
		d, err := set.Diff(e.ctx, cluster, r)
		if err == nil {
			shown.diff(d)
		}
		return err
	})
}

func (s *replayScreen) diff(d *replays.Diff) {
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
	fmt.Fprintf(s.Out, ":\n  %12s rows do not exist\n  %12s rows exist and would change\n  %12s rows would stay as they are\n",
		n(d.New), n(d.Changed), n(d.Rows-d.New-d.Changed))
	fmt.Fprintf(s.Out, "of the cells of existing rows:\n  %12s are the same\n  %12s stay, since they are newer\n  %12s would be added\n"+
		"  %12s would be replaced, since they are older\n  %12s would be overwritten by another value with the same version\n",
		n(d.Same), n(d.Kept), n(d.Added), n(d.Replaced), n(d.Tied))
	if d.Deleted > 0 {
		fmt.Fprintf(s.Out, "of all cells:\n  %12s stay deleted, since their deletes are not older\n", n(d.Deleted))
	}
	for _, table := range d.Missing {
		fmt.Fprintf(s.Out, "table %s does not exist\n", table)
	}
	for _, x := range d.Examples {
		now := "-"
		if x.Now != nil {
			now = x.Now.String()
		}
		term.Println(s.Out, "  %s %s %s: %s at %d → %s at %d", x.Table, x.Row, x.Column, now, x.At, x.Then, x.Version)
	}
}
