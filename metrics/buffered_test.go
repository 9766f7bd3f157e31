package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"brine/hbase"
	"brine/indexer"
	"brine/skew"
)

// TestBufferedBytesAddUp checks that what is in memory is reported although a later call of the hook overtakes an earlier one, and for two
// writers of one pipeline together.
func TestBufferedBytesAddUp(t *testing.T) {
	reg := prometheus.NewRegistry()
	client := HBase(reg, skew.NewTables(time.Now))
	client.Buffered(hbase.BufferedInfo{Bytes: 5, Change: -30})
	client.Buffered(hbase.BufferedInfo{Bytes: 35, Change: 35})
	documents := NewIndexer(reg, NewIngest(reg))
	for range 2 {
		h := documents.Hooks("orders")
		h.Buffered(indexer.BufferedInfo{Bytes: 7, Change: -20})
		h.Buffered(indexer.BufferedInfo{Bytes: 27, Change: 27})
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP brine_hbase_buffered_bytes Bytes of mutations in memory that are not yet acknowledged.
# TYPE brine_hbase_buffered_bytes gauge
brine_hbase_buffered_bytes 5
# HELP brine_index_buffered_bytes Bytes of documents in memory that the search engine has not answered yet.
# TYPE brine_index_buffered_bytes gauge
brine_index_buffered_bytes{pipeline="orders"} 14
`), "brine_hbase_buffered_bytes", "brine_index_buffered_bytes"); err != nil {
		t.Error(err)
	}
}
