package elastic_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"brine/indexer"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
)

// TestAConditionDoesNotOutliveItsIndex checks that a write on the condition that a document is as it was read from the former index is
// refused by the index that has taken its place, although the document has the same sequence number there.
func TestAConditionDoesNotOutliveItsIndex(t *testing.T) {
	address := testenv.Elasticsearch(t)
	t.Parallel()
	e := open(t, address)
	t.Cleanup(func() { deleteIndexes(t, address, indexertest.Prefix+"term-") })
	name := fmt.Sprintf("%sterm-%d", indexertest.Prefix, time.Now().UnixNano())
	for range 2 { // the second time the former index has been reopened itself
		var docs []indexer.Stored
		for _, index := range []string{name, indexer.Beside(name)} {
			if err := e.EnsureIndex(t.Context(), indexer.Mapping{Index: index, Fields: []indexer.Field{{Name: "status", Type: indexer.Keyword}}}); err != nil {
				t.Fatal(err)
			}
			results := make([]indexer.Result, 1)
			write := indexer.Op{Kind: indexer.Put, Index: index, ID: []byte("a"), Version: 1, Source: []byte(`{"status":"x"}`)}
			if err := e.Bulk(t.Context(), []indexer.Op{write}, results); err != nil || results[0].Status >= 300 {
				t.Fatal(results, err)
			}
			stored := make([]indexer.Stored, 1)
			if err := e.Get(t.Context(), []indexer.Ref{{Index: index, ID: []byte("a")}}, stored); err != nil {
				t.Fatal(err)
			}
			docs = append(docs, stored[0])
		}
		built, err := e.Behind(t.Context(), indexer.Beside(name))
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.Post(address+"/"+built[0]+"/_close", "", nil); err != nil { // as after a kill while it reopens
			t.Fatal(err)
		} else {
			resp.Body.Close()
		}
		if err := e.Promote(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		results := make([]indexer.Result, 1)
		stale := indexer.Op{Kind: indexer.Replace, Index: name, ID: []byte("a"), SeqNo: docs[0].SeqNo, PrimaryTerm: docs[0].PrimaryTerm, Source: []byte(`{"status":"stale"}`)}
		if err := e.Bulk(t.Context(), []indexer.Op{stale}, results); err != nil || results[0].Status != 409 {
			t.Errorf("read as %+v of the former, %+v of the new one: %v, error %v", docs[0], docs[1], results, err)
		}
	}
}
