package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"brine/ingest"
)

var (
	lagDesc = prometheus.NewDesc("brine_ingest_lag_records",
		"Offsets between the watermark and the end of the partition, as a broker last said it.",
		[]string{"pipeline", "half", "partition"}, nil)
	watermarkDesc = prometheus.NewDesc("brine_ingest_watermark_offset",
		"Everything below this offset is settled.", []string{"pipeline", "half", "partition"}, nil)
	endDesc = prometheus.NewDesc("brine_ingest_end_offset",
		"Offset at which the partition ends, as a broker last said it.", []string{"pipeline", "half", "partition"}, nil)
	partitionsDesc = prometheus.NewDesc("brine_ingest_partitions",
		"Partitions that this process has, by what they are doing.", []string{"pipeline", "half", "state"}, nil)
)

var states = []ingest.State{ingest.Starting, ingest.Running, ingest.Retrying, ingest.Waiting, ingest.Halted, ingest.Draining}

// positions collects at each scrape how far the loops are. It asks them, since a gauge that is set when something settles
// would stand still when nothing does, which is when it is looked at. A partition that is taken away loses its series:
// another process reports it from then on.
type positions struct {
	mu    sync.Mutex
	loops []watched
}

type watched struct {
	pipeline, half string
	status         func() ingest.Status
}

func (p *positions) add(w watched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loops = append(p.loops, w)
}

// Describe implements prometheus.Collector.
func (p *positions) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lagDesc, watermarkDesc, endDesc, partitionsDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (p *positions) Collect(ch chan<- prometheus.Metric) {
	p.mu.Lock()
	loops := p.loops
	p.mu.Unlock()
	for _, l := range loops {
		l.collect(func(d *prometheus.Desc, v int64, last string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), l.pipeline, l.half, last)
		})
	}
}

func (l watched) collect(gauge func(d *prometheus.Desc, v int64, last string)) {
	count := map[ingest.State]int64{}
	for _, part := range l.status().Partitions {
		count[part.State]++
		if part.Watermark < 0 { // not known yet where it starts
			continue
		}
		id := strconv.Itoa(part.Partition)
		gauge(lagDesc, part.Lag(), id)
		gauge(watermarkDesc, part.Watermark, id)
		gauge(endDesc, part.End, id)
	}
	for _, s := range states {
		gauge(partitionsDesc, count[s], string(s))
	}
}
