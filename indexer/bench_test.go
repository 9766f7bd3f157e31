package indexer_test

import (
	"context"
	"fmt"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
	"brine/search"
)

// nothing is an Engine that accepts everything and does nothing, so that a benchmark measures the Writer.
type nothing struct{ memory }

func (*nothing) Bulk(_ context.Context, ops []indexer.Op, results []indexer.Result) error {
	for i := range results {
		results[i].Status = 200
	}
	return nil
}

func (*nothing) Get(_ context.Context, refs []indexer.Ref, docs []indexer.Stored) error {
	for i := range docs {
		docs[i] = indexer.Stored{Found: true, SeqNo: 1, PrimaryTerm: 1, Source: storedOrder}
	}
	return nil
}

var (
	_           search.Searcher = (*nothing)(nil)
	storedOrder                 = []byte(`{"_row":"order-00000001","_ver":1,"status":"created","item":"红富士苹果 5kg","number":7,"_vers":{"status":1,"item":1,"number":1}}`)
)

// BenchmarkWriter measures the path from Event to settled without the engine; ns/op and allocs/op are per document.
func BenchmarkWriter(b *testing.B) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		b.Run(string(changes), func(b *testing.B) {
			w, err := indexer.New(&nothing{}, indexertest.Options(b, "orders", changes))
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			batch := &event.Batch{}
			for i := range 500 {
				batch.Events = append(batch.Events, indexertest.Event(int64(i), fmt.Sprintf("order-%08d", i), "paid", "红富士苹果 5kg", i, 12.5, false, 1700000000000+i))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; i += len(batch.Events) {
				if failures, err := event.Settle(b.Context(), w.Submit(b.Context(), batch)); err != nil || len(failures) > 0 {
					b.Fatal(failures, err)
				}
			}
		})
	}
}
