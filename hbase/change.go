package hbase

import (
	"context"
	"errors"
	"fmt"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
)

// repeat says whether a change whose outcome on one region's server is unknown may be sent to where the region is now.
type repeat func(doubt, now *Region) bool

func never(_, _ *Region) bool { return false }

// onSameServer is where nonces are remembered.
func onSameServer(doubt, now *Region) bool {
	return doubt.Server == now.Server && doubt.StartCode == now.StartCode
}

// change calls the server of a row with one atomic change of it until it has a final answer. Where it is unknown whether a
// try was applied, again decides about another one.
func (c *Client) change(ctx context.Context, op, table string, row []byte, again repeat, once func(context.Context, *Region) error) error {
	table = locate.TableKey(table)
	var doubt *Region // the last one of which a try's outcome is unknown
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

// outcomeUnknown reports whether a call that ended so may have been applied. It was not when it never left, and when the server
// answered an exception that comes before any work: those of the table of remedies, and those not to be retried.
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
