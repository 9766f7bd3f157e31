package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"brine/event"
	"brine/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// traced returns a record with a traceparent with these flags.
func traced(offset int64, flags string) event.Record {
	return event.Record{Topic: "scans", Offset: offset, Headers: []event.Header{
		{Key: "other", Value: []byte("x")},
		{Key: "traceparent", Value: fmt.Appendf(nil, "00-%032x-%016x-%s", offset+1, 7, flags)},
	}}
}

// spans follows one flight and returns its spans by name, sorted.
func spans(t *testing.T, oneIn int, settled bool, records ...event.Record) tracetest.SpanStubs {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdk.WithSyncer(kept), Options{OneIn: oneIn})
	_, landed := tracer.Flight("scans", "rows")(t.Context(), ingest.FlightInfo{Partition: 3, Records: records})
	landed(settled)
	got := kept.GetSpans()
	slices.SortStableFunc(got, func(a, b tracetest.SpanStub) int { return strings.Compare(a.Name, b.Name) })
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSampledRecordsAreFollowedInTheirProducersTrace(t *testing.T) {
	got := spans(t, 0, true, event.Record{Offset: 1}, traced(2, "01"), traced(3, "00"), traced(4, "03"), traced(5, "0a"), traced(6, "0b"))
	if len(got) != 4 {
		t.Fatalf("%d spans, want the flight and three records: %v", len(got), got)
	}
	flight, first := got[0], got[1]
	if first.SpanContext.TraceID().String() != fmt.Sprintf("%032x", 3) || first.Parent.SpanID().String() != fmt.Sprintf("%016x", 7) {
		t.Errorf("the first record is in trace %s below %s", first.SpanContext.TraceID(), first.Parent.SpanID())
	}
	if flight.Name != "flight" || flight.Parent.SpanID() != first.SpanContext.SpanID() || flight.SpanContext.TraceID() != first.SpanContext.TraceID() {
		t.Errorf("%s is below %s, not the first record", flight.Name, flight.Parent.SpanID())
	}
	for _, other := range got[2:] {
		if len(other.Links) != 1 || other.Links[0].SpanContext.SpanID() != flight.SpanContext.SpanID() {
			t.Errorf("%s has links %v, want one to the flight", other.Name, other.Links)
		}
	}
}

func TestRecordsWithoutATraceAreFollowedNowAndThen(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdk.WithSyncer(kept), Options{OneIn: 100})
	follow := tracer.Flight("scans", "rows")
	for i := range 50 {
		records := make([]event.Record, 1+i*7%40)
		for j := range records {
			records[j].Topic = "scans"
		}
		_, landed := follow(t.Context(), ingest.FlightInfo{Records: records})
		landed(true)
	}
	n := 0
	for _, s := range kept.GetSpans() {
		if s.Name == "record scans" {
			n++
		}
	}
	if want := int((tracer.seen.Load() + 99) / 100); n != want || n < 5 {
		t.Errorf("%d of %d records were followed, want %d", n, tracer.seen.Load(), want)
	}
	if got := spans(t, 1, true, traced(2, "00")); len(got) != 0 {
		t.Errorf("a record that its producer does not sample is followed: %v", got)
	}
	if got := spans(t, 1, true, make([]event.Record, 1000)...); len(got) != maxFollowed+1 {
		t.Errorf("%d spans of one flight, want %d", len(got), maxFollowed+1)
	}
}

func TestFlightsThatAreGivenUpSaySo(t *testing.T) {
	got := spans(t, 1, false, event.Record{})
	if got[0].Status.Description == "" {
		t.Errorf("the flight's status is %v", got[0].Status)
	}
}

// Whatever a header contains, nothing breaks.
func FuzzTraceparent(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Add("00-00000000000000000000000000000000-0000000000000000-01")
	f.Add("ff-\xff")
	tracer := newTracer(sdk.WithSyncer(tracetest.NewNoopExporter()), Options{})
	f.Fuzz(func(t *testing.T, value string) {
		records := []event.Record{{Headers: []event.Header{{Key: parentHeader, Value: []byte(value)}}}}
		_, landed := tracer.Flight("p", "rows")(context.Background(), ingest.FlightInfo{Records: records})
		landed(true)
	})
}

// A missing or refusing collector costs nothing but its spans, and is reported.
func TestCollectorsThatDoNotTakeSpans(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadRequest) }))
	defer refusing.Close()
	for _, to := range []string{refusing.URL, "http://127.0.0.1:1"} {
		reported := make(chan error, 10)
		tracer, err := Open(Options{To: to, OneIn: 1, Failed: func(err error) { reported <- err }})
		if err != nil {
			t.Fatal(err)
		}
		_, landed := tracer.Flight("p", "rows")(t.Context(), ingest.FlightInfo{Records: make([]event.Record, 3)})
		landed(true)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err = tracer.Close(ctx)
		cancel()
		if err == nil {
			select {
			case err = <-reported:
			default:
			}
		}
		if err == nil {
			t.Errorf("it is not reported that %s takes no spans", to)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSpansAreDelivered(t *testing.T) {
	posts := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { posts <- r.URL.Path }))
	defer collector.Close()
	file := filepath.Join(t.TempDir(), "spans.json")
	for _, to := range []string{collector.URL, "file:" + file} {
		tracer, err := Open(Options{To: to, OneIn: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, landed := tracer.Flight("p", "rows")(t.Context(), ingest.FlightInfo{Records: []event.Record{{Topic: "scans"}}})
		landed(true)
		if err := tracer.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if path := <-posts; path != "/v1/traces" {
		t.Errorf("spans were posted to %s", path)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), `"record scans"`) || !strings.Contains(string(text), `"flight"`) {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the spans: %v, %v", info.Mode(), err)
	}
}

func TestWhereSpansCannotGo(t *testing.T) {
	for _, to := range []string{"", "localhost:4318", "grpc://x:1", "http://", "file:" + filepath.Join(t.TempDir(), "no", "such", "folder")} {
		if tracer, err := Open(Options{To: to}); err == nil {
			t.Errorf("no error for %q", to)
			_ = tracer.Close(t.Context())
		} else if !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "file:PATH") {
			t.Errorf("%q: %v", to, err)
		}
	}
}

func TestNothingIsAllocatedWhereNothingIsFollowed(t *testing.T) {
	tracer := newTracer(sdk.WithSyncer(tracetest.NewNoopExporter()), Options{OneIn: 1 << 40})
	tracer.seen.Store(1)
	records := slices.Repeat([]event.Record{traced(1, "00")}, 1000)
	follow := tracer.Flight("scans", "rows")
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		_, landed := follow(ctx, ingest.FlightInfo{Records: records})
		landed(true)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFlight(b *testing.B) {
	for _, c := range []struct {
		name   string
		oneIn  int
		record event.Record
	}{
		{"unsampled", 1 << 40, event.Record{}}, {"unsampled by its producer", 1 << 40, traced(1, "00")}, {"one in 10000", 10_000, event.Record{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			tracer := newTracer(sdk.WithSyncer(tracetest.NewNoopExporter()), Options{OneIn: c.oneIn})
			records := slices.Repeat([]event.Record{c.record}, 1000)
			follow := tracer.Flight("scans", "rows")
			b.ReportAllocs()
			for b.Loop() {
				_, landed := follow(context.Background(), ingest.FlightInfo{Records: records})
				landed(true)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
		})
	}
}
