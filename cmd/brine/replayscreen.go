package main

import (
	"context"
	"fmt"
	"time"

	"brine/ingest"
)

// replayScreen prints a replay's plan, progress and result, for people or as JSON lines.
type replayScreen struct {
	screen
	json   bool
	quiet  bool // no progress
	before map[string]replayReading
	at     time.Time
}

// replayPlan is the JSON line of a plan.
type replayPlan struct {
	Pipeline string      `json:"pipeline"` // pipeline.half
	Plan     ingest.Plan `json:"plan"`
	Left     int64       `json:"left"`              // offsets, an upper bound of the records
	Seconds  float64     `json:"seconds,omitempty"` // expected, at the rate that is set
	Missing  []string    `json:"missing"`
}

func (s *replayScreen) plan(r *replay) {
	p, missing := r.plan, r.plan.Missing()
	seconds := 0.0
	if rate := r.opts.RecordsPerSecond; rate > 0 {
		seconds = float64(p.Left()) / rate
	}
	if s.json {
		s.object(replayPlan{r.name, p, p.Left(), seconds, append([]string{}, missing...)})
		return
	}
	fmt.Fprintf(s.out, "replay of %s: topic %s, from %s to %s", r.name, p.Topic, r.opts.From, r.opts.To)
	if len(r.opts.Keys) > 0 {
		fmt.Fprintf(s.out, ", of %s only", count(len(r.opts.Keys), "key"))
	}
	if r.opts.Into != "" {
		fmt.Fprintf(s.out, ", into %s", r.opts.Into)
	}
	fmt.Fprintln(s.out)
	fmt.Fprintf(s.out, "  partition           from             to        offsets        bytes\n")
	var offsets, bytes int64
	for _, part := range p.Partitions {
		fmt.Fprintf(s.out, "  %9d %14s %14s %14s %12s\n", part.Partition, thousands(part.Next), thousands(part.To), thousands(part.Left()), about(part.Bytes))
		offsets, bytes = offsets+part.Left(), bytes+part.Bytes
	}
	fmt.Fprintf(s.out, "  %9s %14s %14s %14s %12s\n", "all", "", "", thousands(offsets), about(bytes))
	for _, m := range missing {
		fmt.Fprintf(s.out, "  missing: %s\n", m)
	}
	fmt.Fprintf(s.out, "  progress is kept in the group %s; the live group %s stays where it is\n", p.Group, r.opts.Group)
	switch {
	case p.Left() > 0 && p.Resumed:
		fmt.Fprintf(s.out, "  goes on where it was: %s of %s offsets are done\n", thousands(done(p)), thousands(done(p)+p.Left()))
	case p.Left() == 0 && p.Resumed:
		fmt.Fprintf(s.out, "  done already, up to the offsets above; --again begins again\n")
	case p.Left() == 0:
		fmt.Fprintf(s.out, "  nothing to replay: the topic holds no record of this range\n")
	}
	switch left := float64(p.Left()); {
	case seconds > 0:
		fmt.Fprintf(s.out, "  at most %s; at %s records/s: about %v\n", count(int(p.Left()), "record"), thousands(int64(r.opts.RecordsPerSecond)), clock(seconds))
	case left > 0: // how quick the stores are is seen when it runs
		fmt.Fprintf(s.out, "  at most %s, as quickly as the stores take it: about %v at 10,000 records/s, %v at 100,000\n", count(int(p.Left()), "record"), clock(max(0.1, left/10_000)), clock(max(0.1, left/100_000)))
	}
}

// done is how much of a plan has been replayed before.
func done(p ingest.Plan) (n int64) {
	for _, part := range p.Partitions {
		n += min(part.Next, part.To) - part.From
	}
	return n
}

// replayReading is the progress of one partition, or of all of a half together (Partition −1).
type replayReading struct {
	Pipeline  string       `json:"pipeline"` // pipeline.half
	Partition int          `json:"partition"`
	Done      int64        `json:"done"` // offsets since this process began, an upper bound of the records
	Left      int64        `json:"left"`
	PerSec    float64      `json:"records_per_second"`
	ETA       float64      `json:"eta_seconds"` // at the mean rate since this process began; −1 while unknown
	Waiting   string       `json:"waiting,omitempty"`
	Retries   int64        `json:"retries"`      // of all partitions
	Dead      int64        `json:"dead_letters"` // of all partitions
	State     ingest.State `json:"state"`
}

// replayed is the state of a partition whose range is settled.
const replayed ingest.State = "done"

// follow shows progress until ctx ends.
func (s *replayScreen) follow(ctx context.Context, replays []*replay) {
	s.before, s.at = map[string]replayReading{}, time.Now()
	tick := time.NewTicker(s.every())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.draw(replays)
			return
		case <-tick.C:
			s.draw(replays)
		}
	}
}

func (s *replayScreen) draw(replays []*replay) {
	now := time.Now()
	span := now.Sub(s.at).Seconds()
	s.at = now
	var lines []string
	for _, r := range replays {
		for _, reading := range r.readings() {
			key := fmt.Sprintf("%s/%d", reading.Pipeline, reading.Partition)
			old, drawn := s.before[key]
			s.before[key] = reading
			if !s.terminal && !s.json && drawn && reading.Done == old.Done && reading.Waiting == old.Waiting {
				continue
			}
			reading.PerSec = float64(reading.Done-old.Done) / span
			if s.json {
				lines = append(lines, jsonText(reading))
			} else {
				lines = append(lines, reading.line())
			}
		}
	}
	if !s.quiet {
		s.show(lines)
	}
}

// readings are how far each partition is, and all together.
func (r *replay) readings() []replayReading {
	progress := r.run.Progress()
	all := replayReading{Pipeline: r.name, Partition: -1, State: replayed, Retries: r.half.retries.Load(), Dead: r.half.dead.Load()}
	var out []replayReading
	for _, p := range progress.Partitions {
		reading := replayReading{Pipeline: r.name, Partition: p.Partition, Done: p.Done, Left: p.Left, State: p.State, Retries: all.Retries, Dead: all.Dead}
		if p.Left == 0 {
			reading.State = replayed
		} else {
			all.State = p.State
		}
		switch reading.State {
		case ingest.Halted, ingest.Waiting, ingest.Retrying:
			reading.Waiting = fmt.Sprintf("%s: %s", p.State, p.Detail)
		}
		reading.ETA = eta(progress.Elapsed, p.Done, p.Left)
		all.Done, all.Left = all.Done+p.Done, all.Left+p.Left
		out = append(out, reading)
	}
	all.ETA = eta(progress.Elapsed, all.Done, all.Left)
	return append(out, all)
}

func (r replayReading) line() string {
	name, rest := r.Pipeline, ""
	if r.Partition >= 0 {
		name += fmt.Sprintf("/%d", r.Partition)
	} else {
		rest = fmt.Sprintf("  retries %d  dead letters %d", r.Retries, r.Dead)
	}
	if r.Waiting != "" {
		rest += "  WAITING: " + r.Waiting
	}
	return fmt.Sprintf("%-20s %11s of %11s  %5.1f %%  %9s/s  ETA %8s", name, thousands(r.Done), thousands(r.Done+r.Left), percent(r.Done, r.Done+r.Left), thousands(int64(r.PerSec)), remaining(r.ETA)) + rest
}
