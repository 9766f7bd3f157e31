package metrics

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"brine/sink"
	"brine/skew"
)

// How many places have series of their own. Tables of 50 to 100 regions, which HBase recommends, are shown whole. If there are many tables,
// each shows its most written regions.
const (
	topRegions = 128 // per table
	allRegions = 512 // for all tables, each with three series
	allBuckets = 256 // for all tables

	maxStart = 80 // runes of a start key as a label
)

var (
	skewDesc = prometheus.NewDesc("brine_region_write_skew_ratio",
		"How unevenly the rows written in the last minute are spread over a table's regions, by index: max_mean (1 is even), cv, gini, "+
			"entropy and hbase_cost (0 is even).",
		[]string{"table", "index"}, nil)
	serverSkewDesc = prometheus.NewDesc("brine_server_write_skew_ratio",
		"How unevenly the rows of a table that were written in the last minute are spread over the region servers, by index: max_mean, cv "+
			"and gini. Servers without a region of the table count as soon as the cluster has reported them.", []string{"table", "index"}, nil)
	bucketSkewDesc = prometheus.NewDesc("brine_salt_bucket_skew_ratio",
		"How unevenly all rows written are spread over the salt buckets of a table, by index: max_mean, cv and gini.",
		[]string{"table", "index"}, nil)
	dataSkewDesc = prometheus.NewDesc("brine_region_data_skew_ratio",
		"How unevenly the data of a table is spread over its regions, as the cluster reports it, by index: max_mean, cv and gini.",
		[]string{"table", "index"}, nil)
	readSkewDesc = prometheus.NewDesc("brine_region_read_skew_ratio",
		"How unevenly the reads of all clients are spread over a table's regions, as the cluster reports it, by index: max_mean, cv and gini.",
		[]string{"table", "index"}, nil)
	loadsAgeDesc = prometheus.NewDesc("brine_table_loads_age_seconds",
		"Age of the cluster's last report on a table's regions; absent before the first report.", []string{"table"}, nil)
	hotDesc = prometheus.NewDesc("brine_table_hot_regions",
		"Regions of a table that have taken much more of its writes than the others for some seconds.", []string{"table"}, nil)
	causeDesc = prometheus.NewDesc("brine_table_hot_cause_regions",
		"Hot regions of a table by what makes them hot, as brine skew reports it; a cause that does not apply has no series.",
		[]string{"table", "cause"}, nil)
	loadedDesc = prometheus.NewDesc("brine_loaded_servers",
		"Region servers that have taken much more of the writes than the others for some seconds, although none of their regions is hot.", nil,
		nil)
	hotRowsDesc = prometheus.NewDesc("brine_table_hot_rows_ratio",
		"Share of the rows of the last minute that went to regions that are hot now.", []string{"table"}, nil)
	regionRowsDesc = prometheus.NewDesc("brine_region_written_rows_total",
		"Rows acknowledged by a region; regions without a series of their own are summed as other.",
		[]string{"table", "region"}, nil)
	regionBytesDesc = prometheus.NewDesc("brine_region_written_bytes_total",
		"Bytes acknowledged by a region; regions without a series of their own are summed as other.",
		[]string{"table", "region"}, nil)
	regionInfoDesc = prometheus.NewDesc("brine_region_info",
		"The constant 1 for each region that has series of its own, labelled with its server and its start key, decoded into fields where "+
			"possible.",
		[]string{"table", "region", "server", "start"}, nil)
	bucketRowsDesc = prometheus.NewDesc("brine_salt_bucket_written_rows_total",
		"Rows written into a salt bucket; buckets without a series of their own are summed as other.",
		[]string{"table", "bucket"}, nil)
	regionsDesc = prometheus.NewDesc("brine_table_regions",
		"Regions of a table that are known to the writer.", []string{"table"}, nil)
	skewDescs = []*prometheus.Desc{skewDesc, serverSkewDesc, bucketSkewDesc, dataSkewDesc, readSkewDesc, loadsAgeDesc, hotDesc, causeDesc,
		hotRowsDesc, loadedDesc,
		regionRowsDesc, regionBytesDesc, regionInfoDesc, bucketRowsDesc, regionsDesc}
)

// Skew collects the skew of every table at each scrape.
type Skew struct {
	Tables *skew.Tables
	Start  func(table string, start []byte) string // fields in a start key, or empty; nil: shows bytes

	mu               sync.Mutex
	regions, buckets rankings
}

// rankings are the rankings of the tables.
type rankings map[string]*ranking

func (r *rankings) of(table string) *ranking {
	if *r == nil {
		*r = rankings{}
	}
	if (*r)[table] == nil {
		(*r)[table] = &ranking{}
	}
	return (*r)[table]
}

// Spread returns the hook that counts the rows of salt buckets.
func Spread(tables *skew.Tables) func(sink.SpreadInfo) {
	return func(i sink.SpreadInfo) {
		counter := tables.Counter(i.Table, skew.Shape{Buckets: len(i.Buckets)})
		for n, b := range i.Buckets {
			if b.Rows > 0 {
				counter.AddBucket(n, b.Rows, b.Bytes)
			}
		}
	}
}

