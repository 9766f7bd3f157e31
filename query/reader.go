package query

import (
	"context"
	"fmt"

	"brine/search"
)

// Reader answers the questions of one view. It is safe for concurrent use if its stores are.
type Reader struct {
	view View
	rows Client
	docs search.Searcher
}

// Open returns a Reader that answers a view from its stores; docs may be nil if no question needs the index.
func Open(v View, rows Client, docs search.Searcher) (*Reader, error) {
	if err := v.Check(); err != nil {
		return nil, fmt.Errorf("view %s: %w", v.Name, err)
	}
	return &Reader{view: v, rows: rows, docs: docs}, nil
}

// Ask answers a question. An error that is a *Fault concerns the question, any other comes from a store.
func (r *Reader) Ask(ctx context.Context, ask Request) (*Answer, error) {
	q, err := r.view.Question(ask)
	if err != nil {
		return nil, err
	}
	return q.Ask(ctx, r.rows, r.docs)
}

// Page is one page of an answer.
type Page struct {
	Rows    []Found
	Next    Cursor // where the next page begins; empty if nothing follows
	ByIndex bool
}

// Page returns one whole page of the answer to a question.
func (r *Reader) Page(ctx context.Context, ask Request) (Page, error) {
	a, err := r.Ask(ctx, ask)
	if err != nil {
		return Page{}, err
	}
	p := Page{ByIndex: a.ByIndex}
	for f, err := range a.Rows {
		if err != nil {
			return p, err
		}
		p.Rows = append(p.Rows, f)
	}
	p.Next = a.Next()
	return p, nil
}

// Whole reads rows that a page has shown with all their families, in one batched get: what a page leaves out is read when someone opens a
// row. A row that no longer exists has no Fields.
func (r *Reader) Whole(ctx context.Context, rows ...Row) ([]Row, error) {
	shown := r.view.shown()
	keys := make([][]byte, 0, len(rows)*len(shown.Keys))
	for i := range rows {
		var err error
		if keys, err = shown.keysOfRow(keys, &rows[i]); err != nil {
			return nil, err
		}
	}
	return ByKey(ctx, r.rows, *shown, keys)
}

// keysOfRow appends the row's key under each of the table's keys.
func (t Table) keysOfRow(keys [][]byte, row *Row) ([][]byte, error) {
	if len(t.Keys) == 1 {
		return append(keys, row.Key), nil
	}
	return appendKeys(keys, t.Keys, row.keyValue)
}
