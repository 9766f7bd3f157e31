package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"brine/event"
	"brine/rowkey"
	"brine/search"
)

// Request is one question as people write it, with a command's flags or a URL's parameters. View.Question and Table.Question validate it.
type Request struct {
	Args    []string // the arguments: field=value, field=from..to, field=a,b, field=words
	Given   []Given  // for a view: further arguments, in the form that programs have them
	Limit   int      // the number of rows; 0 means a view's page, or all rows of a table. At most MaxPage for a view
	After   Cursor   // continue where an answer to the same arguments ended
	Deleted bool     // include rows that are marked deleted

	Whole bool // for a view: read all families of each row, even if the view reads only some

	Families []string // for a table, if the key answers: read only these
	Get      *Table   // for a table, if the key answers: show the rows of Get instead, found by the fields of the table's rows
}

// Question is a validated Request. It is known whether the key or the index answers it, but no store has been asked yet.
type Question struct {
	where map[string]rowkey.Bound // the conditions that the key answers; nil if the index is asked

	// Of a view's question that the key answers: what to read from its beginning, or from after on.
	buckets []bucket
	joins   bool

	docs  search.Query // the query for the index
	after string       // the place behind which the answer begins
	sum   uint32       // of the view and the conditions: a cursor holds it
	view  *View        // nil: the question is a table's, whose cursors are the places themselves

	table   Table // with the columns to read
	get     *Table
	limit   int // rows; 0 means all
	deleted bool
}

// ByIndex reports whether the index answers the question; otherwise the key does.
func (q *Question) ByIndex() bool { return q.where == nil }

// Gets reports whether the answer shows rows of another table, each of which is a get.
func (q *Question) Gets() bool { return q.get != nil }

// Shows returns the table whose rows the answer shows.
func (q *Question) Shows() string {
	if q.get != nil {
		return q.get.Name
	}
	return q.table.Name
}

// Highlights returns where the words of the question occur in a row, by field name. It searches the row as it is given, so it finds nothing
// in masked values, and nothing that only the document contains.
func (q *Question) Highlights(row *Row) map[string][]search.Span {
	var out map[string][]search.Span
	for _, c := range q.docs.Filter {
		words, ok := c.(search.Match)
		if !ok {
			continue
		}
		for i := range row.Fields {
			f := &row.Fields[i]
			if f.Value.Type != event.Text || !q.table.Index.fills(words.Field, f.Name) {
				continue
			}
			spans := search.Highlight(string(f.Value.Text()), words.Text)
			if len(spans) == 0 {
				continue
			}
			if out == nil {
				out = map[string][]search.Span{}
			}
			out[f.Name] = spans
		}
	}
	return out
}

// Question validates a question of the view. Its errors are *Fault.
func (v *View) Question(ask Request) (*Question, error) {
	switch {
	case ask.Limit < 0 || ask.Limit > MaxPage:
		return nil, &Fault{Arg: "limit", Option: true,
			Msg: fmt.Sprintf("a page of %d rows is not between 1 and %d", ask.Limit, MaxPage),
			Fix: "use a smaller page, and continue with the cursor"}
	case len(ask.Families) > 0:
		return nil, &Fault{Arg: "families", Option: true, Msg: "the view already sets which are read", Fix: "request whole rows"}
	case ask.Get != nil:
		return nil, &Fault{Arg: "get", Option: true, Msg: "the view already sets whose rows are shown"}
	}
	q, err := v.question(&ask)
	if err != nil {
		return nil, err
	}
	if err := v.reads(q, ask.Whole); err != nil {
		return nil, err
	}
	q.limit, q.deleted = cmp.Or(ask.Limit, v.page()), ask.Deleted
	if q.after, err = q.open(ask.After); err != nil {
		return nil, err
	}
	if q.ByIndex() {
		return q, q.checkDocs()
	}
	if q.after == "" {
		return q, nil
	}
	if q.buckets, q.joins, err = v.Table.buckets(q.where, Token(q.after)); err != nil {
		return nil, &Fault{Arg: "cursor", Msg: err.Error()}
	}
	return q, nil
}

// reads sets the columns that a page reads: those of the view's families, or all if whole.
func (v *View) reads(q *Question, whole bool) error {
	q.view, q.table, q.get = v, v.Table, v.Get
	if whole || len(v.Families) == 0 {
		return nil
	}
	brief, err := v.shown().Families(v.Families)
	if v.Get != nil {
		q.get = &brief
	} else {
		q.table = brief
	}
	return err
}

