package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"brine/event"
	"brine/ingest"
)

// maxFollowed is the most records of one flight that are followed.
const maxFollowed = 16

// nothing is the end of a flight in which no record is followed.
var nothing = func(bool) {}

// Flight returns the hook that follows the flights of a loop.
func (t *Tracer) Flight(pipeline, half string) func(context.Context, ingest.FlightInfo) (context.Context, func(bool)) {
	loop := []attribute.KeyValue{attribute.String("brine.pipeline", pipeline), attribute.String("brine.half", half)}
	return func(ctx context.Context, i ingest.FlightInfo) (context.Context, func(bool)) {
		var picked [maxFollowed]int
		n := t.pick(i.Records, &picked)
		if n == 0 {
			return ctx, nothing
		}
		return t.begin(ctx, loop, i.Records, picked[:n])
	}
}

// pick chooses the records to follow, and sets picked to their indexes.
func (t *Tracer) pick(records []event.Record, picked *[maxFollowed]int) (n int) {
	end := t.seen.Add(int64(len(records)))
	due := len(records) // the index of the next record that OneIn selects
	if t.oneIn > 0 {
		due = int((t.oneIn - (end-int64(len(records)))%t.oneIn) % t.oneIn)
	}
	for i := range records {
		asked, sampled := wish(&records[i])
		if i == due {
			due += int(t.oneIn)
			sampled = sampled || !asked
		}
		if sampled && n < maxFollowed {
			picked[n] = i
			n++
		}
	}
	return n
}

const parentHeader = "traceparent"

// wish returns whether a record's producer has set a traceparent, and whether the record is sampled. A traceparent is
// VERSION-TRACE-PARENT-FLAGS in hexadecimal; the last bit of the flags means sampled.
func wish(rec *event.Record) (asked, sampled bool) {
	const flags = 53
	for _, h := range rec.Headers {
		if h.Key == parentHeader && len(h.Value) >= flags+2 {
			low := h.Value[flags+1]
			return true, low&1 == 1 == (low <= '9') // 'a' is 97, which is odd, and stands for 10
		}
	}
	return false, false
}

// headers makes a record's headers available to OpenTelemetry.
type headers []event.Header

// Get implements propagation.TextMapCarrier.
func (h headers) Get(key string) string {
	for _, x := range h {
		if x.Key == key {
			return string(x.Value)
		}
	}
	return ""
}

// Set implements propagation.TextMapCarrier. It does nothing, because records are only read.
func (headers) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (h headers) Keys() []string {
	keys := make([]string, len(h))
	for i, x := range h {
		keys[i] = x.Key
	}
	return keys
}

// begin starts the spans of a flight and of the picked records.
func (t *Tracer) begin(ctx context.Context, loop []attribute.KeyValue, records []event.Record, picked []int) (context.Context, func(bool)) {
	first, span := t.record(ctx, loop, &records[picked[0]])
	spans := []trace.Span{span}
	flightCtx, flight := t.tracer.Start(first, "flight", trace.WithAttributes(loop...), trace.WithAttributes(
		attribute.Int("messaging.batch.message_count", len(records)),
		attribute.Int64("messaging.kafka.offset", records[0].Offset)))
	for _, i := range picked[1:] {
		_, span := t.record(ctx, loop, &records[i], trace.WithLinks(trace.Link{SpanContext: flight.SpanContext()}))
		spans = append(spans, span)
	}
	return flightCtx, func(settled bool) {
		if !settled {
			flight.SetStatus(codes.Error, "given up: the partition was taken away, or halted")
		}
		flight.End()
		for _, s := range spans {
			s.End()
		}
	}
}

// record starts a record's span, in its producer's trace if it has one.
func (t *Tracer) record(ctx context.Context, loop []attribute.KeyValue, rec *event.Record,
	opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	ctx = propagation.TraceContext{}.Extract(ctx, headers(rec.Headers))
	return t.tracer.Start(ctx, "record "+rec.Topic, append(opts, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(loop...), trace.WithAttributes(
			attribute.String("messaging.system", "kafka"),
			attribute.String("messaging.destination.name", rec.Topic),
			attribute.Int("messaging.destination.partition.id", rec.Partition),
			attribute.Int64("messaging.kafka.offset", rec.Offset)))...)
}
