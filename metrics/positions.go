package metrics

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/ingest"
	"brine/pressure"
)

var (
	lagDesc = prometheus.NewDesc("brine_ingest_lag_offsets",
		"Offsets between the watermark and the end of the partition, as a broker last reported it: an upper bound of the records, since "+
			"transaction markers have offsets too.",
		[]string{"pipeline", "half", "topic", "partition"}, nil)
	watermarkDesc = prometheus.NewDesc("brine_ingest_watermark_offset",
		"Everything below this offset is settled.", []string{"pipeline", "half", "topic", "partition"}, nil)
	endDesc = prometheus.NewDesc("brine_ingest_end_offset",
		"End offset of the partition, as a broker last reported it.", []string{"pipeline", "half", "topic", "partition"}, nil)
	ageDesc = prometheus.NewDesc("brine_ingest_lag_seconds",
		"Age of the partition's oldest record that is not settled, by its own timestamp; 0 when all are settled.",
		[]string{"pipeline", "half", "topic", "partition"}, nil)
	drainDesc = prometheus.NewDesc("brine_ingest_drain_seconds",
		"Time until the lag is gone, at the rates of the last minute; +Inf while it does not shrink.", []string{"pipeline", "half"}, nil)
	lagBytesDesc = prometheus.NewDesc("brine_ingest_lag_bytes",
		"Estimated bytes of the records that are not settled, from the average size of the records fetched so far.",
		[]string{"pipeline", "half"}, nil)
	timeDesc = prometheus.NewDesc("brine_ingest_step_time_ratio",
		"Share of their time in the last minute that batches spent in each step: fetch (the worker waits for records), decode, room (waiting "+
			"for the window, the rate limit or memory), submit, lane (handed over but not sent yet), server (calls to the store), settle (dead "+
			"letters, retries), commit.",
		[]string{"pipeline", "half", "step"}, nil)
	limitDesc = prometheus.NewDesc("brine_ingest_limiting_step",
		"1 for the step that holds up the others, where back-pressure begins; 0 for every other step.", []string{"pipeline", "half", "step"}, nil)
	budgetDesc = prometheus.NewDesc("brine_ingest_budget_bytes",
		"Bytes of records that the loop could hold now, from fetch to settle: what it holds, what else it is guaranteed, and what it could "+
			"borrow of what other loops do not use.", []string{"pipeline", "half"}, nil)
	guaranteedDesc = prometheus.NewDesc("brine_ingest_budget_guaranteed_bytes",
		"Bytes of records that the loop can always hold, whatever other loops do.", []string{"pipeline", "half"}, nil)
	usedDesc = prometheus.NewDesc("brine_ingest_budget_used_bytes",
		"Bytes of records that the loop holds.", []string{"pipeline", "half"}, nil)
	pausedDesc = prometheus.NewDesc("brine_ingest_paused",
		"1 while the loop is paused on request, 0 otherwise.", []string{"pipeline", "half"}, nil)
	askedDesc = prometheus.NewDesc("brine_ingest_limit_records",
		"Limit on the records per second of the whole group; 0 means no limit.", []string{"pipeline", "half"}, nil)
	yieldsDesc = prometheus.NewDesc("brine_ingest_yields_records",
		"Records per second to which this process limits the loop because it gives way to the other half (gives_way); 0 means no limit.",
		[]string{"pipeline", "half"}, nil)
	leftDesc = prometheus.NewDesc("brine_ingest_retention_left_seconds",
		"Time until the topic may delete the oldest record that is not settled, by its retention.ms; absent if all are settled, if the "+
			"topic deletes nothing by age, and while its retention is unknown.", []string{"pipeline", "half"}, nil)
	leftRatioDesc = prometheus.NewDesc("brine_ingest_retention_left_ratio",
		"brine_ingest_retention_left_seconds as a fraction of retention.ms: at 1 all of it is left, at 0 records are lost.",
		[]string{"pipeline", "half"}, nil)
	partitionsDesc = prometheus.NewDesc("brine_ingest_partitions",
		"Partitions assigned to this process, by state.", []string{"pipeline", "half", "state"}, nil)
)

