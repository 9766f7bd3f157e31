package metrics

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"brine/bench/measure"
	"brine/bench/servers"
	"brine/hbase"
	"brine/ingest"
	"brine/metrics"
	"brine/sink"
	"brine/skew"
)

// scrapeOf measures scrapes of a process that writes to so many regions, in 100 salted tables on 200 servers, from 16 partitions: the CPU
// time per scrape in ms, and the number of series.
func scrapeOf(regions int) (ms measure.Estimate, series int, err error) {
	const tables, nodes = 100, 200
	reg, all := prometheus.NewRegistry(), skew.NewTables(time.Now)
	client := metrics.HBase(reg, all)
	reg.MustRegister(&metrics.Skew{Tables: all}, metrics.Build("bench"), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	loop := metrics.NewIngest(reg)
	parts := make([]ingest.PartitionStatus, 16)
	for i := range parts {
		parts[i] = ingest.PartitionStatus{Partition: i, State: ingest.Running, Watermark: 5, End: 10}
	}
	for _, half := range []string{"rows", "documents"} {
		loop.Hooks(servers.Pipeline, half)
		loop.Watch(servers.Pipeline, half, func() ingest.Status { return ingest.Status{Partitions: parts} }, ingest.NewBudget(8<<20), nil, nil)
	}
	server := func(i int) string { return fmt.Sprintf("rs%03d.example.com:16020", i%nodes) }
	for i := range nodes {
		client.Sent(&hbase.SentInfo{Server: server(i), Rows: 10, Duration: time.Millisecond})
	}
	for i := range regions {
		table, n := fmt.Sprint("ns:table", i%tables), i/tables
		if n == 0 {
			metrics.Spread(all)(sink.SpreadInfo{Table: table, Buckets: make([]sink.Bucket, 256)})
		}
		client.Applied(&hbase.AppliedInfo{Table: table, Rows: 1 + i%7, Bytes: 100, Region: &hbase.Region{
			Table: table, Encoded: fmt.Sprintf("%032x", i), Start: fmt.Appendf(nil, "%08d", n),
			End: fmt.Appendf(nil, "%08d", n+1), Server: server(i)}})
	}
	var took []float64
	for range 9 {
		before, err := measure.OwnCPU()
		if err != nil {
			return ms, 0, err
		}
		if series, err = scrape(reg); err != nil {
			return ms, 0, err
		}
		after, err := measure.OwnCPU()
		if err != nil {
			return ms, 0, err
		}
		took = append(took, 1000*(after-before))
	}
	return measure.Repeated(took), series, nil
}
