package hbase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/pipeline"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
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
	tried    int
	failures int     // that counted
	region   *Region // that was called last, and failed
	last     error   // of the last try that failed by itself; nil: none did
	doubt    bool    // a try of a change may have been taken

	retries int
}

// CallOptions are how operations made with a context differ from the client's Options; see WithCallOptions.
type CallOptions = rpc.CallOptions

// WithCallOptions returns a context by which reads, admin calls and changes of one row have a priority, time-outs and retries of their own.
// A deadline of the context itself holds as well, and servers hear of it: they do not begin what nobody waits for. Batches go together with
// others', by the client's Options.
func WithCallOptions(ctx context.Context, o CallOptions) context.Context {
	return rpc.WithCallOptions(ctx, o)
}

// Tracer makes spans of what a client does, for OpenTelemetry or another kind of tracing: see the example of Options.
type Tracer = rpc.Tracer

func (c *Client) newTries(op, table string) *tries {
	return &tries{c: c, op: op, table: table, deadline: time.Now().Add(c.opts.OperationTimeout), retries: c.opts.Retries}
}

// run tries until once succeeds. once names the region that it called, if it got that far.
func (t *tries) run(ctx context.Context, once func(context.Context) (*Region, error)) (err error) {
	if tracer := t.c.opts.Tracer; tracer != nil {
		var end func(error)
		ctx, end = tracer.Operation(ctx, t.op, t.table)
		defer func() { end(err) }()
	}
	ctx, cancel := t.c.joined(ctx)
	defer cancel()
	ctx, cancel = t.own(ctx)
	defer cancel()
	ctx, cancel = t.c.patient(ctx)
	defer cancel()
	for {
		r, err := once(ctx)
		t.tried++
		if err == nil {
			return nil
		}
		if err := t.failed(ctx, r, err); err != nil {
			return err
		}
	}
}

// own is ctx with the time-out that its CallOptions ask for; its retries are the tries'.
func (t *tries) own(ctx context.Context) (context.Context, context.CancelFunc) {
	o := rpc.CallOptionsOf(ctx)
	if o.Retries != 0 {
		t.retries = max(o.Retries, 0)
		t.deadline = time.Now()
	}
	if o.OperationTimeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, o.OperationTimeout, &remote.Impatience{After: o.OperationTimeout})
}

// patient is ctx that ends when the client's patience does.
func (c *Client) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.opts.Patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.opts.Patience, &remote.Impatience{After: c.opts.Patience})
}

// failed applies the remedy of err and waits, or returns the error to end with.
func (t *tries) failed(ctx context.Context, r *Region, err error) error {
	if ctx.Err() != nil {
		return t.interrupted(ctx, r, err)
	}
	t.region, t.last = r, err
	d := remote.Diagnose(err)
	if d.Final() && (d.Remedy != remote.Reopen || r == nil) {
		return t.end(r, err)
	}
	pause := t.c.opts.pause(d, t.failures)
	if !d.Uncounted {
		t.failures++
	}
	if t.failures > t.retries && time.Now().Add(pause).After(t.deadline) {
		return t.end(r, err)
	}
	t.c.locator.Correct(r, d)
	if d.Remedy == remote.Relocate && t.failures > 1 && !t.admin && t.table != locate.MetaTable {
		if disabled, err := t.c.locator.Disabled(ctx, t.table); err == nil && disabled {
			return t.end(r, fmt.Errorf("%w: %s", ErrDisabled, t.table))
		}
	}
	t.c.opts.Hooks.Retry(pipeline.NewRetryInfo(t.table, r, d, pause, 0, t.failures, err))
	if backoff.Wait(ctx, pause) != nil {
		return t.interrupted(ctx, r, err)
	}
	return nil
}

// interrupted returns why ctx ended, and what failed last: a try that the end cut off counts as failed only if no other did.
func (t *tries) interrupted(ctx context.Context, r *Region, err error) error {
	if t.last == nil {
		t.region, t.last = r, err
	}
	return t.end(t.region, remote.Interrupted(ctx, t.last))
}

// end wraps the last error in what the caller needs to know.
func (t *tries) end(r *Region, err error) error {
	e := &Error{Op: t.op, Table: t.table, Attempts: max(t.tried, 1), Err: err}
	if r != nil {
		e.Server = r.Server
	}
	if remote, ok := errors.AsType[*remote.Exception](err); ok {
		e.Class, e.Server = remote.Class, remote.Server
	}
	return e
}
