package metrics

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// durable is the stage at which the age of a record counts: it is settled, in the store or in the dead letters.
const durable = "durable"

// freshness collects the ages of records by loop and stage.
type freshness struct {
	desc *prometheus.Desc

	mu  sync.Mutex
	all []*ages
}

func newFreshness() *freshness {
	return &freshness{desc: prometheus.NewDesc("brine_freshness_seconds",
		"Age of each record, by its own timestamp, when it was durable in the store or in the dead letters. A document is found as soon as the index is refreshed after that: see search.refresh.",
		[]string{"pipeline", "half", "stage"}, nil)}
}

// of gives the histogram of a stage of a loop; the first call makes it.
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
