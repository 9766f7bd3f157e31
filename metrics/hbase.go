// Package metrics adapts the hooks of the other packages to Prometheus collectors.
//
// The invariant: label values come from closed sets or are bounded by the configuration (tables, pipelines, servers). They never come from
// a key, an error's text or a region without a bound.
package metrics

//go:generate go test -run TestReferenceIsCurrent . -update

import (
	"github.com/prometheus/client_golang/prometheus"

	"brine/hbase"
	"brine/skew"
)

// HBase registers the client's metrics, and returns the hooks that feed them and the skew counters.
func HBase(reg prometheus.Registerer, tables *skew.Tables) hbase.Hooks {
	duration := prometheus.NewHistogramVec(timing("brine_hbase_call_duration_seconds", "Time from sending a call to its answer.", callBuckets),
		[]string{"method", "outcome"})
	servers := newByServer()
	callRows := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "brine_hbase_call_rows",
		Help:    "Mutations per call, over all its regions.",
		Buckets: prometheus.ExponentialBuckets(1, 4, 8), // 1 … 16384
	})
	sent := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_hbase_sent_bytes_total", Help: "Bytes of the calls sent.",
	}, []string{"method"})
	retries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_hbase_retries_total",
		Help: "Times that a region's mutations or a read were sent again, by class of failure and remedy.",
	}, []string{"class", "remedy"})
	retried := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "brine_hbase_retried_mutations_total", Help: "Mutations that were sent again.",
	})
	rows := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_hbase_acknowledged_rows_total", Help: "Mutations that a region server acknowledged.",
	}, []string{"table"})
	bytes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_hbase_acknowledged_bytes_total", Help: "Bytes of the cells that a region server acknowledged.",
	}, []string{"table"})
	flushes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_hbase_flushes_total", Help: "Flushes of waiting mutations, by reason.",
	}, []string{"reason"})
	perCall := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "brine_hbase_region_batch_rows",
		Help:    "Mutations per region in an answered call.",
		Buckets: prometheus.ExponentialBuckets(1, 4, 7), // 1 … 4096; a call takes at most 2048 rows
	})
	buffered := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "brine_hbase_buffered_bytes", Help: "Bytes of mutations in memory that are not yet acknowledged.",
	})
	dials := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "brine_hbase_dials_total", Help: "Connections opened, by outcome.",
	}, []string{"outcome"})
	waited := prometheus.NewHistogram(timing("brine_hbase_send_wait_seconds",
		"Time from the submission of a call's oldest mutation to the call: gathering, waiting for the region's previous call, pauses after "+
			"failures.",
		// From a free lane (0.1 ms) to long backoffs (20 s) and more.
		[]float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 20, 60}))
	zeroClient(retries, flushes, dials)
	reg.MustRegister(servers.vec, callRows, waited, duration, sent, retries, retried, rows, bytes, flushes, perCall, buffered, dials)

	written := &byTable{rows: rows, bytes: bytes, tables: tables, known: map[string]*tableSeries{}}
	return hbase.Hooks{
		Call: func(c hbase.CallInfo) {
			duration.WithLabelValues(c.Method, outcome(c.Err)).Observe(c.Duration.Seconds())
			sent.WithLabelValues(c.Method).Add(float64(c.Sent))
		},
		Send: func(s hbase.SendInfo) { waited.Observe(s.Waited.Seconds()) },
		Sent: func(s *hbase.SentInfo) {
			observe(sampled(s.Contexts), servers.of(s.Server), s.Duration)
			callRows.Observe(float64(s.Rows))
		},
		Retry: func(r hbase.RetryInfo) {
			retries.WithLabelValues(r.Reason(), r.Remedy).Inc()
			retried.Add(float64(r.Mutations))
			if r.Region != "" && r.Mutations > 0 {
				tables.Counter(r.Table, skew.Shape{}).AddRetries(r.Region, int64(r.Mutations))
			}
		},
		Applied: func(a *hbase.AppliedInfo) {
			t := written.of(a.Table)
			t.rows.Add(float64(a.Rows))
			t.bytes.Add(float64(a.Bytes))
			perCall.Observe(float64(a.Rows))
			t.skew.Add(skew.Batch{
				Region: Region(a.Region), Rows: a,
				Count: skew.Count{Rows: int64(a.Rows), Bytes: int64(a.Bytes), Time: a.Duration},
			})
		},
		Read: func(i hbase.ReadInfo) {
			if c := tables.Known(i.Region.Table); c != nil && i.Region.Replica == 0 {
				c.AddRead(Region(i.Region), i.Duration)
			}
		},
		Flush:    func(f hbase.FlushInfo) { flushes.WithLabelValues(string(f.Reason)).Inc() },
		Buffered: func(i hbase.BufferedInfo) { buffered.Add(float64(i.Change)) },
		Dial:     func(i hbase.DialInfo) { dials.WithLabelValues(outcome(i.Err)).Inc() },
	}
}

// Region converts a region to the form of the skew counters.
func Region(r *hbase.Region) skew.Region {
	return skew.Region{Name: r.Encoded, ID: r.ID, Start: r.Start, End: r.End, Server: r.Server}
}

func outcome(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
