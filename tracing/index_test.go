package tracing

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"brine/event"
	"brine/indexer"
	"brine/indexer/embedded"
	"brine/indexer/indexertest"
	"brine/ingest"
	"brine/search"
)

// openIndex returns an embedded index with the orders' mapping, and the options of its writer.
func openIndex(t *testing.T) (indexer.Engine, indexer.Options) {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	opts := indexertest.Options(t, "orders", indexer.Partial)
	for _, m := range opts.Mappings() {
		if err := engine.EnsureIndex(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	return engine, opts
}

// Calls of the search engine are child spans of the flights whose documents they carry, if those flights are followed, and of no others.
func TestCallsOfTheSearchEngineAreBelowTheirFlights(t *testing.T) {
	engine, opts := openIndex(t)
	kept := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdk.WithSyncer(kept), Options{})
	opts.Calls = 1
	opts.Hooks.Call = tracer.Indexed
	w, err := indexer.New(engine, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	follow := tracer.Flight("shop", "documents")
	for offset, flags := range []string{"01", "00"} {
		rec := traced(int64(offset), flags)
		ctx, landed := follow(t.Context(), ingest.FlightInfo{Records: []event.Record{rec}})
		changes := []event.Event{indexertest.Event(1, "a", "paid"), indexertest.Event(2, "b", "sent")}
		failures, err := event.Settle(t.Context(), w.Submit(ctx, &event.Batch{Events: changes}))
		if err != nil || len(failures) > 0 {
			t.Fatalf("failures %v, error %v", failures, err)
		}
		landed(true)
	}
	spans := kept.GetSpans()
	slices.SortFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	if names := namesOf(spans); !slices.Equal(names, []string{"record scans", "flight", "get", "bulk"}) {
		t.Fatalf("spans %v", names)
	}
	flight, get, bulk := spans[1], spans[2], spans[3]
	for _, call := range []tracetest.SpanStub{get, bulk} {
		if call.Parent.SpanID() != flight.SpanContext.SpanID() || call.EndTime.After(flight.EndTime) || call.StartTime.Before(flight.StartTime) {
			t.Errorf("%s is below %s from %v to %v, the flight is %s from %v to %v", call.Name, call.Parent.SpanID(), call.StartTime, call.EndTime, flight.SpanContext.SpanID(), flight.StartTime, flight.EndTime)
		}
		if !slices.Contains(call.Attributes, attribute.Int("db.operation.batch.size", 2)) {
			t.Errorf("%s says %v, want two documents", call.Name, call.Attributes)
		}
	}
}

func namesOf(spans tracetest.SpanStubs) (names []string) {
	for _, s := range spans {
		names = append(names, s.Name)
	}
	return names
}

func TestSearchesAreBelowTheirQuestion(t *testing.T) {
	engine, _ := openIndex(t)
	kept := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdk.WithSyncer(kept), Options{})
	const asker = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx, answered := tracer.Question(t.Context(), asker, "query")
	s := Searcher(engine)
	if _, err := s.Search(ctx, search.Query{Index: "orders"}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Search(ctx, search.Query{Index: "none"})
	if !errors.Is(err, search.ErrNoIndex) {
		t.Errorf("error %v", err)
	}
	answered(err)
	if _, err := s.Search(t.Context(), search.Query{Index: "orders"}); err != nil {
		t.Fatal(err)
	}
	spans := kept.GetSpans()
	if names := namesOf(spans); !slices.Equal(names, []string{"search", "search", "query"}) {
		t.Fatalf("spans %v", names)
	}
	question := spans[2]
	if question.SpanContext.TraceID().String() != asker[3:35] || question.Parent.SpanID().String() != asker[36:52] || question.Status.Code != codes.Error {
		t.Errorf("the question is in trace %s below %s, and ended %v", question.SpanContext.TraceID(), question.Parent.SpanID(), question.Status)
	}
	for i, want := range []codes.Code{codes.Unset, codes.Error} {
		if s := spans[i]; s.Parent.SpanID() != question.SpanContext.SpanID() || s.Status.Code != want {
			t.Errorf("search %d is below %s, and ended %v", i, s.Parent.SpanID(), s.Status)
		}
	}
}

func TestAQuestionIsFollowedIfItsAskerIs(t *testing.T) {
	for parent, want := range map[string]bool{
		"": false, "nonsense": false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": true,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00": false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": false,
	} {
		if Sampled(parent) != want {
			t.Errorf("%q: followed is %v, want %v", parent, !want, want)
		}
	}
}

// none is an index without documents.
type none struct{}

func (none) Search(context.Context, search.Query) (search.Page, error) { return search.Page{}, nil }

func TestSearchesAndCallsOfNoTraceAllocateNothing(t *testing.T) {
	tracer := newTracer(sdk.WithSyncer(tracetest.NewNoopExporter()), Options{})
	s, ctx, q := Searcher(none{}), context.Background(), search.Query{Index: "orders"}
	call := &indexer.CallInfo{Kind: indexer.CallBulk, Documents: 3, Left: time.Now()}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := s.Search(ctx, q); err != nil {
			t.Error(err)
		}
		tracer.Indexed(call)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSearchOfNoTrace(b *testing.B) {
	s, ctx, q := Searcher(none{}), context.Background(), search.Query{Index: "orders"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Search(ctx, q); err != nil {
			b.Fatal(err)
		}
	}
}
