package rpc

import (
	"context"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// CallOptions are how the calls made with a context differ from the client's options. What is zero is as there.
type CallOptions struct {
	// Priority is that of the calls in the server's queues: 0, the usual one, to 100 of administration and 200 of system tables. Servers
	// take it from whom their settings let.
	Priority int

	Timeout          time.Duration // of one call; at most Options.RPCTimeout
	OperationTimeout time.Duration // of an operation with all its tries
	Retries          int           // -1: none
}

type callOptionsKey struct{}

// WithCallOptions returns a context whose calls have options of their own.
func WithCallOptions(ctx context.Context, o CallOptions) context.Context {
	return context.WithValue(ctx, callOptionsKey{}, o)
}

// CallOptionsOf returns those of a context.
func CallOptionsOf(ctx context.Context) CallOptions {
	o, _ := ctx.Value(callOptionsKey{}).(CallOptions)
	return o
}

// Tracer makes spans of what a client does. Its methods are called from many goroutines, and the functions that they return once each.
type Tracer interface {
	// Operation is a read, an admin call or a change of one row with all its tries. Its calls are made with the context that is returned.
	Operation(ctx context.Context, op, table string) (context.Context, func(error))

	// Call is one call to a server. What it returns goes with it, as the server's tracing reads it (traceparent and the like).
	Call(ctx context.Context, server, method string) (headers map[string]string, end func(error))
}

// traced begins a call's span. Its headers are a RPCTInfo, nil if there are none.
func (o *Options) traced(ctx context.Context, addr, method string) (trace []byte, end func(error)) {
	if o.Tracer == nil {
		return nil, func(error) {}
	}
	headers, end := o.Tracer.Call(ctx, addr, method)
	if len(headers) > 0 {
		trace, _ = proto.Marshal(&hbasepb.RPCTInfo{Headers: headers}) // strings that are not UTF-8 are left out
	}
	return trace, end
}
