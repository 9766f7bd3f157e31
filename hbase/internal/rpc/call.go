package rpc

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// call is one request until its outcome.
//
// Whoever removes it from its connection's pending calls, under the connection's lock, settles it; so that happens once at most, and not
// after its caller has removed it.
type call struct {
	until time.Time // the caller waits no longer

	frame   []byte      // the writer's until written is set
	written atomic.Bool // or copied

	settled  chan struct{} // holds the one signal that response and err are there
	response wire.Response
	err      error
}

// calls are a client's calls that are used again, with their frames. A call that is here is out of everybody else's reach: see outcome.
type calls struct{ pool sync.Pool }

func (c *calls) get(until time.Time) *call {
	q, _ := c.pool.Get().(*call)
	if q == nil {
		q = &call{settled: make(chan struct{}, 1)}
	}
	q.until = until
	return q
}

// settle sets the outcome. It no longer needs q when it returns, nor does whoever called it.
func (q *call) settle(r wire.Response, err error) {
	q.response, q.err = r, err
	q.settled <- struct{}{}
}

// outcome returns the outcome of a settled call, whose signal the caller has received. The call is used again if the writer is done with
// it, too: then nobody else has it any more. A call that its caller gives up is not: an answer may be on its way to it.
func (c *calls) outcome(q *call) (wire.Response, error) {
	r, err := q.response, q.err
	if q.written.Load() {
		q.frame, q.response, q.err = q.frame[:0], wire.Response{}, nil
		q.written.Store(false)
		c.pool.Put(q)
	}
	return r, err
}

// CallOptions override the client's options for calls made with a context. Zero fields override nothing.
type CallOptions struct {
	// Priority is the priority of the calls in the server's queues: 0 is normal, 100 administration, 200 system tables. Servers accept it from
	// the users that their settings allow.
	Priority int

	Timeout          time.Duration // per call; at most Options.RPCTimeout
	OperationTimeout time.Duration // per operation with all its tries
	Retries          int           // -1: none
}

type callOptionsKey struct{}

// WithCallOptions returns a context whose calls have their own options.
func WithCallOptions(ctx context.Context, o CallOptions) context.Context {
	return context.WithValue(ctx, callOptionsKey{}, o)
}

// CallOptionsOf returns the options in a context.
func CallOptionsOf(ctx context.Context) CallOptions {
	o, _ := ctx.Value(callOptionsKey{}).(CallOptions)
	return o
}

// Tracer makes spans of what a client does. Many goroutines call its methods, and call each returned function once.
type Tracer interface {
	// Operation starts the span of a read, an admin call or a change of one row with all its tries. The returned context is used for its
	// calls.
	Operation(ctx context.Context, op, table string) (context.Context, func(error))

	// Call starts the span of a call to a server. The headers are sent with the call in the form that the server's tracing reads (traceparent
	// and the like).
	Call(ctx context.Context, server, method string) (headers map[string]string, end func(error))
}

// traced starts a call's span and returns its headers as an encoded RPCTInfo, nil if there are none.
func (o *Options) traced(ctx context.Context, addr, method string) (trace []byte, end func(error)) {
	if o.Tracer == nil {
		return nil, func(error) {}
	}
	headers, end := o.Tracer.Call(ctx, addr, method)
	if len(headers) > 0 {
		trace, _ = proto.Marshal(&hbasepb.RPCTInfo{Headers: headers}) // drops strings that are not UTF-8
	}
	return trace, end
}
