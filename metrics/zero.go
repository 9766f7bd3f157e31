package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
)

// A counter by reason that appears with the first event of its kind starts at 1: rate and increase miss the step from nothing to 1, and an
// alert on the budget misses the event. So the counters of closed sets start at 0.
var (
	retryReasons = []event.Reason{event.Unavailable, event.Awaited, event.Refused, event.Unknown}
	waitReasons  = []event.Reason{event.Unavailable, event.Denied, ingest.OffsetGone, ingest.CorruptData, ingest.DeadLettersDown,
		ingest.OtherConfiguration}
	haltReasons = []event.Reason{event.NoTable, event.Denied, event.Refused, event.MappingRefused, event.Unknown, ingest.OffsetGone,
		ingest.TopicRecreated, ingest.AllRejected, event.BreakingSchema}
)

// byReason returns the counters of a loop by reason. Those of the given reasons exist at once, others when they first count.
func byReason[R ~string](v *prometheus.CounterVec, pipeline, half string, reasons []R) func(R) prometheus.Counter {
	of := func(r R) prometheus.Counter { return v.WithLabelValues(pipeline, half, string(r)) }
	for _, r := range reasons {
		of(r)
	}
	return of
}

func zeroClient(retries, flushes, dials *prometheus.CounterVec) {
	for _, r := range hbase.Retries() {
		retries.WithLabelValues(r.Reason, r.Remedy)
	}
	for _, r := range []hbase.FlushReason{hbase.FlushAuto, hbase.FlushFull, hbase.FlushLinger, hbase.FlushCalled, hbase.FlushDrain} {
		flushes.WithLabelValues(string(r))
	}
	for _, err := range []error{nil, hbase.ErrClosed} {
		dials.WithLabelValues(outcome(err))
	}
}
