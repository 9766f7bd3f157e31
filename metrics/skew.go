package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/sink"
	"brine/skew"
)

// nativeReset bounds how long a native histogram keeps buckets that are no longer hit.
const nativeReset = time.Hour

// topRegions is how many regions of a table have series of their own; the others are summed as "other". Tables of 50 to
// 100 regions, which HBase advises, show whole.
const topRegions = 128

var (
	skewDesc = prometheus.NewDesc("brine_region_write_skew_ratio",
		"How unevenly the rows written in the last minute lie over a table's regions, by index: max_mean (1 is even), cv, gini, entropy and hbase_cost (0 is even).",
		[]string{"table", "index"}, nil)
	regionRowsDesc = prometheus.NewDesc("brine_region_written_rows_total",
		"Rows acknowledged by a region; the regions beyond the top ones are summed as other.",
		[]string{"table", "region"}, nil)
	regionBytesDesc = prometheus.NewDesc("brine_region_written_bytes_total",
		"Bytes acknowledged by a region; the regions beyond the top ones are summed as other.",
		[]string{"table", "region"}, nil)
	bucketRowsDesc = prometheus.NewDesc("brine_salt_bucket_written_rows_total",
		"Rows written into a salt bucket.", []string{"table", "bucket"}, nil)
	regionsDesc = prometheus.NewDesc("brine_table_regions",
		"Regions of a table that are known to the writer.", []string{"table"}, nil)
)

// Skew collects the skew of every table at each scrape.
type Skew struct{ Tables *skew.Tables }

// Spread gives the hook that counts the rows of salt buckets.
func Spread(tables *skew.Tables) func(table string, buckets []sink.Bucket) {
	return func(table string, buckets []sink.Bucket) {
		counter := tables.Counter(table, skew.Shape{Buckets: len(buckets)})
		for i, b := range buckets {
			if b.Rows > 0 {
				counter.AddBucket(i, b.Rows, b.Bytes)
			}
		}
	}
}

// Describe implements prometheus.Collector.
func (s Skew) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{skewDesc, regionRowsDesc, regionBytesDesc, bucketRowsDesc, regionsDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s Skew) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	for table, rep := range s.Tables.Reports() {
		gauge(skewDesc, rep.Recent.MaxMean, table, "max_mean")
		gauge(skewDesc, rep.Recent.CV, table, "cv")
		gauge(skewDesc, rep.Recent.Gini, table, "gini")
		gauge(skewDesc, rep.Recent.Entropy, table, "entropy")
		gauge(skewDesc, rep.Recent.HBaseCost, table, "hbase_cost")
		gauge(regionsDesc, float64(len(rep.Regions)), table)
		top, other, others := skew.Top(rep.Regions, topRegions)
		for _, l := range top {
			counter(regionRowsDesc, l.Total.Rows, table, l.Region.Name)
			counter(regionBytesDesc, l.Total.Bytes, table, l.Region.Name)
		}
		if others > 0 {
			counter(regionRowsDesc, other.Rows, table, "other")
			counter(regionBytesDesc, other.Bytes, table, "other")
		}
		for _, l := range rep.Buckets {
			counter(bucketRowsDesc, l.Total.Rows, table, strconv.Itoa(l.Bucket))
		}
	}
}
