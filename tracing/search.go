package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"brine/event"
	"brine/search"
)

// Searcher returns a Searcher that makes a child span for each search of s within a sampled span.
func Searcher(s search.Searcher) search.Searcher { return searcher{s} }

type searcher struct{ search.Searcher }

// Search implements search.Searcher.
func (s searcher) Search(ctx context.Context, q search.Query) (search.Page, error) {
	within := trace.SpanFromContext(ctx)
	if !within.IsRecording() {
		return s.Searcher.Search(ctx, q)
	}
	ctx, span := within.TracerProvider().Tracer(library).Start(ctx, "search", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("db.operation.name", "search"), attribute.String("db.collection.name", q.Index),
		attribute.Int("brine.asked_documents", q.Limit())))
	defer span.End()
	page, err := s.Searcher.Search(ctx, q)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.SetAttributes(attribute.Int("db.response.returned_rows", len(page.Hits)))
	return page, err
}

// Sampled reports whether a traceparent belongs to a sampled trace.
func Sampled(traceparent string) bool {
	return trace.SpanContextFromContext(callers(context.Background(), traceparent)).IsSampled()
}

// Question starts the span of a question, in the trace of its asker. The returned context is for the work that answers the question;
// answered ends the span.
func (t *Tracer) Question(ctx context.Context, traceparent, name string) (_ context.Context, answered func(error)) {
	ctx, span := t.tracer.Start(callers(ctx, traceparent), name)
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

func callers(ctx context.Context, traceparent string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, headers{event.Header{Key: parentHeader, Value: []byte(traceparent)}})
}
