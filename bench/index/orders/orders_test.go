package orders_test

import (
	"context"
	"testing"

	"brine/bench/index/orders"
	"brine/event"
	"brine/indexer"
	"brine/indexer/embedded"
)

// TestDocumentsAreEqual checks that the peer's JSON is, byte for byte, what brine writes.
func TestDocumentsAreEqual(t *testing.T) {
	e, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	opts, err := orders.Options(indexer.Whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.EnsureIndex(t.Context(), opts.Mappings()[0]); err != nil {
		t.Fatal(err)
	}
	w, err := indexer.New(e, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	batch := &event.Batch{}
	for i := range 20 {
		batch.Events = append(batch.Events, orders.Event(indexer.Whole, i, 20))
	}
	if failures, err := event.Settle(context.Background(), w.Submit(t.Context(), batch)); err != nil || len(failures) > 0 {
		t.Fatal(failures, err)
	}
	for i := range 20 {
		docs := make([]indexer.Stored, 1)
		if err := e.Get(t.Context(), []indexer.Ref{{Index: orders.Index, ID: []byte(orders.ID(i))}}, docs); err != nil {
			t.Fatal(err)
		}
		if got, want := string(docs[0].Source), string(orders.AppendSource(nil, i)); got != want {
			t.Fatalf("brine writes\n%s\nthe peer\n%s", got, want)
		}
	}
}
