package search

import (
	"context"
	"encoding/json"
	"errors"
)

// Searcher answers queries. It is safe for concurrent use.
type Searcher interface {
	// Search returns the page of hits that q asks for. Its error is an *Error if the query is at fault, ErrNoIndex if there is no such index,
	// or else the engine's.
	Search(ctx context.Context, q Query) (Page, error)
}

// ErrNoIndex is wrapped by errors about an index that does not exist.
var ErrNoIndex = errors.New("no such index")

// Page is the answer to a query. Hits are sorted as the query says.
type Page struct {
	Hits  []Hit
	Next  Cursor // where the next page begins; empty if this page was not full
	Total int64  // all matches, if the query counts; else −1

	Facets [][]Count // one per facet of the query, in order
}

// Hit is one document.
type Hit struct {
	Row     []byte         // HBase row key
	Version int64          // the newest version in the document
	Fields  map[string]any // string, int64, float64 or bool by name; null fields are absent
	Cursor  Cursor         // the value of After that continues after this hit
}

// Cursor is a position in a sorted answer: a hit's sort values as a JSON array, the row key last. Because it contains values and not
// positions, pages neither repeat nor skip unchanged documents while others are written.
type Cursor string

// values returns the n values in the cursor, as they were written.
func (c Cursor) values(n int) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(c), &list); err != nil {
		return nil, &Error{Msg: "the cursor is damaged; use it as the last page returned it"}
	}
	if len(list) != n {
		return nil, &Error{Msg: "the cursor belongs to another sort order; start again without it"}
	}
	for _, v := range list {
		if v[0] == '{' || v[0] == '[' {
			return nil, &Error{Msg: "the cursor is damaged; use it as the last page returned it"}
		}
	}
	return list, nil
}

// Values returns the cursor's values for a query that sorts by orders: one JSON scalar per order, followed by the row key. Its errors are
// *Error.
func (c Cursor) Values(orders []Order) ([]json.RawMessage, error) {
	return c.values(len(orders) + 1)
}
