package metrics

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/trace"

	"brine/event"
	"brine/ingest"
)

func read(t *testing.T, m prometheus.Metric) *dto.Histogram {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Histogram
}

// Ages of any order and size are counted as client_golang's own histogram counts them one by one, in both forms.
func TestAgesAreCountedAsBySingleObservations(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	rnd := rand.New(rand.NewPCG(1, 2))
	reference := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x", Buckets: ageBuckets, NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: ageZero})
	a := newAges(newFreshness().desc, "p", "rows", durable)
	for flight := range 100 {
		var records []event.Record
		base := math.Exp(rnd.Float64() * 25) // up to two years
		for range rnd.IntN(2000) {
			age := int64(base * (1 + rnd.Float64()/50)) // often in one cell
			switch {
			case flight%2 == 0:
			case rnd.IntN(4) == 0:
				age = rnd.Int64N(12)
			default:
				age = int64(math.Exp(rnd.Float64() * 25))
			}
			records = append(records, event.Record{Timestamp: now.UnixMilli() - age})
			reference.Observe(float64(age) / 1000)
		}
		a.observe(context.Background(), now, records, ingest.TimesOf(records))
	}
	got, want := read(t, a), read(t, reference)
	if got.GetSampleCount() != want.GetSampleCount() || math.Abs(got.GetSampleSum()-want.GetSampleSum()) > 1 || got.GetZeroCount() != want.GetZeroCount() || got.GetSchema() != want.GetSchema() {
		t.Errorf("got %d of sum %f, %d of them zero; want %d of sum %f, %d of them zero", got.GetSampleCount(), got.GetSampleSum(), got.GetZeroCount(), want.GetSampleCount(), want.GetSampleSum(), want.GetZeroCount())
	}
	for i, b := range want.Bucket {
		if g := got.Bucket[i]; g.GetUpperBound() != b.GetUpperBound() || g.GetCumulativeCount() != b.GetCumulativeCount() {
			t.Errorf("up to %v s: %d, want %d", b.GetUpperBound(), g.GetCumulativeCount(), b.GetCumulativeCount())
		}
	}
	g, w := native(got), native(want)
	for i := range w {
		if g[i] != w[i] {
			t.Errorf("native bucket %d: %d, want %d", i, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%d native buckets, want %d", len(g), len(w))
	}
}

// native returns the counts of a native histogram's positive buckets.
func native(h *dto.Histogram) map[int32]int64 {
	out := map[int32]int64{}
	i, n, d := int32(0), int64(0), 0
	for _, span := range h.PositiveSpan {
		i += span.GetOffset()
		for range span.GetLength() {
			n += h.PositiveDelta[d]
			d++
			if n > 0 {
				out[i] = n
			}
			i++
		}
	}
	return out
}

func TestClockJumpsMakeNoNegativeAges(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	a := newAges(newFreshness().desc, "p", "rows", durable)
	observe := func(ctx context.Context, now time.Time, records ...event.Record) {
		a.observe(ctx, now, records, ingest.TimesOf(records))
	}
	observe(t.Context(), now, event.Record{Timestamp: now.UnixMilli() + 3_600_000}, event.Record{Timestamp: -1}, event.Record{}, event.Record{Timestamp: math.MaxInt64}, event.Record{Timestamp: 1})
	h := read(t, a)
	if h.GetSampleCount() != 3 || h.GetZeroCount() != 2 || h.GetSampleSum() != 1_699_999_999.999 {
		t.Errorf("%d ages, %d of them 0, sum %v; want 3 (two have no timestamp), 2 of them 0 and one of 53 years", h.GetSampleCount(), h.GetZeroCount(), h.GetSampleSum())
	}
	observe(t.Context(), now.Add(-100*365*24*time.Hour), event.Record{Timestamp: 1}) // the clock is set back to before 1970
	if h := read(t, a); h.GetZeroCount() != 3 {
		t.Errorf("%d ages of 0, want 3", h.GetZeroCount())
	}
}

// inTrace returns a context with a sampled trace.
func inTrace() context.Context {
	return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0xab}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled}))
}

func TestSampledFlightsBecomeExemplars(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	a := newAges(newFreshness().desc, "p", "rows", durable)
	one := []event.Record{{Timestamp: now.UnixMilli() - 40}}
	a.observe(inTrace(), now, one, ingest.TimesOf(one))
	var found []string
	for _, b := range read(t, a).Bucket {
		if b.Exemplar != nil {
			found = append(found, b.Exemplar.Label[0].GetValue())
			if b.GetUpperBound() != .05 || b.Exemplar.GetValue() != .04 {
				t.Errorf("the exemplar is %v in the bucket up to %v", b.Exemplar.GetValue(), b.GetUpperBound())
			}
		}
	}
	if want := "ab000000000000000000000000000000"; len(found) != 1 || found[0] != want {
		t.Errorf("exemplars %v, want %s", found, want)
	}
}

func BenchmarkAgesOfABatch(b *testing.B) {
	now := time.Now()
	for name, step := range map[string]int64{"live": 0, "backlog": 60_000} {
		records := make([]event.Record, 1000)
		for i := range records {
			records[i].Timestamp = now.UnixMilli() - 50 - step*int64(i)
		}
		b.Run(name, func(b *testing.B) {
			a := newAges(newFreshness().desc, "p", "rows", durable)
			b.ReportAllocs()
			for b.Loop() {
				a.observe(context.Background(), now, records, ingest.TimesOf(records))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
		})
	}
}
