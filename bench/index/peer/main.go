// Command peer writes documents with go-elasticsearch's BulkIndexer and reports its time and cost. bench/index runs it in comparison with
// bench/index/client, which writes the same documents; nothing imports it.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esutil"

	"brine/bench/index/orders"
	"brine/bench/measure"
)

func main() {
	address := flag.String("address", "", "http://host:port")
	n := flag.Int("documents", 200_000, "documents")
	workers := flag.Int("workers", 2, "its workers")
	flush := flag.Int("flush", 5_000_000, "bytes at which it flushes")
	flag.Parse()
	if err := run(*address, *n, *workers, *flush); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(address string, n, workers, flush int) error {
	client, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{address}})
	if err != nil {
		return err
	}
	var failed atomic.Int64
	indexer, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: client, Index: orders.Index, NumWorkers: workers, FlushBytes: flush,
		OnError: func(_ context.Context, err error) { fmt.Fprintln(os.Stderr, "peer:", err); failed.Add(1) },
	})
	if err != nil {
		return err
	}
	return measure.Say(func() error { return load(context.Background(), indexer, n, &failed) })
}

// load writes all documents. None may fail.
func load(ctx context.Context, indexer esutil.BulkIndexer, n int, failed *atomic.Int64) error {
	for i := range n {
		version := orders.Version(i)
		err := indexer.Add(ctx, esutil.BulkIndexerItem{
			Action: "index", DocumentID: orders.ID(i), Version: &version, VersionType: "external_gte",
			Body: bytes.NewReader(orders.AppendSource(nil, i)),
			OnFailure: func(_ context.Context, _ esutil.BulkIndexerItem, item esutil.BulkIndexerResponseItem, err error) {
				if failed.Add(1) == 1 {
					fmt.Fprintln(os.Stderr, "peer:", item.Status, item.Error.Reason, err)
				}
			},
		})
		if err != nil {
			return err
		}
	}
	if err := indexer.Close(ctx); err != nil {
		return err
	}
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d documents or calls failed", n)
	}
	return nil
}
