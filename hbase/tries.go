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

// tries retries a read or an admin call: it applies remedies and waits until the call succeeds, cannot succeed, or has used up both its
// retries and its time. If the client has Patience, only the time counts.
type tries struct {
	c        *Client
	op       string
	table    string
	admin    bool // a call to the master, not to a region
	deadline time.Time
	tried    int
	failures int     // number of failures that count
	region   *Region // last region that was called and failed
	last     error   // error of the last try that failed by itself; nil: none did
	doubt    bool    // a try of a change may have been applied

	// alone: the first try waits for nothing that outlives the client, so that it needs no context that ends with the client. Such contexts
	// cost a point get a tenth of its time.
	alone bool

	retries int
}

// CallOptions override the client's Options for operations made with a context; see WithCallOptions.
type CallOptions = rpc.CallOptions

// WithCallOptions returns a context that gives reads, admin calls and changes of one row their own priority, time-outs and retries. A
// deadline of the context also applies, and is sent to the servers, so that they do not start work that nobody waits for. Batches share
// calls with others', so they use the client's Options.
func WithCallOptions(ctx context.Context, o CallOptions) context.Context {
	return rpc.WithCallOptions(ctx, o)
}

// Tracer makes spans of what a client does, for OpenTelemetry or another tracing system: see the example of Options.
type Tracer = rpc.Tracer

func (c *Client) newTries(op, table string) *tries {
	return &tries{c: c, op: op, table: table, deadline: time.Now().Add(c.opts.OperationTimeout), retries: c.opts.Retries}
}

// run calls once until it succeeds. once returns the region that it called, if it got that far.
func (t *tries) run(ctx context.Context, once func(context.Context) (*Region, error)) (err error) {
	if tracer := t.c.opts.Tracer; tracer != nil {
		var end func(error)
		ctx, end = tracer.Operation(ctx, t.op, t.table)
		defer func() { end(err) }()
	}
	joined := context.CancelFunc(func() {})
	defer func() { joined() }()
	if !t.alone {
		ctx, joined = t.c.joined(ctx)
	}
	ctx, cancel := t.own(ctx)
	defer cancel()
	ctx, cancel = t.c.patient(ctx)
	defer cancel()
	for {
		r, err := once(ctx)
		t.tried++
		if err == nil {
			return nil
		}
		if t.alone {
			t.alone = false
			ctx, joined = t.c.joined(ctx)
		}
		if err := t.failed(ctx, r, err); err != nil {
			return err
		}
	}
}

// own returns ctx with the time-out in its CallOptions, and applies their retries to t.
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

// patient returns a context that ends when the client's Patience does.
func (c *Client) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.opts.Patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.opts.Patience, &remote.Impatience{After: c.opts.Patience})
}

// failed applies the remedy for err and waits. It returns the error to end with, or nil to try again.
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

// interrupted returns why ctx ended and what failed last. A try that was cut off by the end counts as a failure only if no other try
// failed.
func (t *tries) interrupted(ctx context.Context, r *Region, err error) error {
	if t.last == nil {
		t.region, t.last = r, err
	}
	return t.end(t.region, remote.Interrupted(ctx, t.last))
}

// end wraps the last error in an Error for the caller.
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
