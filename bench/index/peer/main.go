// Command peer writes documents with go-elasticsearch's BulkIndexer and tells how long that took and what it cost. bench/index runs
// it beside bench/index/client, which writes the same documents; nothing imports it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"time"

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
	fmt.Println("begin")
	start := time.Now()
	before, err := measure.OwnCPU()
	if err != nil {
		return err
	}
	ctx := context.Background()
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
	said := measure.Said{Seconds: time.Since(start).Seconds()}
	after, err1 := measure.OwnCPU()
	peak, err2 := measure.PeakMiB("self")
	said.CPU, said.PeakMiB = after-before, peak
	if failed.Load() > 0 {
		err = fmt.Errorf("%d documents or calls failed", failed.Load())
	}
	return errors.Join(err, err1, err2, json.NewEncoder(os.Stdout).Encode(said))
}
