package main

import (
	"context"
	"fmt"
	"time"

	"brine/ingest"
	"brine/internal/term"
	"brine/service"
)

// replayScreen prints a replay's plan, progress and result, for people or as JSON lines.
type replayScreen struct {
	term.Screen
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

func (s *replayScreen) plan(r *service.Replay) {
	p, missing := r.Plan, r.Plan.Missing()
	seconds := 0.0
	if rate := r.Options.RecordsPerSecond; rate > 0 {
		seconds = float64(p.Left()) / rate
	}
	if s.json {
		s.JSON(replayPlan{r.Name, p, p.Left(), seconds, append([]string{}, missing...)})
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
	for _, m := range missing {
		fmt.Fprintf(s.Out, "  missing: %s\n", m)
	}
	fmt.Fprintf(s.Out, "  progress is kept in the group %s; the live group %s stays where it is\n", p.Group, r.Options.Group)
	switch {
	case p.Left() > 0 && p.Resumed:
		fmt.Fprintf(s.Out, "  goes on where it was: %s of %s offsets are done\n", term.Thousands(done(p)), term.Thousands(done(p)+p.Left()))
	case p.Left() == 0 && p.Resumed:
		fmt.Fprintf(s.Out, "  done already, up to the offsets above; --again begins again\n")
	case p.Left() == 0:
		fmt.Fprintf(s.Out, "  nothing to replay: the topic holds no record of this range\n")
	}
	switch left := float64(p.Left()); {
	case seconds > 0:
		fmt.Fprintf(s.Out, "  at most %s; at %s records/s: about %v\n", term.Count(int(p.Left()), "record"),
			term.Thousands(int64(r.Options.RecordsPerSecond)), term.Seconds(seconds))
	case left > 0: // how quick the stores are is seen when it runs
		fmt.Fprintf(s.Out, "  at most %s, as quickly as the stores take it: about %v at 10,000 records/s, %v at 100,000\n",
			term.Count(int(p.Left()), "record"), term.Seconds(max(0.1, left/10_000)), term.Seconds(max(0.1, left/100_000)))
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
func (s *replayScreen) follow(ctx context.Context, replays []*service.Replay) {
	s.before, s.at = map[string]replayReading{}, time.Now()
	s.Follow(ctx, func() { s.draw(replays) })
	s.draw(replays)
}

func (s *replayScreen) draw(replays []*service.Replay) {
	now := time.Now()
	span := now.Sub(s.at).Seconds()
	s.at = now
	var lines []string
	for _, r := range replays {
		for _, reading := range replayReadings(r) {
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
				lines = append(lines, reading.line())
			}
		}
	}
	if !s.quiet {
		s.Show(lines...)
	}
}

// readings are how far each partition is, and all together.
func replayReadings(r *service.Replay) []replayReading {
	progress := r.Progress()
	counts := r.Counts()
	all := replayReading{Pipeline: r.Name, Partition: -1, State: replayed, Retries: counts.Retries, Dead: counts.Dead}
	var out []replayReading
	for _, p := range progress.Partitions {
		reading := replayReading{Pipeline: r.Name, Partition: p.Partition, Done: p.Done, Left: p.Left, State: p.State,
			Retries: all.Retries, Dead: all.Dead}
		if p.Left == 0 {
			reading.State = replayed
		} else {
			all.State = p.State
		}
		switch reading.State {
		case ingest.Halted, ingest.Waiting, ingest.Retrying:
			reading.Waiting = fmt.Sprintf("%s: %s", p.State, p.Detail)
		}
		reading.ETA = term.Progress{Done: p.Done, Left: p.Left, Elapsed: progress.Elapsed}.ETA()
		all.Done, all.Left = all.Done+p.Done, all.Left+p.Left
		out = append(out, reading)
	}
	all.ETA = term.Progress{Done: all.Done, Left: all.Left, Elapsed: progress.Elapsed}.ETA()
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
	return fmt.Sprintf("%-20s %11s of %11s  %5.1f %%  %11s  ETA %8s", name, term.Thousands(r.Done), term.Thousands(r.Done+r.Left),
		term.Progress{Done: r.Done, Left: r.Left}.Percent(), term.Rate(r.PerSec), term.Remaining(r.ETA)) + rest
}
