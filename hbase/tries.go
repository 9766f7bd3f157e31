package hbase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/internal/backoff"
)

// tries is a read's or an admin call's way through its failures: it applies remedies and waits, until the call succeeds,
// cannot succeed, or has spent both its retries and its time; or, where the client has Patience, only that.
type tries struct {
	c        *Client
	op       string
	table    string
	admin    bool // a call to the master, not to a region
	deadline time.Time
	failures int
	region   *Region // that was called last, and failed
	last     error   // of the last try that failed by itself; nil: none did
}

func (c *Client) newTries(op, table string) *tries {
	return &tries{c: c, op: op, table: table, deadline: time.Now().Add(c.opts.OperationTimeout)}
}

// run tries until once succeeds. once names the region that it called, if it came so far.
func (t *tries) run(ctx context.Context, once func(context.Context) (*Region, error)) error {
	ctx, cancel := t.c.joined(ctx)
	defer cancel()
	ctx, cancel = t.c.patient(ctx)
	defer cancel()
	for {
		r, err := once(ctx)
		if err == nil {
			return nil
		}
		if err := t.failed(ctx, r, err); err != nil {
			return err
		}
	}
}

// patient is ctx that ends when the client's patience does.
func (c *Client) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.opts.Patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.opts.Patience, &impatience{c.opts.Patience})
}

// failed applies the remedy of err and waits, or returns the error to end with.
func (t *tries) failed(ctx context.Context, r *Region, err error) error {
	if ctx.Err() != nil {
		return t.interrupted(ctx, r, err)
	}
	t.region, t.last = r, err
	d := diagnose(err)
	if d.final() && (d.remedy != reopen || r == nil) {
		return t.end(r, err)
	}
	pause := t.c.opts.pause(d, t.failures)
	if !d.uncounted {
		t.failures++
	}
	if t.failures > t.c.opts.Retries && time.Now().Add(pause).After(t.deadline) {
		return t.end(r, err)
	}
	t.c.locator.heed(r, d)
	if d.remedy == relocate && t.failures > 1 && !t.admin && t.table != metaTable {
		if disabled, err := t.c.locator.tableDisabled(ctx, t.table); err == nil && disabled {
			return t.end(r, fmt.Errorf("%w: %s", ErrDisabled, t.table))
		}
	}
	if hook := t.c.opts.Hooks.Retry; hook != nil {
		hook(retryInfo(t.table, r, d, pause, 0, t.failures, err))
	}
	if backoff.Wait(ctx, pause) != nil {
		return t.interrupted(ctx, r, err)
	}
	return nil
}

// interrupted ends with why ctx did, and with what failed last: a try that the end cut off failed only if no other did.
func (t *tries) interrupted(ctx context.Context, r *Region, err error) error {
	if t.last == nil {
		t.region, t.last = r, err
	}
	return t.end(t.region, interrupted(ctx, t.last))
}

// end wraps the last error in what the caller needs to know.
func (t *tries) end(r *Region, err error) error {
	e := &Error{Op: t.op, Table: t.table, Attempts: t.failures + 1, Err: err}
	if r != nil {
		e.Server = r.Server
	}
	if remote, ok := errors.AsType[*remoteError](err); ok {
		e.Class, e.Server = remote.class, remote.server
	}
	return e
}

func retryInfo(table string, r *Region, d diagnosis, pause time.Duration, mutations, failures int, err error) RetryInfo {
	info := RetryInfo{Table: table, Class: d.class, Remedy: d.remedy.String(), Pause: pause, Mutations: mutations, Failures: failures, Err: err}
	if r != nil {
		info.Region, info.Server = r.Encoded, r.Server
	}
	return info
}
