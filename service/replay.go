package service

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/internal/fault"
	"brine/service/former"
)

// Replay writes a range of a pipeline's topic again, as one of its halves does. A replay is planned first, then opened together with
// others, then run.
type Replay struct {
	Name    string // of the half
	Options ingest.ReplayOptions
	Plan    ingest.Plan
	Former  *former.Half  // how the half was configured before; nil: always the same, or not relevant
	Took    time.Duration // duration of the last Run

	half *Half // nil until opened
	run  *ingest.Replay
	gone atomic.Int64
}

// PlanReplay asks the brokers what a replay of a half would read. It opens and writes nothing.
func PlanReplay(ctx context.Context, name string, o ingest.ReplayOptions, before *former.Half) (*Replay, error) {
	if before != nil {
		o.Eras = &before.Eras
	}
	planned, err := ingest.NewReplay(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, fault.Misused(err))
	}
	r := &Replay{Name: name, Options: o, Former: before}
	if r.Plan, err = planned.Plan(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", name, IngestError(err))
	}
	return r, nil
}

// OpenReplays opens the stores that replays write to, and no others. It sets opts.For and opts.Halves itself.
func OpenReplays(ctx context.Context, cfg *config.Config, opts Options, replays []*Replay) (*Service, error) {
	opts.For, opts.Halves = ToWrite, nil
	for _, r := range replays {
		opts.Halves = append(opts.Halves, r.Name)
	}
	s, err := Open(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	for _, r := range replays {
		if err := r.open(s, s.Half(r.Name)); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// open creates the replay, which writes as the half does.
func (r *Replay) open(s *Service, half *Half) (err error) {
	o, like := r.Options, half.Ingest()
	own := &Half{name: half.name, pipeline: half.pipeline, kind: half.kind} // a copy: another replay of the half may read another topic
	o.Hooks, o.Logger = own.count(like.Hooks), like.Logger
	if o.Writer, err = s.FormerWriter(like.Writer, r.Former); err != nil {
		return err
	}
	skipped := o.Hooks.Skipped
	o.Hooks.Skipped = func(i ingest.SkippedInfo) {
		skipped(i)
		r.gone.Add(i.To - i.From)
	}
	r.half = own
	r.run, err = ingest.NewReplay(o)
	return err
}

// RunReplays runs the replays until all is settled or ctx is done, and returns an error or nil for each. They neither wait for each other
// nor stop each other. Call it within Guard.
func RunReplays(ctx context.Context, replays []*Replay) []error {
	errs := make([]error, len(replays))
	var running sync.WaitGroup
	for i, r := range replays {
		running.Go(func() {
			began := time.Now()
			errs[i] = r.run.Run(ctx, r.Plan)
			r.Took = time.Since(began)
		})
	}
	running.Wait()
	return errs
}

// Progress returns the progress of each partition.
func (r *Replay) Progress() ingest.ReplayProgress { return r.run.Progress() }

// Counts returns the counters of the replay.
func (r *Replay) Counts() Counts { return r.half.Counts() }

// Gone returns the number of offsets that have left the topic since the plan was made.
func (r *Replay) Gone() int64 { return r.gone.Load() }