// Question validates a question about any fields of the table. The key answers it if it can, otherwise the index. Its errors are or wrap a
// *Fault.
func (t Table) Question(ask Request) (*Question, error) {
	q := &Question{table: t, limit: max(0, ask.Limit), deleted: ask.Deleted, after: string(ask.After)}
	where, err := parseWhere(t.keyFields(), ask.Args)
	if err == nil {
		err = refused(t.CheckToken(where, ""))
	}
	switch {
	case err == nil:
		q.where = where
		return q, t.refine(q, &ask)
	case t.Index == nil:
		return nil, fmt.Errorf("%w; and there is no index to use: no pipeline writes documents for table %s", err, t.Name)
	}
	if q.docs, err = t.Index.Query(ask.Args); err != nil {
		return nil, err
	}
	switch {
	case len(ask.Families) > 0:
		return nil, &Fault{Arg: "families", Option: true, Msg: "the index answers these conditions, and compares whole rows with its documents"}
	case ask.Get != nil:
		return nil, &Fault{Arg: "get", Option: true, Msg: "the index answers these conditions, with rows of its own table"}
	}
	return q, q.checkDocs()
}

// refine applies what only answers of the key support.
func (t Table) refine(q *Question, ask *Request) error {
	shown := &q.table
	if ask.Get != nil {
		if err := t.CheckLookup(*ask.Get); err != nil {
			return &Fault{Arg: "get", Option: true, Msg: err.Error()}
		}
		get := *ask.Get
		q.get, shown = &get, &get
	}
	if len(ask.Families) > 0 {
		brief, err := shown.Families(ask.Families)
		if err != nil {
			return &Fault{Arg: "families", Option: true, Msg: err.Error()}
		}
		*shown = brief
	}
	if err := q.table.CheckToken(q.where, Token(q.after)); err != nil {
		return &Fault{Arg: "after", Option: true, Msg: err.Error()}
	}
	return nil
}

// checkDocs validates the query for the index.
func (q *Question) checkDocs() error {
	q.docs.After, q.docs.Deleted = search.Cursor(q.after), q.deleted
	return asFault(q.docs.Validate())
}

// Answer holds the rows of one question. Rows can be iterated once.
type Answer struct {
	Rows    iter.Seq2[Found, error]
	ByIndex bool // the index found them; otherwise the key
	Cost    Cost // of an answer of the key; complete when Rows has ended

	limit, given int
	last         Cursor
}

// Next returns where the answer continues, once Rows has ended, or "" if nothing can follow.
func (a *Answer) Next() Cursor {
	if a.limit == 0 || a.given < a.limit {
		return ""
	}
	return a.last
}

// Ask answers the question; docs may be nil unless ByIndex. It does not access the stores before the caller iterates over Rows. The After
// of each row is a Cursor.
func (q *Question) Ask(ctx context.Context, rows Client, docs search.Searcher) (*Answer, error) {
	a := &Answer{ByIndex: q.ByIndex(), limit: q.limit}
	switch {
	case !q.ByIndex():
		o := Options{Limit: q.limit, Deleted: q.deleted, After: Token(q.after), Cost: &a.Cost}
		read := Rows(ctx, rows, q.table, q.where, o)
		if q.view != nil {
			read = q.table.rows(ctx, rows, q.buckets, q.joins, o)
		}
		a.Rows = a.marked(q, withTokens(q.table, read))
	case docs == nil:
		return nil, errNoIndex
	default:
		a.Rows = a.marked(q, Search(ctx, docs, rows, q.table, q.docs, q.limit))
	}
	if q.get != nil {
		a.Rows = Lookup(ctx, rows, *q.get, a.Rows, q.deleted)
	}
	return a, nil
}

var errNoIndex = errors.New("only the index answers this, but there is no search engine")

// Scan returns Rows in the form of Search: each row has its token.
func Scan(ctx context.Context, c Client, t Table, where map[string]rowkey.Bound, o Options) iter.Seq2[Found, error] {
	return withTokens(t, Rows(ctx, c, t, where, o))
}

func withTokens(t Table, rows iter.Seq2[Row, error]) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		for row, err := range rows {
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

// marked sets the cursors of the view on rows, and keeps the last one.
func (a *Answer) marked(q *Question, rows iter.Seq2[Found, error]) iter.Seq2[Found, error] {
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

// refused turns an error about a question into a Fault.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return &Fault{Msg: err.Error()}
}

// asFault turns what the index says about the question into a Fault, and returns other errors as they are.
func asFault(err error) error {
	if fault, ok := errors.AsType[*search.Error](err); ok {
		return &Fault{Arg: fault.Field, Msg: fault.Msg}
	}
	return err
}
