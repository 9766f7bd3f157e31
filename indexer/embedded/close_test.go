package embedded_test

import (
	"fmt"
	"sync"
	"testing"

	"brine/indexer"
)

// TestClosedWhileItIsWrittenTo checks that an index that is closed in the middle of its writes ends properly, and has what it acknowledged.
func TestClosedWhileItIsWrittenTo(t *testing.T) {
	dir := t.TempDir()
	for round := range 10 {
		e := open(t, dir)
		if err := e.EnsureIndex(t.Context(), indexer.Mapping{Index: "orders", Fields: []indexer.Field{{Name: "status", Type: indexer.Keyword}}}); err != nil {
			t.Fatal(err)
		}
		some := make(chan struct{}) // closed once some are acknowledged
		acknowledged := make([]int, 4)
		var writers sync.WaitGroup
		for w := range acknowledged {
			writers.Go(func() {
				results := make([]indexer.Result, 1)
				for n := 1; ; n++ {
					op := indexer.Op{Kind: indexer.Put, Index: "orders", ID: fmt.Append(nil, w), Version: int64(round*1_000_000 + n), Source: []byte(`{"status":"x"}`)}
					if err := e.Bulk(t.Context(), []indexer.Op{op}, results); err != nil || results[0].Status >= 300 {
						return
					}
					if acknowledged[w] = n; w == 0 && n == 1 {
						close(some)
					}
				}
			})
		}
		<-some
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		writers.Wait()
		e = open(t, dir)
		for w, n := range acknowledged {
			refs, docs := []indexer.Ref{{Index: "orders", ID: fmt.Append(nil, w)}}, make([]indexer.Stored, 1)
			if err := e.Get(t.Context(), refs, docs); err != nil || n > 0 && docs[0].Version < int64(round*1_000_000+n) {
				t.Errorf("round %d: version %d of document %d, %d was acknowledged, error %v", round, docs[0].Version, w, round*1_000_000+n, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
