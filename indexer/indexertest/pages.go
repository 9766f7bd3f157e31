package indexertest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"brine/indexer"
	"brine/search"
)

// testPagesUnderWrites checks that a document that does not change is seen exactly once, in either sort order, while other documents appear
// before and behind the cursor, others move across it, and the cursor's own document is marked as deleted, removed, or moved.
func testPagesUnderWrites(t *testing.T, e indexer.Engine) {
	const n, size = 60, 7
	for _, desc := range []bool{false, true} {
		name := loadMany(t, e, n)
		random := rand.New(rand.NewPCG(1, 5))
		q := search.Query{Index: name, Sort: []search.Order{{Field: "status", Desc: desc}, {Field: "number"}}, Size: size}
		seen, touched := map[string]int{}, map[string]bool{}
		pages := 0
		for ; ; pages++ {
			page, err := e.Search(deadline(t), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range page.Hits {
				seen[string(h.Row)]++
			}
			if page.Next == "" {
				break
			}
			q.After = page.Next
			last, other := string(page.Hits[size-1].Row), fmt.Sprintf("r%03d", random.IntN(n))
			ops := []indexer.Op{put(name, fmt.Sprint("before", pages), 1, `"status":"a"`), put(name, fmt.Sprint("behind", pages), 1, `"status":"z"`),
				changeOf(t, e, name, last, pages)}
			if touched[last] = true; other != last {
				touched[other] = true
				ops = append(ops, put(name, other, versionOf(pages), fmt.Sprintf(`"status":"s%d"`, random.IntN(5))))
			}
			load(t, e, ops...)
		}
		for i := range n {
			if id := fmt.Sprintf("r%03d", i); seen[id] != 1 && !touched[id] {
				t.Errorf("sorted downwards %t: %s was seen %d times", desc, id, seen[id])
			}
		}
		if pages < n/size {
			t.Errorf("only %d pages", pages)
		}
	}
}

// versionOf returns a version that is newer than that of any document, existing or removed, before a page.
func versionOf(page int) int64 { return int64(1000 + 10*page) }

// changeOf returns one of the changes that may happen to a document: it is marked as deleted, removed, or moved to the end.
func changeOf(t *testing.T, e indexer.Engine, index, id string, page int) indexer.Op {
	t.Helper()
	switch page % 3 {
	case 0:
		return put(index, id, versionOf(page), `"deleted":true`)
	case 1:
		is := get(t, e, index, id)
		return indexer.Op{Kind: indexer.Delete, Index: index, ID: []byte(id), SeqNo: is.SeqNo, PrimaryTerm: is.PrimaryTerm}
	default:
		return put(index, id, versionOf(page), `"status":"zz"`)
	}
}
