package reindex

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"brine/indexer"
	"brine/search"
)

// Run is one reindex, or the rest of one.
type Run struct {
	opts   Options
	engine indexer.Rebuilder
	keeper *keeper
	began  time.Time

	reading atomic.Pointer[round] // the last one that was begun

	mu      sync.Mutex
	waiting error // the reason that there is no progress; nil if there is
}

// New checks the options. It makes no call.
func New(o Options) (*Run, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.From == FromHBase {
		for i := range o.Sources {
			if _, err := newRecoverer(&o.Sources[i]); err != nil {
				return nil, err
			}
		}
	}
	return &Run{opts: o, engine: o.Engine.(indexer.Rebuilder), keeper: newKeeper(&o), began: time.Now()}, nil
}

// Run builds the index, or resumes where an earlier process stopped, until it has replaced the old one and holds everything that arrived
// meanwhile. If ctx ends or Run fails, the progress is kept.
func (r *Run) Run(ctx context.Context) (err error) {
	if err := r.take(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() { // until Run returns
		defer close(kept)
		r.keeper.keep(ctx, stop)
	}()
	err = r.work(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) { // the state could not be saved
		err = errors.Join(cause, err)
	}
	stop(nil)
	<-kept
	if errors.Is(err, ErrTaken) || errors.Is(err, errKilled) {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	return errors.Join(err, r.keeper.leave(last))
}

const leaveTimeout = 10 * time.Second // for an engine that is slow at the moment

// errKilled ends a test's run as a kill would.
var errKilled = errors.New("killed")

// work does what is left, phase by phase.
func (r *Run) work(ctx context.Context) error {
	steps := []struct {
		phase Phase
		do    func(context.Context) error
	}{{Scanning, r.scanAll}, {CatchingUp, r.catchUpAll}, {Swapping, r.swap}, {Finishing, r.finish}}
	for i, step := range steps {
		if r.phase() != step.phase {
			continue
		}
		if err := step.do(ctx); err != nil {
			return err
		}
		next := Done
		if i+1 < len(steps) {
			next = steps[i+1].phase
		}
		r.keeper.update(func(s *state) { s.Phase = next })
		if err := errors.Join(r.keeper.save(ctx), r.opts.rest(string(next))); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) phase() (p Phase) {
	r.keeper.update(func(s *state) { p = s.Phase })
	return p
}

// source returns the progress of a source.
func (r *Run) source(i int) *source { return r.keeper.state.Sources[i] }

// scanAll builds the index from the tables. Each topic will be read from the position that its rows had before the scan.
func (r *Run) scanAll(ctx context.Context) error {
	for i := range r.opts.Sources {
		s, at := &r.opts.Sources[i], r.source(i)
		if at.Offsets == nil {
			done, err := s.RowsDone(ctx)
			if err != nil {
				return err
			}
			r.keeper.update(func(*state) { at.Offsets = done })
			if err := r.keeper.save(ctx); err != nil { // before the first row is read
				return err
			}
		}
		err := r.writing(s, indexer.Beside(r.opts.Index), func(w *indexer.Writer) error { return r.scan(ctx, s, at, w) })
		if err != nil {
			return err
		}
	}
	return nil
}

// writing runs work with a writer of a source's documents into the index named index.
func (r *Run) writing(s *Source, index string, work func(*indexer.Writer) error) error {
	w, err := indexer.New(r.opts.Engine, s.writing(index))
	if err != nil {
		return err
	}
	return errors.Join(work(w), w.Close())
}

// Rounds are repeated until one is so short that another would gain nothing.
const (
	shortRound   = 3 * time.Second
	shortRecords = 1000
)

// catchUpAll reads the topics until the new index has nearly caught up with the old one.
func (r *Run) catchUpAll(ctx context.Context) error {
	for i := range r.opts.Sources {
		s, at := &r.opts.Sources[i], r.source(i)
		err := r.writing(s, indexer.Beside(r.opts.Index), func(w *indexer.Writer) error {
			for {
				began := time.Now()
				n, err := r.catchUp(ctx, s, at, w)
				if err != nil || n <= shortRecords || time.Since(began) < shortRound {
					return err
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// swap replaces the old index with the new one, if that is complete. Once begun, a swap can only be finished.
func (r *Run) swap(ctx context.Context) error {
	if err := r.complete(); err != nil {
		return err
	}
	former, err := r.engine.Behind(ctx, r.opts.Index)
	if err != nil {
		return err
	}
	_, err = r.opts.Engine.Mapping(ctx, indexer.Beside(r.opts.Index))
	if errors.Is(err, search.ErrNoIndex) && r.keeper.state.Former != nil {
		return nil // it was done before the state could record it
	}
	if err != nil {
		return err
	}
	r.keeper.update(func(s *state) { s.Former = former })
	if err := errors.Join(r.keeper.save(ctx), r.opts.rest("swap")); err != nil {
		return err
	}
	return errors.Join(r.engine.Promote(ctx, r.opts.Index), r.opts.rest("swapped"))
}

// complete returns an error if documents were refused, unless that is allowed.
func (r *Run) complete() (err error) {
	r.keeper.update(func(s *state) {
		if s.Refused > 0 && !r.opts.SkipRefused {
			err = fmt.Errorf("%w: %d of them; the first: %s", ErrRefused, s.Refused, s.Examples[0])
		}
	})
	return err
}

// finish reads everything that may have been written only to the old index: from the end of the last round before the swap to the current
// ends of the topics.
func (r *Run) finish(ctx context.Context) error {
	for i := range r.opts.Sources {
		s, at := &r.opts.Sources[i], r.source(i)
		err := r.writing(s, r.opts.Index, func(w *indexer.Writer) error { _, err := r.catchUp(ctx, s, at, w); return err })
		if err != nil {
			return err
		}
	}
	if !r.opts.DropOld {
		return nil
	}
	return r.engine.Drop(ctx, r.keeper.state.Former)
}
