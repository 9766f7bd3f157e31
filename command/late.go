package command

import (
	"context"
	"errors"
)

// A command that has ended without an effect may have one later: an operator replays its dead letter, the topic is replayed, or the reader
// of another topic answers after all. Its change is then in the topic and in the row, as for any other, and nothing could be done about
// that without leaving the row different from what the topic says. So the command follows the row.

const (
	lateEvery  = 12 // sweeps between two looks at such commands
	lateDetail = "it was applied after it had ended as "
)

// sweepLate looks at the next commands that have ended without an effect.
func (r *relay) sweepLate(ctx context.Context) {
	if r.lateIn--; r.lateIn > 0 {
		return
	}
	r.lateIn = lateEvery
	list, next, err := r.opts.Outbox.freed(ctx, r.lateAt, sweepSize)
	if r.lateAt = next; err != nil {
		return // the sweep logs it
	}
	entries := make([]*Entry, len(list))
	for i := range list {
		entries[i] = &list[i]
	}
	r.warn(ctx, r.settleLate(ctx, entries), "cannot find out whether commands without an effect were applied later")
}

// settleLate ends commands as applied whose rows show that they were, although they had ended without an effect. An error concerns only
// some of them.
func (r *relay) settleLate(ctx context.Context, entries []*Entry) error {
	by := map[*Machine][]*Entry{}
	for _, e := range entries {
		if m := r.Machine(e.Table); m != nil {
			by[m] = append(by[m], e)
		}
	}
	var errs []error
	for m, list := range by {
		errs = append(errs, r.eachOrder(ctx, m, list, func(e *Entry, o *Order) error {
			late, err := r.late(ctx, m, e, o)
			if late && err == nil {
				err = r.undo(ctx, e)
			}
			return err
		}))
	}
	return errors.Join(errs...)
}

// late reports whether the row shows that a command was applied after all. The version that a command gives to a row is its own, but an
// answer from another topic has a version of its own, which may be that of a later command in the same place.
func (r *relay) late(ctx context.Context, m *Machine, e *Entry, o *Order) (bool, error) {
	if m.Elsewhere {
		if e.State != Unanswered || o.Version <= e.Expected || o.State != e.Change.State {
			return false, nil
		}
		held, err := r.opts.Outbox.holds(ctx, e, e.Expected)
		return !held, err
	}
	if o.Version <= e.Change.At {
		return o.Version == e.Change.At && o.State == e.Change.State, nil
	}
	return r.opts.Outbox.Follows(ctx, e)
}

// undo ends a command as applied that had ended without an effect. The audit is written first, so that it never lacks an entry; it may have
// two if another process notices at the same time.
func (r *relay) undo(ctx context.Context, e *Entry) error {
	now := *e
	now.State, now.Detail = Applied, lateDetail+string(e.State)+": "+e.Detail
	if err := r.opts.Late(ctx, &now); err != nil {
		return err
	}
	if err := r.opts.Outbox.undo(ctx, []*Entry{&now}, r.now()); err != nil {
		return err
	}
	*e = now
	return nil
}
