package indexertest

import (
	"fmt"
	"testing"

	"brine/indexer"
	"brine/search"
)

// testFacets checks that all matches are counted, including those before the cursor and beyond the page, and nothing else.
func testFacets(t *testing.T, e indexer.Engine) {
	name := loadShop(t, e)
	var more []indexer.Op
	for i := range 6 {
		more = append(more, put(name, fmt.Sprint("more", i), 1, fmt.Sprintf(`"status":"s%d","number":%d,"gift":%t`, i/2, i/3-1, i == 0)))
	}
	load(t, e, more...)
	facets := []search.Facet{{Field: "status", Size: 4}, {Field: "gift"}, {Field: "number", Size: 3}}
	for _, c := range []struct {
		name string
		q    search.Query
		want string
	}{
		{"all", search.Query{}, `[[{paid 2} {s0 2} {s1 2} {s2 2}] [{false 6} {true 2}] [{-1 3} {0 3} {-3 1}]]`},
		{"a page", search.Query{Size: 1}, `[[{paid 2} {s0 2} {s1 2} {s2 2}] [{false 6} {true 2}] [{-1 3} {0 3} {-3 1}]]`},
		{"the last page", search.Query{Size: 5, After: `["more4"]`},
			`[[{paid 2} {s0 2} {s1 2} {s2 2}] [{false 6} {true 2}] [{-1 3} {0 3} {-3 1}]]`},
		{"some", search.Query{Filter: []search.Clause{search.Prefix{Field: "status", Prefix: "s"}, search.Term{Field: "gift", Value: false}}},
			`[[{s1 2} {s2 2} {s0 1} {shipped 1}] [{false 6}] [{0 3} {-1 2} {9007199254740992 1}]]`},
		{"of a range", search.Query{Filter: []search.Clause{search.Range{Field: "at", From: int64(1000)}}},
			`[[{paid 1} {shipped 1}] [{false 1} {true 1}] [{9007199254740992 1} {9007199254740993 1}]]`},
		{"none", search.Query{Filter: []search.Clause{search.Term{Field: "status", Value: "none"}}}, `[[] [] []]`},
	} {
		c.q.Index, c.q.Facets = name, facets
		page, err := e.Search(deadline(t), c.q)
		if got := fmt.Sprint(page.Facets); err != nil || got != c.want {
			t.Errorf("%s: %s, error %v\nwant %s", c.name, got, err, c.want)
		}
	}
}
