package metrics

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// The stages at which the age of a record is measured.
const (
	durable    = "durable"    // it is settled, in the store or in the dead letters
	searchable = "searchable" // a search finds its document
)

// freshness collects the ages of records by loop and stage.
type freshness struct {
	desc *prometheus.Desc

	mu  sync.Mutex
	all []*ages
}

func newFreshness() *freshness {
	return &freshness{desc: prometheus.NewDesc("brine_freshness_seconds",
		"Age of records by their own timestamps, at each stage: durable, when a record was in the store or in the dead letters (every "+
			"record); searchable, when a search found its document (one record per index every 5 s: search.probe).",
		[]string{"pipeline", "half", "stage"}, nil)}
}

// of returns the histogram of a stage of a loop. The first call creates it.
func (f *freshness) of(labels ...string) *ages {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.all, func(a *ages) bool { return slices.Equal(a.labels, labels) }); i >= 0 {
		return f.all[i]
	}
	a := newAges(f.desc, labels...)
	f.all = append(f.all, a)
	return a
}

// Describe implements prometheus.Collector.
func (f *freshness) Describe(ch chan<- *prometheus.Desc) { ch <- f.desc }

// Collect implements prometheus.Collector.
func (f *freshness) Collect(ch chan<- prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.all {
		ch <- a
	}
}
