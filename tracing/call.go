package tracing

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"brine/hbase"
)

// Sent is the hook that makes a span of a call for each flight of it that is followed.
func (t *Tracer) Sent(s *hbase.SentInfo) {
	var told []trace.SpanID
	for ctx := range s.Contexts {
		flight := trace.SpanContextFromContext(ctx)
		if !flight.IsSampled() || slices.Contains(told, flight.SpanID()) {
			continue
		}
		told = append(told, flight.SpanID())
		_, span := t.tracer.Start(ctx, "Multi", trace.WithTimestamp(s.Left), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("db.system.name", "hbase"), attribute.String("server.address", s.Server),
			attribute.Int("brine.regions", s.Regions), attribute.Int("brine.rows", s.Rows), attribute.Int("brine.rows_again", s.Again)))
		if s.Err != nil {
			span.SetStatus(codes.Error, s.Err.Error())
		}
		span.End(trace.WithTimestamp(s.Left.Add(s.Duration)))
	}
}
