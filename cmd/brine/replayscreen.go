package main

import (
	"context"
	"fmt"
	"time"

	"brine/internal/term"
	"brine/service"
)

// replayScreen prints a replay's plan, progress and result, for people or as JSON lines.
type replayScreen struct {
	term.Screen
	json   bool
	quiet  bool // show no progress
	before map[string]service.ReplayReading
	at     time.Time
}

func (s *replayScreen) plan(r *service.Replay) {
	p, line := r.Plan, r.PlanLine()
	if s.json {
		s.JSON(line)
		return
	}
	fmt.Fprintf(s.Out, "replay of %s: topic %s, from %s to %s", r.Name, p.Topic, r.Options.From, r.Options.To)
	if len(r.Options.Keys) > 0 {
		fmt.Fprintf(s.Out, ", of %s only", term.Count(len(r.Options.Keys), "key"))
	}
	if r.Options.Into != "" {
		fmt.Fprintf(s.Out, ", into %s", r.Options.Into)
	}
	fmt.Fprintln(s.Out)
	fmt.Fprintf(s.Out, "  partition           from             to        offsets        bytes\n")
	var offsets, bytes int64
	for _, part := range p.Partitions {
		fmt.Fprintf(s.Out, "  %9d %14s %14s %14s %12s\n", part.Partition,
			term.Thousands(part.Next), term.Thousands(part.To), term.Thousands(part.Left()), term.Estimate(part.Bytes))
		offsets, bytes = offsets+part.Left(), bytes+part.Bytes
	}
	fmt.Fprintf(s.Out, "  %9s %14s %14s %14s %12s\n", "all", "", "", term.Thousands(offsets), term.Estimate(bytes))
	if line.Elsewhere {
		fmt.Fprintf(s.Out, "  group %s is read by another configuration than this one, so its records are written by that; --as-configured "+
			"writes them by this one\n", r.Options.Group)
	}
	for _, m := range line.Missing {
		fmt.Fprintf(s.Out, "  missing: %s\n", m)
	}
	fmt.Fprintf(s.Out, "  progress is kept in group %s; the live group %s does not move\n", p.Group, r.Options.Group)
	switch {
	case p.Left() > 0 && p.Resumed:
		fmt.Fprintf(s.Out, "  resuming: %s of %s offsets are done\n", term.Thousands(p.Done()), term.Thousands(p.Done()+p.Left()))
	case p.Left() == 0 && p.Resumed:
		fmt.Fprintf(s.Out, "  already done, up to the offsets above; --again starts over\n")
	case p.Left() == 0:
		fmt.Fprintf(s.Out, "  nothing to replay: the topic has no records in this range\n")
	}
	switch left := float64(p.Left()); {
	case line.Seconds > 0:
		fmt.Fprintf(s.Out, "  at most %s; at %s records/s: about %v\n", term.Count(int(p.Left()), "record"),
			term.Thousands(int64(r.Options.RecordsPerSecond)), term.Seconds(line.Seconds))
	case left > 0: // the speed of the stores is unknown until it runs
		fmt.Fprintf(s.Out, "  at most %s, as fast as the stores accept it: about %v at 10,000 records/s, %v at 100,000\n",
			term.Count(int(p.Left()), "record"), term.Seconds(max(0.1, left/10_000)), term.Seconds(max(0.1, left/100_000)))
	}
}

// follow shows progress until ctx is done.
func (s *replayScreen) follow(ctx context.Context, replays []*service.Replay) {
	s.before, s.at = map[string]service.ReplayReading{}, time.Now()
	s.Follow(ctx, func() { s.draw(replays) })
	s.draw(replays)
}

func (s *replayScreen) draw(replays []*service.Replay) {
	now := time.Now()
	span := now.Sub(s.at).Seconds()
	s.at = now
	var lines []string
	for _, r := range replays {
		for _, reading := range r.Readings() {
			key := fmt.Sprintf("%s/%d", reading.Pipeline, reading.Partition)
			old, drawn := s.before[key]
			s.before[key] = reading
			if !s.Terminal && !s.json && drawn && reading.Done == old.Done && reading.Waiting == old.Waiting {
				continue
			}
			reading.PerSec = float64(reading.Done-old.Done) / span
			if s.json {
				lines = append(lines, term.JSON(reading))
			} else {
				lines = append(lines, replayLine(reading))
			}
		}
	}
	if !s.quiet {
		s.Show(lines...)
	}
}

func replayLine(r service.ReplayReading) string {
	name, rest := r.Pipeline, ""
	if r.Partition >= 0 {
		name += fmt.Sprintf("/%d", r.Partition)
	} else {
		rest = fmt.Sprintf("  retries %d  dead letters %d", r.Retries, r.Dead)
	}
	if r.Waiting != "" {
		rest += "  WAITING: " + r.Waiting
	}
	return fmt.Sprintf("%-20s %11s of %11s offsets  %5.1f %%  %11s  ETA %8s", name, term.Thousands(r.Done), term.Thousands(r.Done+r.Left),
		term.Progress{Done: r.Done, Left: r.Left}.Percent(), term.Rate(r.PerSec), term.Remaining(r.ETA)) + rest
}

func (s *replayScreen) result(r *service.Replay) {
	result := r.Result()
	if s.json {
		s.JSON(result)
		return
	}
	of := ""
	if result.Replayed < result.Read {
		of = fmt.Sprintf(" of %s read", term.Thousands(result.Read))
	}
	fmt.Fprintf(s.Out, "%s: done: %s%s replayed in %v (%s/s), retries %d, dead letters %d\n", r.Name,
		term.Count(int(result.Replayed), "record"), of,
		term.Seconds(result.Seconds), term.Thousands(int64(float64(result.Read)/result.Seconds)), result.Retries, result.Dead)
}