// Describe implements prometheus.Collector.
func (s *Skew) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range skewDescs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Skew) Collect(ch chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reports := s.Tables.Recent()
	var regions, buckets []int
	for _, rep := range reports {
		regions, buckets = append(regions, min(len(rep.Regions), topRegions)), append(buckets, len(rep.Buckets))
	}
	t := sent{ch: ch}
	ch <- prometheus.MustNewConstMetric(loadedDesc, prometheus.GaugeValue, float64(s.Tables.LoadedServers(reports)))
	for _, table := range slices.Sorted(maps.Keys(reports)) {
		rep := reports[table]
		t.table = table
		t.indices(&rep)
		if t.hot(&rep) {
			for cause, n := range s.Tables.Counter(table, skew.Shape{}).Causes() {
				t.gauge(causeDesc, float64(n), string(cause))
			}
		}
		s.collectRegions(&t, rep.Regions, deal(regions, allRegions))
		s.collectBuckets(&t, rep.Buckets, deal(buckets, allBuckets))
	}
}

func (s *Skew) collectRegions(t *sent, loads []skew.Load, k int) {
	top, other := s.regions.of(t.table).update(loads, func(l *skew.Load) string { return l.Region.Name }, k)
	for _, r := range top {
		t.counter(regionRowsDesc, r.reported.Rows, r.load.Region.Name)
		t.counter(regionBytesDesc, r.reported.Bytes, r.load.Region.Name)
		t.gauge(regionInfoDesc, 1, r.load.Region.Name, label(r.load.Region.Server), s.startOf(t.table, r.load.Region.Start))
	}
	if len(top) < len(loads) || other.Rows > 0 || other.Bytes > 0 {
		t.counter(regionRowsDesc, other.Rows, "other")
		t.counter(regionBytesDesc, other.Bytes, "other")
	}
}

func (s *Skew) collectBuckets(t *sent, loads []skew.Load, k int) {
	top, other := s.buckets.of(t.table).update(loads, func(l *skew.Load) string { return strconv.Itoa(l.Bucket) }, k)
	for _, b := range top {
		t.counter(bucketRowsDesc, b.reported.Rows, strconv.Itoa(b.load.Bucket))
	}
	if len(top) < len(loads) || other.Rows > 0 {
		t.counter(bucketRowsDesc, other.Rows, "other")
	}
}

// startOf returns a start key as people read it.
func (s *Skew) startOf(table string, start skew.Key) string {
	if s.Start != nil {
		if text := s.Start(table, start); text != "" {
			return label(text)
		}
	}
	return label(start.String())
}

// label makes any bytes a label value: printable and of bounded length.
func label(text string) string {
	text = skew.Printable([]byte(text))
	if utf8.RuneCountInString(text) > maxStart {
		return string([]rune(text)[:maxStart]) + "…"
	}
	return text
}

// sent is the metrics of one table while they are collected.
type sent struct {
	ch    chan<- prometheus.Metric
	table string
}

func (t *sent) gauge(d *prometheus.Desc, v float64, labels ...string) {
	t.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{t.table}, labels...)...)
}

func (t *sent) counter(d *prometheus.Desc, v int64, labels ...string) {
	t.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), append([]string{t.table}, labels...)...)
}

// indices reports how even the table is.
func (t *sent) indices(rep *skew.Report) {
	t.skew(skewDesc, rep.Recent)
	t.gauge(skewDesc, rep.Recent.Entropy, "entropy")
	t.gauge(skewDesc, rep.Recent.HBaseCost, "hbase_cost")
	t.skew(serverSkewDesc, rep.ServerWrites)
	if len(rep.Buckets) > 0 {
		t.skew(bucketSkewDesc, rep.BucketsTotal)
	}
	if c := rep.Cluster; c != nil {
		t.skew(dataSkewDesc, c.Data)
		t.skew(readSkewDesc, c.Reads)
		t.gauge(loadsAgeDesc, c.Age)
	}
	t.gauge(regionsDesc, float64(len(rep.Regions)))
}

// hot reports how many of the table's rows go to hot regions, if there are any.
func (t *sent) hot(rep *skew.Report) bool {
	hot, rows := 0, int64(0)
	for i := range rep.Regions {
		if l := &rep.Regions[i]; l.HotSince != nil {
			hot++
			rows += l.Recent.Rows
		}
	}
	t.gauge(hotDesc, float64(hot))
	t.gauge(hotRowsDesc, float64(rows)/float64(max(1, rep.RowsRecent)))
	return hot > 0
}

func (t *sent) skew(d *prometheus.Desc, x skew.Indices) {
	t.gauge(d, x.MaxMean, "max_mean")
	t.gauge(d, x.CV, "cv")
	t.gauge(d, x.Gini, "gini")
}
