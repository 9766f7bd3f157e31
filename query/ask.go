package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/search"
)

// Reader answers the questions of one view. It is safe for concurrent use as far as its stores are.
type Reader struct {
	view  View
	table Table // with the columns that a page reads
	get   *Table
	rows  Client
	docs  search.Searcher
}

// Open makes a view answer from its stores; docs may be nil where no question is the index's.
func Open(v View, rows Client, docs search.Searcher) (*Reader, error) {
	if err := v.Check(); err != nil {
		return nil, fmt.Errorf("view %s: %w", v.Name, err)
	}
	r := &Reader{view: v, table: v.Table, get: v.Get, rows: rows, docs: docs}
	if len(v.Families) == 0 {
		return r, nil
	}
	brief, err := v.shown().Families(v.Families)
	if v.Get != nil {
		r.get = &brief
	} else {
		r.table = brief
	}
	return r, err
}

// Request is one question.
type Request struct {
	Args    []string // the arguments: field=value, field=from..to, field=a,b, field=words
	Limit   int      // rows, at most MaxPage; 0 means the view's page
	After   Cursor   // go on where an answer to the same arguments ended
	Deleted bool     // also rows that are marked deleted
	Whole   bool     // read all families of each row, though the view reads some
}

// Answer is the rows of one question, from Rows, which can be gone through once.
type Answer struct {
	Rows    iter.Seq2[Found, error]
	ByIndex bool // the index has found them; else the key
	Cost    Cost // of an answer of the key; whole when Rows has ended

	limit, given int
	last         Cursor
}

// Next is where the answer goes on, when Rows has ended; empty when nothing can follow.
func (a *Answer) Next() Cursor {
	if a.given < a.limit {
		return ""
	}
	return a.last
}

// ByIndex reports whether the index answers a question, or the key; its errors are *Fault. It asks nobody.
func (v *View) ByIndex(ask Request) (bool, error) {
	q, err := v.prepare(ask)
	return err == nil && !q.byKey(), err
}

// prepare reads a question whole.
func (v *View) prepare(ask Request) (*question, error) {
	if ask.Limit < 0 || ask.Limit > MaxPage {
		return nil, &Fault{"limit", fmt.Sprintf("a page of %d rows is not within 1 and %d; ask for fewer, and go on with the cursor", ask.Limit, MaxPage)}
	}
	q, err := v.question(ask.Args)
	if err != nil {
		return nil, err
	}
	if q.after, err = q.open(ask.After); err != nil {
		return nil, err
	}
	if !q.byKey() {
		q.docs.After = search.Cursor(q.after)
		return q, asFault(q.docs.Validate())
	}
	if err := v.Table.CheckToken(q.where, Token(q.after)); err != nil {
		return nil, &Fault{"cursor", err.Error()}
	}
	return q, nil
}

// Ask answers a question. An error that is a *Fault is its own, any other a store's; of the stores nothing is asked before Rows is.
// Each row's After is a Cursor.
func (r *Reader) Ask(ctx context.Context, ask Request) (*Answer, error) {
	q, err := r.view.prepare(ask)
	if err != nil {
		return nil, err
	}
	table, get := r.table, r.get
	if ask.Whole {
		table, get = r.view.Table, r.view.Get
	}
	a := &Answer{ByIndex: !q.byKey(), limit: cmp.Or(ask.Limit, r.view.page())}
	switch {
	case q.byKey():
		o := Options{Limit: a.limit, Deleted: ask.Deleted, After: Token(q.after), Cost: &a.Cost}
		a.Rows = a.marked(q, Scan(ctx, r.rows, table, q.where, o))
	case r.docs == nil:
		return nil, errNoIndex
	default:
		q.docs.Deleted = ask.Deleted
		a.Rows = a.marked(q, Search(ctx, r.docs, r.rows, table, q.docs, a.limit))
	}
	if get != nil {
		a.Rows = Lookup(ctx, r.rows, *get, a.Rows, ask.Deleted)
	}
	return a, nil
}

var errNoIndex = errors.New("the index answers this, and there is no search engine to ask")

// Scan returns Rows as Search gives those of the index: behind each is its token.
func Scan(ctx context.Context, c Client, t Table, where map[string]rowkey.Bound, o Options) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		for row, err := range Rows(ctx, c, t, where, o) {
			f := Found{Row: row}
			if err == nil {
				f.After = search.Cursor(t.Token(row))
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// marked gives rows the cursors of the view, and keeps the last one.
func (a *Answer) marked(q *question, rows iter.Seq2[Found, error]) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		for f, err := range rows {
			if err == nil {
				a.last = q.cursor(string(f.After))
				f.After = search.Cursor(a.last)
				a.given++
			}
			if !yield(f, asFault(err)) {
				return
			}
		}
	}
}

// asFault tells what the index says of the question from what it says of itself.
func asFault(err error) error {
	if fault, ok := errors.AsType[*search.Error](err); ok {
		return &Fault{fault.Field, fault.Msg}
	}
	return err
}

// Page is one page of an answer.
type Page struct {
	Rows    []Found
	Next    Cursor // where the next one begins; empty when nothing follows
	ByIndex bool
}

// Page answers a question whole.
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

// Whole reads rows that a page has shown in all their families, in one batched get: what a page leaves out is read when someone
// opens a row. A row that is not there any more has no Fields.
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

// keysOfRow adds what a row is called under each of the table's keys.
func (t Table) keysOfRow(keys [][]byte, row *Row) ([][]byte, error) {
	if len(t.Keys) == 1 {
		return append(keys, row.Key), nil
	}
	return appendKeys(keys, t.Keys, func(name string) rowkey.Value {
		at := slices.IndexFunc(row.Fields, func(f Field) bool { return f.Name == name })
		if at < 0 {
			return rowkey.Value{} // a key that needs it says so
		}
		return eventkey.Value(row.Fields[at].Value)
	})
}
