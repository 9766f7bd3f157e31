package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/config"
	"brine/ingest/offsets"
	"brine/internal/fault"
	"brine/serve/client"
	"brine/service/brokers"
)

// halves returns the selected halves.
func (o *Operations) halves(of client.HalvesOf) ([]config.Half, error) {
	if of.Pipeline != "" {
		if _, err := o.pipeline(of.Pipeline); err != nil {
			return nil, err
		}
	}
	if err := halfKind(of.Half); err != nil {
		return nil, err
	}
	halves := slices.DeleteFunc(o.cfg().Halves(), func(h config.Half) bool {
		return of.Pipeline != "" && of.Pipeline != h.Pipeline.Name || of.Half != "" && of.Half != h.Kind
	})
	if len(halves) == 0 {
		return nil, misused("half: no selected pipeline writes %s", of.Half)
	}
	if of.Topic != "" && !slices.ContainsFunc(halves, func(h config.Half) bool { return h.Pipeline.Reads(of.Topic) }) {
		return nil, misused("topic: no selected pipeline reads topic %q", of.Topic)
	}
	return halves, nil
}

func halfKind(kind string) error {
	if kind != "" && kind != "rows" && kind != "documents" {
		return misused("half: %q is neither rows nor documents", kind)
	}
	return nil
}

func misused(format string, args ...any) error { return fault.Misused(fmt.Errorf(format, args...)) }

// groupsOf returns the current state of the selected groups.
func (o *Operations) groupsOf(ctx context.Context, of client.HalvesOf) ([]*brokers.Group, error) {
	halves, err := o.halves(of)
	if err != nil {
		return nil, err
	}
	return brokers.Groups(ctx, o.brokers, o.cfg(), halves, of.Topic)
}

// Offsets implements serve.Operations.
func (o *Operations) Offsets(ctx context.Context, of client.HalvesOf) (client.Offsets, error) {
	out := client.Offsets{Positions: []client.GroupPosition{}}
	groups, err := o.groupsOf(ctx, of)
	if err != nil {
		return out, err
	}
	for _, g := range groups {
		for _, p := range g.Positions() {
			out.Positions = append(out.Positions, client.GroupPosition{Pipeline: p.Pipeline, Group: p.Group, Topic: p.Topic, Partition: p.Partition,
				Earliest: p.Earliest, Committed: p.Committed, Latest: p.Latest, Lag: p.Lag, Members: append([]string{}, p.Members...)})
		}
	}
	return out, nil
}

// SetOffsets implements serve.Operations.
func (o *Operations) SetOffsets(ctx context.Context, to client.SetOffsets) (client.OffsetMoves, error) {
	out := client.OffsetMoves{Moves: []client.OffsetMove{}}
	if len(to.Moves) > 0 {
		return o.setShown(ctx, to)
	}
	to.To = strings.TrimSpace(to.To)
	if to.To == "" || strings.HasPrefix(to.To, "file:") {
		return out, misused("to: write earliest, latest, a time, how long ago (2h), offsets (0:1200,1:900), or +N or -N offsets")
	}
	if !to.DryRun && strings.ContainsAny(to.To[:1], "+-") {
		return out, misused("to %s: a repeated request would move the offsets again; make a dry run, and send its moves", to.To)
	}
	groups, err := o.groupsOf(ctx, to.HalvesOf)
	if err != nil {
		return out, err
	}
	if _, places := offsets.Parse(to.To); places == nil || len(to.Partitions) > 0 {
		if err := brokers.OfOneTopic(brokers.HalvesOf(groups), "to, partitions"); err != nil {
			return out, err
		}
	}
	moves := make([][]offsets.Move, len(groups))
	for i, g := range groups {
		if moves[i], err = o.moves(ctx, g, to); err != nil {
			return out, err
		}
		out.Moves = append(out.Moves, shownMoves(g, moves[i])...)
	}
	if len(out.Moves) == 0 {
		return out, nil
	}
	err = brokers.Idle(groups)
	switch {
	case err != nil && to.DryRun:
		out.InUse = err.Error()
		return out, nil
	case err != nil || to.DryRun:
		return out, err
	}
	return o.setAll(ctx, groups, moves, out)
}

