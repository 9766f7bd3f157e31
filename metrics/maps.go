package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"brine/service/mapstore"
)

// Maps registers the metrics of the history of maps, and returns the hooks that feed them.
func Maps(reg prometheus.Registerer) mapstore.Hooks {
	written := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "brine_map_history_buckets_total",
		Help: "Buckets written to the history of maps: one minute of a table, or several combined."})
	failed := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "brine_map_history_failures_total",
		Help: "Minutes in which the history of maps could not be written in full. Pipelines go on, and it is written later."})
	reg.MustRegister(written, failed)
	return mapstore.Hooks{Written: written.Inc, Failed: failed.Inc}
}
