package metrics

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"brine/hbase"
)

// topServers is the number of region servers with series of their own: those with the most pending calls and waiting lanes. The others are
// added up as "other".
const topServers = 48

var (
	lanesDesc   = prometheus.NewDesc("brine_hbase_lanes", "Regions that have mutations queued or on their way.", nil, nil)
	restingDesc = prometheus.NewDesc("brine_hbase_lanes_resting", "Regions whose mutations wait out a pause after a failure.", nil, nil)
	fullestDesc = prometheus.NewDesc("brine_hbase_fullest_lane_bytes",
		"Bytes of mutations of the region that has the most; a region may hold a quarter of the bound, and callers beyond that wait.", nil, nil)
	blockedDesc = prometheus.NewDesc("brine_hbase_blocked_submits",
		"Batches that wait for room in memory or in the lane of a region.", nil, nil)
	callsDesc = prometheus.NewDesc("brine_hbase_calls_in_flight", "Mutation calls pending at a region server.",
		[]string{"server"}, nil)
	readyDesc = prometheus.NewDesc("brine_hbase_lanes_waiting",
		"Regions that are ready to send but wait until one of their server's calls is answered.", []string{"server"}, nil)
)

// Lanes collects, at each scrape, what an HBase client holds and has under way.
type Lanes struct{ Stats func() hbase.Stats }

// Describe implements prometheus.Collector.
func (Lanes) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{lanesDesc, restingDesc, fullestDesc, blockedDesc, callsDesc, readyDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (l Lanes) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	s := l.Stats()
	gauge(lanesDesc, s.Lanes)
	gauge(restingDesc, s.Resting)
	gauge(fullestDesc, s.Fullest)
	gauge(blockedDesc, s.Blocked)
	for _, server := range bounded(s.Servers) {
		gauge(callsDesc, server.Calls, server.Addr)
		gauge(readyDesc, server.Lanes, server.Addr)
	}
}

// bounded keeps the busiest servers and adds up the others.
func bounded(all []hbase.ServerStats) []hbase.ServerStats {
	if len(all) <= topServers {
		return all
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b hbase.ServerStats) int {
		return cmp.Compare(b.Calls+b.Lanes, a.Calls+a.Lanes)
	})
	other := hbase.ServerStats{Addr: "other"}
	for _, s := range all[topServers:] {
		other.Calls += s.Calls
		other.Lanes += s.Lanes
	}
	return append(all[:topServers:topServers], other)
}
