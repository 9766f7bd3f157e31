package service

import (
	"fmt"

	"brine/ingest"
	"brine/internal/term"
)

// ReplayPlan is the JSON line of a replay's plan.
type ReplayPlan struct {
	Pipeline string      `json:"pipeline"` // pipeline.half
	Plan     ingest.Plan `json:"plan"`
	Left     int64       `json:"left"`              // offsets, an upper bound of the records
	Seconds  float64     `json:"seconds,omitempty"` // expected, at the configured rate
	Missing  []string    `json:"missing"`
	// Elsewhere means that the live group is read by another configuration than this one: its records are written by that.
	Elsewhere bool `json:"read_elsewhere,omitempty"`
}

// PlanLine returns the plan as JSON.
func (r *Replay) PlanLine() ReplayPlan {
	line := ReplayPlan{Pipeline: r.Name, Plan: r.Plan, Left: r.Plan.Left(), Missing: append([]string{}, r.Plan.Missing()...),
		Elsewhere: r.Former.Elsewhere()}
	if rate := r.Options.RecordsPerSecond; rate > 0 {
		line.Seconds = float64(line.Left) / rate
	}
	return line
}

// ReplayReading is the progress of one partition, or of all partitions of a half together (Partition −1).
type ReplayReading struct {
	Pipeline  string       `json:"pipeline"` // pipeline.half
	Partition int          `json:"partition"`
	Done      int64        `json:"done"` // offsets since this process started, an upper bound of the records
	Left      int64        `json:"left"`
	PerSec    float64      `json:"offsets_per_second"` // since the previous reading; the caller computes and sets it
	ETA       float64      `json:"eta_seconds"`        // at the mean rate since this process started; −1: unknown
	Waiting   string       `json:"waiting,omitempty"`
	Retries   int64        `json:"retries"`      // of all partitions
	Dead      int64        `json:"dead_letters"` // of all partitions
	State     ingest.State `json:"state"`
}

// replayed is the state of a partition whose range is settled.
const replayed ingest.State = "done"

// Readings returns the progress of each partition, and of all together.
func (r *Replay) Readings() []ReplayReading {
	progress := r.Progress()
	counts := r.Counts()
	all := ReplayReading{Pipeline: r.Name, Partition: -1, State: replayed, Retries: counts.Retries, Dead: counts.Dead}
	var out []ReplayReading
	for _, p := range progress.Partitions {
		reading := ReplayReading{Pipeline: r.Name, Partition: p.Partition, Done: p.Done, Left: p.Left, State: p.State,
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

// ReplayResult is the JSON line of a finished replay.
type ReplayResult struct {
	Pipeline string  `json:"pipeline"` // pipeline.half
	Read     int64   `json:"read"`     // records settled by this process
	Replayed int64   `json:"replayed"` // those of them that were selected, by key if keys are given
	Retries  int64   `json:"retries"`
	Dead     int64   `json:"dead_letters"`
	Gone     int64   `json:"gone"` // offsets that left the topic after the plan was made
	Seconds  float64 `json:"seconds"`
	Finished bool    `json:"finished"`
}

// Result returns the result of the replay after it has ended without an error.
func (r *Replay) Result() ReplayResult {
	n := r.Counts()
	return ReplayResult{r.Name, n.Settled, n.Settled - n.LeftOut, n.Retries, n.Dead, r.Gone(), r.Took.Seconds(), true}
}
