package embedded_test

import (
	"context"
	"fmt"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// BenchmarkWriter writes documents of five fields through the Writer, in batches of 500 as the ingest loop forms them, with several batches
// in flight; ns/op is the time per document until it is on disk.
func BenchmarkWriter(b *testing.B) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		b.Run(string(changes), func(b *testing.B) {
			e := open(b, b.TempDir())
			opts := indexertest.Options(b, "orders", changes)
			for _, m := range opts.Mappings() {
				if err := e.EnsureIndex(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
			w, err := indexer.New(e, opts)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			b.ReportAllocs()
			b.ResetTimer()
			var flights []event.Flight
			batch := &event.Batch{}
			for i := 0; i < b.N; i++ {
				batch.Events = append(batch.Events, indexertest.Event(int64(i), fmt.Sprintf("order-%08d", i*7919%200_000), "paid",
					"上海市浦东新区 red apple juice", i, float64(i)/4, false, 1700000000000+i))
				if len(batch.Events) == 500 || i == b.N-1 {
					flights = append(flights, w.Submit(b.Context(), batch))
					batch.Events = batch.Events[:0]
				}
				if len(flights) == 8 || i == b.N-1 {
					for _, f := range flights[:max(1, len(flights)-7)] {
						wait(b, f)
					}
					flights = flights[max(1, len(flights)-7):]
				}
			}
			for _, f := range flights {
				wait(b, f)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

func wait(b *testing.B, f event.Flight) {
	if failures, err := event.Settle(context.Background(), f); err != nil || len(failures) > 0 {
		b.Fatalf("failures %v, error %v", failures, err)
	}
}
