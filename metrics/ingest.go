package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/event"
	"brine/ingest"
	"brine/pressure"
)

// Ingest holds the metrics of all ingest loops; each loop gets its hooks from Hooks.
type Ingest struct {
	fetched, fetchedBytes, decoded, submitted, settled, retried, dead, leftOut, waits, halts, redelivered, rebalances, joinFailures, abandoned,
	filtered,
	skipped, commits, commitFailures *prometheus.CounterVec

	steps     *prometheus.HistogramVec
	batch     *prometheus.HistogramVec
	fresh     *freshness
	positions positions

	undeclared *undeclared
}

var steps = []ingest.Step{ingest.StepFetch, ingest.StepRoom, ingest.StepDecode, ingest.StepSubmit, ingest.StepSettle, ingest.StepCommit}

// NewIngest registers the metrics of the ingest loops.
func NewIngest(reg prometheus.Registerer) *Ingest {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"pipeline", "half"}, labels...))
		reg.MustRegister(c)
		return c
	}
	m := &Ingest{
		fetched:      counter("brine_ingest_fetched_records_total", "Records that brokers returned, without those of aborted transactions."),
		fetchedBytes: counter("brine_ingest_fetched_bytes_total", "Bytes of the records that brokers returned."),
		decoded:      counter("brine_ingest_decoded_events_total", "Records that became events."),
		submitted:    counter("brine_ingest_submitted_events_total", "Events handed to the writer for the first time."),
		settled:      counter("brine_ingest_settled_records_total", "Records that are durable in the store or in the dead letters."),
		retried:      counter("brine_ingest_retried_events_total", "Events submitted again after a retry verdict, by reason.", "reason"),
		dead:         counter("brine_ingest_dead_letters_total", "Records durable in the dead letters, by reason.", "reason"),
		leftOut: counter("brine_ingest_left_out_events_total",
			"Valid events that write nothing, by reason.", "reason"),
		filtered: counter("brine_ingest_filtered_events_total",
			"Events that the when condition of a row or document excluded, by table or index.", "target"),
		waits: counter("brine_ingest_waits_total",
			"Failed attempts to read from a broker or to write dead letters, by reason; each is retried.", "reason"),
		halts: counter("brine_ingest_halts_total", "Attempts that halted the partition, by reason.", "reason"),
		redelivered: counter("brine_ingest_redelivered_records_total",
			"Records that this process submitted again after a rebalance."),
		rebalances:   counter("brine_ingest_rebalances_total", "Generations of the group that this process took part in."),
		joinFailures: counter("brine_ingest_join_failures_total", "Failed attempts to join the group; each is retried."),
		abandoned: counter("brine_ingest_abandoned_flights_total",
			"Flights given up when their partition was taken away; their records are redelivered."),
		skipped:        counter("brine_ingest_skipped_offsets_total", "Offsets that were gone from the topic and skipped by policy."),
		commits:        counter("brine_ingest_commits_total", "Offset commits of a partition."),
		commitFailures: counter("brine_ingest_commit_failures_total", "Offset commits that failed."),
	}
	m.steps = prometheus.NewHistogramVec(timing("brine_step_duration_seconds",
		"Time that a batch spent in each step: fetch (a broker's answer), room (waiting for the window and the rate limit), decode, submit "+
			"(building keys and mutations, or documents, and waiting for room in the writer), settle (until everything is durable) and commit.",
		[]float64{.0001, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 60}), []string{"pipeline", "half", "step"})
	m.batch = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "brine_ingest_batch_events", Help: "Events per batch handed to the writer.",
		Buckets: prometheus.ExponentialBuckets(1, 4, 8), // 1 … 16384
	}, []string{"pipeline", "half"})
	m.fresh, m.undeclared = newFreshness(), newUndeclared()
	reg.MustRegister(m.steps, m.batch, m.fresh, &m.positions, m.undeclared)
	return m
}

// Watch adds the positions and states of a loop's partitions to every scrape, and replaces a loop of the same name. It also adds the loop's
// budget, where its time goes and what the topics keep, unless those are nil. It returns a function that reports how fast the partitions
// move, at the same rates as the scrapes.
func (m *Ingest) Watch(pipeline, half string, status func() ingest.Status, budget *ingest.Budget, meter *pressure.Meter,
	left func() (Left, bool),
) (flow func() Flow) {
	w := &watched{pipeline: pipeline, half: half, status: status, budget: budget, meter: meter, left: left}
	m.positions.add(w)
	return func() Flow { return w.rates.flow(time.Now(), status().Partitions) }
}

