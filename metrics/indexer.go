package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"brine/event"
	"brine/indexer"
	"brine/ingest"
)

// Indexer holds the metrics of all index writers; each pipeline gets its hooks from Hooks.
type Indexer struct {
	duration, perCall, delay                 *prometheus.HistogramVec
	documents, sent, retries, resent, probes *prometheus.CounterVec
	buffered                                 *prometheus.GaugeVec
	fresh                                    *freshness
}

// NewIndexer registers the metrics of the index writers. They continue the freshness of the loops' records from durable to searchable.
func NewIndexer(reg prometheus.Registerer, loops *Ingest) *Indexer {
	m := &Indexer{
		fresh: loops.fresh,
		duration: prometheus.NewHistogramVec(timing("brine_index_call_duration_seconds",
			"Time from sending a call to the search engine to its answer.", callBuckets), []string{"pipeline", "call", "outcome"}),
		perCall: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "brine_index_call_documents", Help: "Documents per call.", Buckets: prometheus.ExponentialBuckets(1, 4, 8),
		}, []string{"pipeline", "call"}),
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "brine_index_documents_total", Help: "Events by the outcome of their document in a round of calls.",
		}, []string{"pipeline", "index", "outcome"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "brine_index_sent_bytes_total", Help: "Bytes of documents sent.",
		}, []string{"pipeline"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "brine_index_retries_total", Help: "Pauses before documents were sent again.",
		}, []string{"pipeline"}),
		resent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "brine_index_retried_documents_total", Help: "Documents that were sent again.",
		}, []string{"pipeline"}),
		buffered: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "brine_index_buffered_bytes", Help: "Bytes of documents in memory that the search engine has not answered yet.",
		}, []string{"pipeline"}),
		delay: prometheus.NewHistogramVec(timing("brine_index_searchable_delay_seconds",
			"Time from when the index accepted a document until a search found it, for one document every 5 s (search.probe): mostly the time "+
				"until the index's next refresh (search.refresh).",
			[]float64{.01, .025, .05, .1, .25, .5, 1, 1.5, 2.5, 5, 10, 30, 60}), []string{"pipeline", "index"}),
		probes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "brine_index_probes_total",
			Help: "Documents that were searched for until they were found, by outcome: shown; not_shown (not found within a minute); unanswered " +
				"(no answer from the search engine at the end of the minute).",
		}, []string{"pipeline", "index", "outcome"}),
	}
	reg.MustRegister(m.duration, m.perCall, m.documents, m.sent, m.retries, m.resent, m.buffered, m.delay, m.probes)
	return m
}

// Hooks returns the hooks of one pipeline's index writer.
func (m *Indexer) Hooks(pipeline string) indexer.Hooks {
	sent, retries, resent, buffered := m.sent.WithLabelValues(pipeline), m.retries.WithLabelValues(pipeline),
		m.resent.WithLabelValues(pipeline), m.buffered.WithLabelValues(pipeline)
	return indexer.Hooks{
		Call: func(c *indexer.CallInfo) {
			observe(sampled(c.Contexts), m.duration.WithLabelValues(pipeline, string(c.Kind), outcome(c.Err)), c.Duration)
			m.perCall.WithLabelValues(pipeline, string(c.Kind)).Observe(float64(c.Documents))
			sent.Add(float64(c.Bytes))
		},
		Items: func(i indexer.ItemsInfo) {
			m.documents.WithLabelValues(pipeline, i.Index, string(i.Outcome)).Add(float64(i.Events))
		},
		Retry: func(r indexer.RetryInfo) {
			retries.Inc()
			resent.Add(float64(r.Documents))
		},
		Buffered: func(i indexer.BufferedInfo) { buffered.Add(float64(i.Change)) },
		Probe:    m.probe(pipeline),
	}
}

// probe returns the hook that measures how soon documents become searchable.
func (m *Indexer) probe(pipeline string) func(indexer.ProbeInfo) {
	age := m.fresh.of(pipeline, "documents", searchable)
	return func(i indexer.ProbeInfo) {
		m.probes.WithLabelValues(pipeline, i.Index, string(i.Outcome)).Inc()
		if i.Outcome != indexer.Shown {
			return
		}
		observe(i.Flight, m.delay.WithLabelValues(pipeline, i.Index), i.Ended.Sub(i.Durable))
		one := []event.Record{{Timestamp: i.Produced}}
		age.observe(i.Flight, i.Ended, one, ingest.TimesOf(one))
	}
}
