package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/hbase"
	"brine/ingest"
	"brine/skew"
)

// BenchmarkBatch is everything that metrics and skew do for one batch of 1,000 events on its way through the loop and the client: the
// events are in 16 regions and go in two calls. It reports the share of one event. What the skew counters spend on each key comes on top;
// skew has a benchmark of that.
func BenchmarkBatch(b *testing.B) {
	const events, regions, calls = 1000, 16, 2
	reg := prometheus.NewRegistry()
	tables := skew.NewTables(time.Now)
	client := HBase(reg, tables)
	loop := NewIngest(reg).Hooks("scans", "rows")
	var all [regions]hbase.AppliedInfo
	for i := range all {
		region := &hbase.Region{Table: "t", Encoded: fmt.Sprintf("%032x", i), Start: fmt.Appendf(nil, "%x000", i), Server: "rs1:16020"}
		all[i] = hbase.AppliedInfo{Table: "t", Region: region, Rows: events / regions, Bytes: events * 150 / regions}
	}
	b.ReportAllocs()
	for b.Loop() {
		loop.Fetched(ingest.FetchedInfo{Records: events, Bytes: events * 200})
		loop.Decoded(ingest.DecodedInfo{Events: events})
		loop.Submitted(ingest.SubmittedInfo{Events: events})
		client.Buffered(hbase.BufferedInfo{Bytes: 1 << 20})
		for i := range all {
			client.Applied(&all[i])
		}
		for range calls {
			client.Call(hbase.CallInfo{Server: "rs1:16020", Method: "Multi", Duration: time.Millisecond, Sent: 1 << 19})
		}
		loop.Settled(ingest.SettledInfo{Records: events})
		loop.Committed(ingest.CommittedInfo{Offset: 1})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
}
