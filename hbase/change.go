package hbase

import (
	"context"
	"errors"
	"fmt"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// repeat reports whether a change with an unknown outcome on one region's server may be sent to the region's current location.
type repeat func(doubt, now *Region) bool

func never(_, _ *Region) bool { return false }

// onSameServer allows a repeat only on the same server process, because that is where nonces are remembered.
func onSameServer(doubt, now *Region) bool {
	return doubt.Server == now.Server && doubt.StartCode == now.StartCode
}

// change sends one atomic change of a row to the row's server until it has a final answer. After a try with an unknown outcome, again
// decides whether there may be another.
func (c *Client) change(ctx context.Context, op, table string, row []byte, again repeat, once func(context.Context, *Region) error) error {
	table = locate.TableKey(table)
	var doubt *Region // the last region whose try has an unknown outcome
	t := c.newTries(op, table)
	err := t.run(ctx, func(ctx context.Context) (*Region, error) {
		r, err := c.locator.Find(ctx, table, row)
		if err != nil {
			return nil, err
		}
		if doubt != nil && !again(doubt, r) {
			return r, ErrUnknownOutcome
		}
		err = once(ctx, r)
		if !outcomeUnknown(err) {
			return r, err
		}
		doubt = r
		if !again(r, r) {
			c.locator.Correct(r, remote.Diagnose(err))
			err = &remote.Permanent{Err: err}
		}
		return r, err
	})
	if e, ok := errors.AsType[*Error](err); ok && doubt != nil && !errors.Is(err, ErrUnknownOutcome) {
		e.Err = fmt.Errorf("%w: %w", ErrUnknownOutcome, e.Err)
	}
	return err
}

// outcomeUnknown reports whether a call that ended with err may have been applied. It was not applied if it was never sent, or if the
// server answered with an exception that precedes any work: those in the table of remedies and those marked do-not-retry.
func outcomeUnknown(err error) bool {
	if err == nil {
		return false
	}
	if conn, ok := errors.AsType[*remote.ConnError](err); ok {
		return !conn.Unsent
	}
	if e, ok := errors.AsType[*remote.Exception](err); ok {
		return !remote.Known(e.Class) && !e.DoNotRetry
	}
	return true
}
