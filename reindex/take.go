package reindex

import (
	"context"
	"errors"
	"fmt"

	"brine/indexer"
	"brine/search"
)

// take starts a reindex, or takes over one that another process has left, and ensures that there is an index to build.
func (r *Run) take(ctx context.Context) error {
	if _, err := r.opts.Engine.Mapping(ctx, r.opts.Index); err != nil {
		return err
	}
	if err := r.keeper.ensure(ctx); err != nil {
		return err
	}
	kept, err := r.keeper.load(ctx)
	if err != nil && !r.opts.Again {
		return err
	}
	if kept != nil && kept.Owner != "" {
		if err := r.left(ctx, kept); err != nil {
			return err
		}
	}
	s, err := r.goOn(ctx, kept)
	if err != nil {
		return err
	}
	if err := r.keeper.take(ctx, s); err != nil {
		return err
	}
	return r.make(ctx)
}

// left ensures that the process that left a state no longer works on it.
func (r *Run) left(ctx context.Context, kept *state) error {
	r.opts.Logger.Info("checking whether the process that started this is alive", "process", kept.Owner)
	alive, err := r.keeper.alive(ctx)
	if err == nil && alive {
		err = fmt.Errorf("%w: %s", ErrTaken, kept.Owner)
	}
	return err
}

// goOn returns the state to continue from: the stored one, or a new one.
func (r *Run) goOn(ctx context.Context, kept *state) (*state, error) {
	if kept != nil && kept.Phase != Done && !r.opts.Again {
		if kept.Asked != r.opts.asked() {
			return nil, fmt.Errorf("%w, from the %s or with another configuration, on %s", ErrBegun, kept.From,
				kept.Began.Format("2006-01-02 15:04:05 MST"))
		}
		return kept, nil
	}
	if r.opts.Again {
		return r.opts.begin(), r.engine.Discard(ctx, r.opts.Index)
	}
	_, err := r.opts.Engine.Mapping(ctx, indexer.Beside(r.opts.Index))
	switch {
	case err == nil:
		return nil, fmt.Errorf("%w: %s, which no reindex created", ErrInTheWay, indexer.Beside(r.opts.Index))
	case !errors.Is(err, search.ErrNoIndex):
		return nil, err
	}
	room, err := r.engine.Room(ctx, r.opts.Index)
	if err == nil && room.Free >= 0 && room.Free < room.Index+room.Index/10 {
		err = fmt.Errorf("%w: the index takes %d MiB, but only %d MiB are free", ErrNoRoom, room.Index>>20, room.Free>>20)
	}
	return r.opts.begin(), err
}

// make creates the new index, once.
func (r *Run) make(ctx context.Context) error {
	switch s := r.keeper.state; {
	case s.Phase == Swapping || s.Phase == Finishing:
		return nil
	case s.Made:
		_, err := r.opts.Engine.Mapping(ctx, indexer.Beside(r.opts.Index))
		if errors.Is(err, search.ErrNoIndex) {
			err = fmt.Errorf("what was built is gone: %w; start over", err)
		}
		return err
	}
	var m indexer.Mapping
	for i := range r.opts.Sources {
		for _, one := range r.opts.Sources[i].writing(indexer.Beside(r.opts.Index)).Mappings() {
			missing, err := one.Missing(indexer.Mapping{Index: one.Index, Fields: m.Fields, Every: one.Every, Routing: one.Routing})
			if err != nil {
				return err
			}
			m = indexer.Mapping{Index: one.Index, Fields: append(m.Fields, missing...), Every: one.Every, Routing: one.Routing}
		}
	}
	if live, err := r.opts.Engine.Mapping(ctx, r.opts.Index); err != nil {
		return err
	} else if err := m.CanTakePlaceOf(live); err != nil {
		return err
	}
	if err := r.keeper.save(ctx); err != nil { // this process still owns the state
		return err
	}
	// What exists was partly created by a process that was killed.
	if err := errors.Join(r.engine.Discard(ctx, r.opts.Index), r.opts.Engine.EnsureIndex(ctx, m)); err != nil {
		return err
	}
	r.keeper.update(func(s *state) { s.Made = true })
	return r.keeper.save(ctx)
}
