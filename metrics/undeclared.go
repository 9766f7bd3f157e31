package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"brine/event"
)

// undeclared collects which fields records have beside the declared ones. event.MostUndeclared bounds its series.
type undeclared struct {
	looked, fields *prometheus.Desc

	mu  sync.Mutex
	all map[[2]string]func() event.UndeclaredCounts // guarded by mu; by pipeline and half
}

func newUndeclared() *undeclared {
	return &undeclared{
		looked: prometheus.NewDesc("brine_ingest_looked_at_records_total",
			"Records whose fields were compared with the declared ones: one in 64.", []string{"pipeline", "half"}, nil),
		fields: prometheus.NewDesc("brine_ingest_undeclared_fields_total",
			"Records of brine_ingest_looked_at_records_total that hold a field the pipeline does not declare, by the field's path; (others) "+
				"counts fields beyond the first 100.", []string{"pipeline", "half", "field"}, nil),
		all: map[[2]string]func() event.UndeclaredCounts{},
	}
}

// Undeclared adds the undeclared fields of a loop's records to every scrape. A later call for the same loop replaces an earlier one.
func (m *Ingest) Undeclared(pipeline, half string, counts func() event.UndeclaredCounts) {
	m.undeclared.mu.Lock()
	defer m.undeclared.mu.Unlock()
	m.undeclared.all[[2]string{pipeline, half}] = counts
}

// Describe implements prometheus.Collector.
func (u *undeclared) Describe(ch chan<- *prometheus.Desc) { ch <- u.looked; ch <- u.fields }

// Collect implements prometheus.Collector.
func (u *undeclared) Collect(ch chan<- prometheus.Metric) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for of, counts := range u.all {
		c := counts()
		ch <- prometheus.MustNewConstMetric(u.looked, prometheus.CounterValue, float64(c.Looked), of[0], of[1])
		sums := map[string]int64{} // names may coincide once they are shortened
		if c.Others > 0 {
			sums["(others)"] = c.Others
		}
		for name, n := range c.Names {
			sums[label(name)] += n
		}
		for name, n := range sums {
			ch <- prometheus.MustNewConstMetric(u.fields, prometheus.CounterValue, float64(n), of[0], of[1], name)
		}
	}
}
