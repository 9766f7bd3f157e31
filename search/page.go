package search

import (
	"context"
	"encoding/json"
	"errors"
)

// Searcher answers queries. It is safe for concurrent use.
type Searcher interface {
	// Search returns the page of hits that q asks for. Its errors are *Error when the query is at fault, ErrNoIndex when
	// there is no such index, else the engine's.
	Search(ctx context.Context, q Query) (Page, error)
}

// ErrNoIndex is wrapped by errors about an index that does not exist.
var ErrNoIndex = errors.New("no such index")

// Page is the answer to a query. Hits are sorted as the query says.
type Page struct {
	Hits  []Hit
	Next  Cursor // where the next page begins; empty when this page was not full
	Total int64  // all matches, when the query counts; else −1

	Facets [][]Count // of each of the query's facets, in their order
}

// Hit is one document.
type Hit struct {
	Row     []byte         // HBase row key
	Version int64          // the newest version in the document
	Fields  map[string]any // string, int64, float64 or bool by name; fields that are null are absent
	Cursor  Cursor         // After this hit
}

// Cursor is a place in a sorted answer: the sort values of a hit as a JSON array, the row key's last. Since it names values,
// not positions, pages neither repeat nor skip documents that stay as they are while others are written.
type Cursor string

// values are the n values that the cursor holds, as they were written.
func (c Cursor) values(n int) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(c), &list); err != nil {
		return nil, &Error{Msg: "the cursor is damaged; use it as the last page gave it"}
	}
	if len(list) != n {
		return nil, &Error{Msg: "the cursor belongs to another sort order; start again without it"}
	}
	for _, v := range list {
		if v[0] == '{' || v[0] == '[' {
			return nil, &Error{Msg: "the cursor is damaged; use it as the last page gave it"}
		}
	}
	return list, nil
}

// Values are the cursor's values for a query that sorts by orders: one JSON scalar for each, then the row key's.
// Its errors are *Error.
func (c Cursor) Values(orders []Order) ([]json.RawMessage, error) {
	return c.values(len(orders) + 1)
}
