// Package indexertest tests what every indexer.Engine must do, given a constructor. The engines' own tests call Run; nothing else imports
// it.
//
// The invariant: a test here passes on a real Elasticsearch and on the embedded index alike. What differs between them (how text is cut
// into words, relevance) is not tested here, but listed in indexer/embedded/LIMITS.md.
package indexertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"brine/indexer"
)

// Open returns the engine for a test. It may return the same one for all tests.
type Open func(t *testing.T) indexer.Engine

type test struct {
	name string
	test func(*testing.T, indexer.Engine)
}

// Run runs all tests.
func Run(t *testing.T, open Open) {
	for _, c := range slices.Concat(routingTests, []test{
		{"Mapping", testMapping},
		{"MappingConflict", testMappingConflict},
		{"NoIndex", testNoIndex},
		{"VersionsOfPut", testPut},
		{"CreateAndReplace", testReplace},
		{"Delete", testDelete},
		{"Purge", testPurge},
		{"PurgeBesideWrites", testPurgeBesideWrites},
		{"PurgeOfParts", testPurgeOfParts},
		{"Shown", testShown},
		{"OneRefusedDocument", testRefused},
		{"OrderInOneCall", testOrderInOneCall},
		{"Queries", testQueries},
		{"BadQueries", testBadQueries},
		{"InjectedQueries", testInjectedQueries},
		{"Chinese", testChinese},
		{"Pages", testPages},
		{"PagesUnderWrites", testPagesUnderWrites},
		{"Score", testScore},
		{"Facets", testFacets},
		{"Highlights", testHighlights},
		{"WriterWhole", testWriterWhole},
		{"WriterPartial", testWriterPartial},
		{"WriterChangesOfChanges", testWriterChangesOfChanges},
		{"WriterPartialOfTwo", testWriterPartialOfTwo},
		{"WriterRefused", testWriterRefused},
		{"WriterLongKeys", testWriterLongKeys},
		{"WriterDeletes", testWriterDeletes},
		{"WriterNoIndex", testWriterNoIndex},
		{"WriterConverges", testWriterConverges},
		{"WriterParts", testWriterParts},
		{"PartsAlike", testPartsAlike},
		{"Expire", testExpire},
		{"Rebuild", testRebuild},
		{"RebuildDiscarded", testRebuildDiscarded},
		{"RebuildParts", testRebuildParts},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // each uses its own indexes, which a real server creates slowly
			c.test(t, open(t))
		})
	}
}

// Prefix begins the names of all indexes that the tests create.
const Prefix = "brinetest-"

// RunPrefix begins the names of those that Run and RunRouting create.
const RunPrefix = Prefix + "run-"

func newName() string { return fmt.Sprintf("%s%08x", RunPrefix, rand.Uint32()) }

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// newIndex creates an index with a field of each type.
func newIndex(t *testing.T, e indexer.Engine) string {
	t.Helper()
	name := newName()
	if err := e.EnsureIndex(deadline(t), mapping(name)); err != nil {
		t.Fatal(err)
	}
	return name
}

func mapping(name string) indexer.Mapping {
	return indexer.Mapping{Index: name, Fields: []indexer.Field{
		{Name: "amount", Type: indexer.Double},
		{Name: "at", Type: indexer.Date},
		{Name: "deleted", Type: indexer.Boolean},
		{Name: "gift", Type: indexer.Boolean},
		{Name: "item", Type: indexer.Text},
		{Name: "number", Type: indexer.Long},
		{Name: "status", Type: indexer.Keyword},
	}}
}

// put returns an operation that puts a document; fields are JSON, such as `"number":1`.
func put(index, id string, version int64, fields string) indexer.Op {
	return indexer.Op{Kind: indexer.Put, Index: index, ID: []byte(id), Version: version, Source: source(id, version, fields)}
}

func source(id string, version int64, fields string) []byte {
	if fields != "" {
		fields = "," + fields
	}
	return fmt.Appendf(nil, `{"_row":%q,"_ver":%d%s}`, id, version, fields)
}

// bulk makes one call and returns the statuses.
func bulk(t *testing.T, e indexer.Engine, ops ...indexer.Op) []int {
	t.Helper()
	results := make([]indexer.Result, len(ops))
	if err := e.Bulk(deadline(t), ops, results); err != nil {
		t.Fatal(err)
	}
	var statuses []int
	for _, r := range results {
		statuses = append(statuses, r.Status)
		if (r.Status >= 300) != (r.Reason != "") {
			t.Errorf("status %d with the reason %q", r.Status, r.Reason)
		}
	}
	return statuses
}

// load puts documents, all of which must succeed, and makes them visible.
func load(t *testing.T, e indexer.Engine, ops ...indexer.Op) {
	t.Helper()
	for i, status := range bulk(t, e, ops...) {
		if status >= 300 {
			t.Fatalf("document %s: status %d", ops[i].ID, status)
		}
	}
	refresh(t, e, ops[0].Index)
}

func refresh(t *testing.T, e indexer.Engine, index string) {
	t.Helper()
	if err := e.Refresh(deadline(t), index); err != nil {
		t.Fatal(err)
	}
}

// get reads one document.
func get(t *testing.T, e indexer.Engine, index, id string) indexer.Stored {
	t.Helper()
	docs := make([]indexer.Stored, 1)
	if err := e.Get(deadline(t), []indexer.Ref{{Index: index, ID: []byte(id)}}, docs); err != nil {
		t.Fatal(err)
	}
	return docs[0]
}
