package tracing

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"brine/hbase"
	"brine/indexer"
)

// Sent is the hook that makes a span of a call of mutations for each traced flight in it.
func (t *Tracer) Sent(s *hbase.SentInfo) {
	var followed []context.Context
	for ctx := range s.Contexts {
		followed = withFollowed(followed, ctx)
	}
	for _, flight := range followed {
		t.call(flight, "Multi", s.Left, s.Duration, s.Err,
			attribute.String("db.system.name", "hbase"), attribute.String("server.address", s.Server),
			attribute.Int("brine.regions", s.Regions), attribute.Int("brine.rows", s.Rows), attribute.Int("brine.rows_again", s.Again))
	}
}

// Indexed is the hook that makes a span of a call of the search engine for each traced flight in it.
func (t *Tracer) Indexed(c *indexer.CallInfo) {
	var followed []context.Context
	for ctx := range c.Contexts {
		followed = withFollowed(followed, ctx)
	}
	for _, flight := range followed {
		t.call(flight, string(c.Kind), c.Left, c.Duration, c.Err,
			attribute.String("db.operation.name", string(c.Kind)), attribute.Int("db.operation.batch.size", c.Documents),
			attribute.Int("brine.sent_bytes", c.Bytes))
	}
}

// withFollowed adds a flight's context to others, if the flight is traced and not among them yet. The hooks themselves loop over their
// calls' contexts, because passing that loop to a function would allocate on each call.
func withFollowed(flights []context.Context, ctx context.Context) []context.Context {
	flight := trace.SpanContextFromContext(ctx)
	if !flight.IsSampled() || slices.ContainsFunc(flights, func(other context.Context) bool {
		return trace.SpanContextFromContext(other).SpanID() == flight.SpanID()
	}) {
		return flights
	}
	return append(flights, ctx)
}

// call makes the span of a finished call.
func (t *Tracer) call(flight context.Context, name string, left time.Time, took time.Duration, err error, said ...attribute.KeyValue) {
	_, span := t.tracer.Start(flight, name, trace.WithTimestamp(left), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(said...))
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End(trace.WithTimestamp(left.Add(took)))
}
