package metrics

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"brine/indexer"
)

// For a document that is shown, both times count, from its record's timestamp and from when it was durable. One that was given up is only
// counted, because its time is unknown.
func TestProbesCount(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	probe := NewIndexer(reg, NewIngest(reg)).Hooks("shop").Probe
	made := time.UnixMilli(1_700_000_000_000)
	taken := made.Add(2 * time.Second)
	for outcome, ended := range map[indexer.ProbeOutcome]time.Time{
		indexer.Shown: taken.Add(time.Second), indexer.NotShown: taken.Add(time.Minute), indexer.Unanswered: taken.Add(time.Minute),
	} {
		probe(indexer.ProbeInfo{Flight: inTrace(), Index: "orders", Outcome: outcome, Produced: made.UnixMilli(), Durable: taken, Ended: ended})
	}
	probe(indexer.ProbeInfo{Flight: context.Background(), Index: "orders", Outcome: indexer.Shown, Durable: taken, Ended: taken.Add(time.Second)}) // no timestamp, no age
	if err := testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP brine_index_probes_total Documents that were searched for until they were found, by outcome: shown; not_shown (not found within a minute); unanswered (no answer from the search engine at the end of the minute).
# TYPE brine_index_probes_total counter
brine_index_probes_total{index="orders",outcome="not_shown",pipeline="shop"} 1
brine_index_probes_total{index="orders",outcome="shown",pipeline="shop"} 2
brine_index_probes_total{index="orders",outcome="unanswered",pipeline="shop"} 1
`), "brine_index_probes_total"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]struct {
		n   uint64
		sum float64
	}{"brine_freshness_seconds": {1, 3}, "brine_index_searchable_delay_seconds": {2, 2}} {
		h := histogramOf(t, reg, name)
		if h.GetSampleCount() != want.n || h.GetSampleSum() != want.sum {
			t.Errorf("%s: %d times, in sum %v; want %d and %v", name, h.GetSampleCount(), h.GetSampleSum(), want.n, want.sum)
		}
		traces := 0
		for _, b := range h.Bucket {
			if b.Exemplar != nil {
				traces++
			}
		}
		if traces != 1 {
			t.Errorf("%s: %d exemplars, want that of the sampled flight", name, traces)
		}
	}
}

// histogramOf returns the only series of a histogram that has observations.
func histogramOf(t *testing.T, reg *prometheus.Registry, name string) *dto.Histogram {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == name && m.Histogram.GetSampleCount() > 0 {
				return m.Histogram
			}
		}
	}
	t.Fatalf("no series of %s", name)
	return nil
}
