package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"brine/sink"
)

// Sink holds the metrics of all HBase writers; each pipeline gets its hooks from Hooks.
type Sink struct {
	collisions, expired, ties *prometheus.CounterVec
}

// NewSink registers the metrics of the HBase writers.
func NewSink(reg prometheus.Registerer) *Sink {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"pipeline"}, labels...))
		reg.MustRegister(c)
		return c
	}
	return &Sink{
		collisions: counter("brine_sink_key_collisions_total",
			"Events that shared a row key with a different event, in a table whose rows are events.", "table"),
		expired: counter("brine_sink_expired_events_total", "Events older than the TTL of a family they were written to: HBase hides them.",
			"table", "family"),
		ties: counter("brine_sink_version_ties_total", "Cells written twice with the same version and different values: the last applied wins.",
			"table"),
	}
}

// Hooks returns the hooks of one pipeline's writer of these rows.
func (m *Sink) Hooks(pipeline string, rows ...sink.Rows) sink.Hooks {
	for i := range rows { // as in zero.go
		t := &rows[i].Table
		m.collisions.WithLabelValues(pipeline, t.Name)
		m.ties.WithLabelValues(pipeline, t.Name)
		for family := range t.TTL {
			m.expired.WithLabelValues(pipeline, t.Name, family)
		}
	}
	return sink.Hooks{
		Collision: func(i sink.CollisionInfo) { m.collisions.WithLabelValues(pipeline, i.Table).Inc() },
		Expired:   func(i sink.ExpiredInfo) { m.expired.WithLabelValues(pipeline, i.Table, i.Family).Inc() },
		Tie:       func(i sink.TieInfo) { m.ties.WithLabelValues(pipeline, i.Table).Inc() },
	}
}

// Build returns the constant 1, labelled with the running version.
func Build(version string) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "brine_build_info", Help: "The constant 1, labelled with the version that runs.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	g.Set(1)
	return g
}
