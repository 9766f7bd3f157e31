package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"brine/hbase"
	"brine/schema/regions"
	"brine/skew"
	"brine/skew/display"
)

// apply makes the advised splits and moves, and asks before each.
func (c *skewCmd) apply(e *env, state skew.State) error {
	if c.JSON && !c.Yes {
		return usage(errors.New("--apply asks before each change, which --json leaves no room for; add --yes"))
	}
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	return withHBase(e, cfg, func(client *hbase.Client) error { return c.applyOn(e, client, state) })
}

func (c *skewCmd) applyOn(e *env, client *hbase.Client, state skew.State) error {
	done := []skew.Action{}
	var refused error // the last one
	for _, h := range state.Hot {
		if !c.JSON {
			display.Hot(e.stdout, []skew.HotSpot{h})
		}
		i := slices.IndexFunc(h.Actions, func(a skew.Action) bool { return a.Kind == skew.Split || a.Kind == skew.Move })
		if i < 0 {
			fmt.Fprintf(e.stderr, "brine: %s: no split or move helps; other remedies are up to you\n", display.Place(h))
			continue
		}
		if err := confirm(e, c.Yes, fmt.Sprintf("%s?", h.Actions[i].Text)); err != nil {
			refused = err
			continue
		}
		if err := regions.Apply(e.ctx, client, h.Actions[i]); err != nil {
			return noSuchTable(h.Actions[i].Table, err)
		}
		done = append(done, h.Actions[i])
		if !c.JSON {
			fmt.Fprintln(e.stdout, "  done")
		}
	}
	if refused != nil && len(done) == 0 {
		return refused
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(map[string]any{"done": done})
	}
	if len(done) == 0 && len(state.Hot) == 0 {
		fmt.Fprintln(e.stdout, "nothing is hot")
	}
	return nil
}