// Forget removes a loop's positions from scrapes. Its counters stay.
func (m *Ingest) Forget(pipeline, half string) { m.positions.forget(pipeline, half) }

// Hooks returns the hooks of one loop. It looks up the labels' counters once, not per call.
func (m *Ingest) Hooks(pipeline, half string, conditions ...event.Condition) ingest.Hooks {
	plain := func(v *prometheus.CounterVec) prometheus.Counter { return v.WithLabelValues(pipeline, half) }
	fetched, fetchedBytes, decoded, submitted, settled := plain(m.fetched), plain(m.fetchedBytes), plain(m.decoded),
		plain(m.submitted), plain(m.settled)
	redelivered, rebalances, joinFailures, abandoned := plain(m.redelivered), plain(m.rebalances), plain(m.joinFailures), plain(m.abandoned)
	skipped, commits, commitFailures := plain(m.skipped), plain(m.commits), plain(m.commitFailures)
	retried, dead := byReason(m.retried, pipeline, half, retryReasons), byReason(m.dead, pipeline, half, event.Rejects)
	leftOut := byReason(m.leftOut, pipeline, half, event.LeftOuts)
	filtered := func(target string) prometheus.Counter { return m.filtered.WithLabelValues(pipeline, half, target) }
	for _, c := range conditions {
		filtered(c.Of)
	}
	waits, halts := byReason(m.waits, pipeline, half, waitReasons), byReason(m.halts, pipeline, half, haltReasons)
	took := map[ingest.Step]prometheus.Observer{}
	for _, s := range steps {
		took[s] = m.steps.WithLabelValues(pipeline, half, string(s))
	}
	batch, ages := m.batch.WithLabelValues(pipeline, half), m.fresh.of(pipeline, half, durable)
	return ingest.Hooks{
		Took:    func(i ingest.TookInfo) { observe(i.Flight, took[i.Step], i.Duration) },
		Durable: func(i ingest.DurableInfo) { ages.observe(i.Flight, time.Now(), i.Records, i.Times) },
		Fetched: func(i ingest.FetchedInfo) {
			fetched.Add(float64(i.Records))
			fetchedBytes.Add(float64(i.Bytes))
		},
		Decoded: func(i ingest.DecodedInfo) { decoded.Add(float64(i.Events)) },
		Submitted: func(i ingest.SubmittedInfo) {
			submitted.Add(float64(i.Events))
			batch.Observe(float64(i.Events))
		},
		Settled:     func(i ingest.SettledInfo) { settled.Add(float64(i.Records)) },
		Redelivered: func(i ingest.RedeliveredInfo) { redelivered.Add(float64(i.Records)) },
		Retried:     func(i ingest.RetriedInfo) { retried(i.Reason).Add(float64(i.Events)) },
		Wrote: func(i ingest.WroteInfo) {
			for why, n := range i.Events {
				leftOut(why).Add(float64(n))
			}
			for target, n := range i.Filtered {
				filtered(target).Add(float64(n))
			}
		},
		DeadLettered: func(i ingest.DeadLetteredInfo) { dead(i.Reason).Add(float64(i.Records)) },
		Waiting:      func(i ingest.WaitingInfo) { waits(i.Reason).Inc() },
		Halted:       func(i ingest.HaltedInfo) { halts(i.Reason).Inc() },
		Committed:    func(ingest.CommittedInfo) { commits.Inc() },
		CommitFailed: func(ingest.CommitFailedInfo) { commitFailures.Inc() },
		Assigned:     func(ingest.AssignedInfo) { rebalances.Inc() },
		JoinFailed:   func(ingest.JoinFailedInfo) { joinFailures.Inc() },
		Revoked:      func(i ingest.RevokedInfo) { abandoned.Add(float64(i.Abandoned)) },
		Skipped:      func(i ingest.SkippedInfo) { skipped.Add(float64(i.To - i.From)) },
	}
}
