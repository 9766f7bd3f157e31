package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"brine/service/mapstore"
)

// Maps registers the metrics of the history of maps, and returns the hooks that feed them.
func Maps(reg prometheus.Registerer) mapstore.Hooks {
	written := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "brine_map_history_buckets_total",
		Help: "Buckets of the history of maps that were written: a minute of a table, or what is made of several."})
	failed := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "brine_map_history_failures_total",
		Help: "Minutes in which the history of maps could not be written, or not all of it. Pipelines go on, and it is written later."})
	reg.MustRegister(written, failed)
	return mapstore.Hooks{Written: written.Inc, Failed: failed.Inc}
}