var states = []ingest.State{ingest.Starting, ingest.Running, ingest.Retrying, ingest.Waiting, ingest.Halted, ingest.Draining}

// positions collects at each scrape how far the loops have come. It asks the loops because a gauge that is set when something settles would
// stand still when nothing does, which is when people look at it. A partition that is revoked loses its series: another process reports it
// from then on.
type positions struct {
	mu    sync.Mutex
	loops []*watched
}

type watched struct {
	pipeline, half string
	status         func() ingest.Status
	budget         *ingest.Budget // nil: unknown
	meter          *pressure.Meter
	left           func() (left Left, known bool) // nil: unknown
	rates          rates
}

// Left is how much of their retention topics still leave to the oldest record that is not settled.
type Left struct {
	Time  time.Duration // until the record may be deleted
	Ratio float64       // as a fraction of the retention
}

// add adds a loop, and replaces one of the same name.
func (p *positions) add(w *watched) {
	p.forget(w.pipeline, w.half)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loops = append(p.loops, w)
}

func (p *positions) forget(pipeline, half string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loops = slices.DeleteFunc(slices.Clone(p.loops), func(w *watched) bool { return w.pipeline == pipeline && w.half == half })
}

// Describe implements prometheus.Collector.
func (p *positions) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lagDesc, watermarkDesc, endDesc, ageDesc, drainDesc, lagBytesDesc,
		timeDesc, limitDesc, budgetDesc, guaranteedDesc, usedDesc, partitionsDesc, pausedDesc, askedDesc,
		yieldsDesc, leftDesc, leftRatioDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (p *positions) Collect(ch chan<- prometheus.Metric) {
	p.mu.Lock()
	loops := p.loops
	p.mu.Unlock()
	for _, l := range loops {
		l.collect(time.Now(), func(d *prometheus.Desc, v float64, last ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{l.pipeline, l.half}, last...)...)
		})
	}
}

func (l *watched) collect(now time.Time, gauge func(d *prometheus.Desc, v float64, last ...string)) {
	count := map[ingest.State]int{}
	status := l.status()
	parts := status.Partitions
	paused := 0.
	if status.Paused {
		paused = 1
	}
	gauge(pausedDesc, paused)
	gauge(askedDesc, status.Limit)
	gauge(yieldsDesc, status.Yields)
	for _, part := range parts {
		count[part.State]++
		if part.Watermark < 0 { // its start is not known yet
			continue
		}
		id := strconv.Itoa(part.Partition)
		gauge(lagDesc, float64(part.Lag()), part.Topic, id)
		gauge(watermarkDesc, float64(part.Watermark), part.Topic, id)
		gauge(endDesc, float64(part.End), part.Topic, id)
		gauge(ageDesc, part.Age(now).Seconds(), part.Topic, id)
	}
	for _, s := range states {
		gauge(partitionsDesc, float64(count[s]), string(s))
	}
	if seconds, ok := l.rates.drain(now, parts); ok {
		gauge(drainDesc, seconds)
	}
	if l.meter != nil {
		l.pressure(now, parts, gauge)
	}
	if l.left != nil {
		if left, ok := l.left(); ok {
			gauge(leftDesc, left.Time.Seconds())
			gauge(leftRatioDesc, left.Ratio)
		}
	}
	if l.budget != nil {
		now := l.budget.Usage()
		gauge(budgetDesc, float64(now.Limit))
		gauge(guaranteedDesc, float64(now.Guaranteed))
		gauge(usedDesc, float64(now.Used))
	}
}

// pressure collects where the time goes.
func (l *watched) pressure(now time.Time, parts []ingest.PartitionStatus, gauge func(d *prometheus.Desc, v float64, last ...string)) {
	if size := l.meter.RecordBytes(); size > 0 {
		lag := int64(0)
		for _, p := range parts {
			lag += p.Lag()
		}
		gauge(lagBytesDesc, float64(lag)*size)
	}
	where := l.meter.Read(now)
	if !where.Known {
		return
	}
	for _, step := range pressure.Steps() {
		gauge(timeDesc, where.Shares[step], step.String())
		limits := 0.0
		if step == where.Limit {
			limits = 1
		}
		gauge(limitDesc, limits, step.String())
	}
}