func (o *Operations) setAll(ctx context.Context, groups []*brokers.Group, moves [][]offsets.Move,
	out client.OffsetMoves) (client.OffsetMoves, error) {
	_, err := brokers.SetAll(ctx, o.brokers, groups, moves)
	o.forgetGroups()
	out.Done = err == nil
	return out, err
}

func shownMoves(g *brokers.Group, moves []offsets.Move) (out []client.OffsetMove) {
	for _, m := range moves {
		out = append(out, client.OffsetMove{Pipeline: g.Half.Name(), Topic: g.Topic, Partition: m.Partition, Now: m.Now, Then: m.Then,
			Again: m.Again, Skipped: m.Skipped})
	}
	return out
}

// setShown makes the moves that a dry run showed. What the first of two such requests has moved, the second finds moved.
func (o *Operations) setShown(ctx context.Context, to client.SetOffsets) (client.OffsetMoves, error) {
	out := client.OffsetMoves{Moves: []client.OffsetMove{}}
	if to.To != "" || to.HalvesOf != (client.HalvesOf{}) || len(to.Partitions) > 0 || to.DryRun {
		return out, misused("moves: they say all of what is to be set; remove the other fields")
	}
	all, err := o.groupsOf(ctx, client.HalvesOf{})
	if err != nil {
		return out, err
	}
	asked := map[*brokers.Group]map[int]int64{}
	var differ []string
	for _, m := range to.Moves {
		i := slices.IndexFunc(all, func(g *brokers.Group) bool { return g.Half.Name() == m.Pipeline && g.Topic == m.Topic })
		if i < 0 {
			return out, missing("moves: the configuration has no %s that reads topic %q", m.Pipeline, m.Topic)
		}
		g := all[i]
		if m.Partition < 0 || m.Partition >= len(g.Ends) {
			return out, missing("moves: topic %q has no partition %d", m.Topic, m.Partition)
		}
		if asked[g] == nil {
			asked[g] = map[int]int64{}
		}
		if _, twice := asked[g][m.Partition]; twice {
			return out, misused("moves: %s, topic %s, partition %d is there twice", m.Pipeline, m.Topic, m.Partition)
		}
		asked[g][m.Partition] = m.Then
		var now *int64
		if next, committed := g.Next(m.Partition); committed {
			now = &next
		}
		if was, is := offsetText(m.Now), offsetText(now); is != was && is != offsetText(&m.Then) {
			differ = append(differ, fmt.Sprintf("%s, topic %s, partition %d: %s was committed, and now %s is", m.Pipeline, m.Topic, m.Partition,
				was, is))
		}
	}
	if len(differ) > 0 {
		return out, fault.New(fault.Failed, fmt.Errorf("the offsets are not what was shown; nothing was changed: %s", strings.Join(differ, "; ")),
			"make a new dry run")
	}
	var groups []*brokers.Group
	var moves [][]offsets.Move
	for _, g := range all {
		of, err := g.Moves(asked[g], nil)
		if err != nil {
			return out, fault.New(fault.Failed, fmt.Errorf("moves: %w", err), "make a new dry run")
		}
		if len(of) > 0 {
			groups, moves, out.Moves = append(groups, g), append(moves, of), append(out.Moves, shownMoves(g, of)...)
		}
	}
	if err := brokers.Idle(groups); err != nil {
		return out, err
	}
	return o.setAll(ctx, groups, moves, out)
}

func offsetText(offset *int64) string {
	if offset == nil {
		return "no offset"
	}
	return fmt.Sprint("offset ", *offset)
}

// moves returns what would change for a group.
func (o *Operations) moves(ctx context.Context, g *brokers.Group, to client.SetOffsets) ([]offsets.Move, error) {
	then, err := o.brokers.Target(ctx, g.Group, to.To, o.now())
	switch {
	case errors.Is(err, offsets.ErrNoPartition):
		return nil, missing("to: %w", err)
	case errors.Is(err, offsets.ErrSyntax):
		return nil, misused("to %q: %w", to.To, err)
	case err != nil:
		return nil, brokers.Error(err)
	}
	moves, err := g.Moves(then, to.Partitions)
	switch {
	case errors.Is(err, offsets.ErrNoPartition):
		return nil, missing("partitions: %w", err)
	case err != nil:
		return nil, misused("to %s: %w", to.To, err)
	}
	return moves, nil
}
