package rpc

import (
	"context"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

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
