package query

import (
	"context"

	"brine/search"
)

// Tally is how many rows answer a question.
type Tally struct {
	Rows    int64
	ByIndex bool          // as its documents stand; else the rows themselves were read
	Values  []ValueCounts // of each of the view's Counts
}

// ValueCounts is how many rows hold each value of a field, the most frequent first.
type ValueCounts struct {
	Field  string
	Counts []search.Count
}

// Count counts what answers a question, whatever its Limit and After: the index where it can, since it reads no rows.
func (r *Reader) Count(ctx context.Context, ask Request) (Tally, error) {
	v := r.view
	v.Get = nil // it shows other rows, and as many
	conditions, err := v.conditions(ask.Args, ask.Given)
	if err != nil {
		return Tally{}, err
	}
	asked := make([]Arg, len(conditions))
	for i, c := range conditions {
		asked[i] = c.arg
	}
	if r.docs == nil || v.Table.indexServes(asked) != nil {
		return r.countRows(ctx, ask)
	}
	q := &Question{}
	if err := v.byIndex(q, conditions); err != nil {
		return Tally{}, err
	}
	q.docs.Size, q.docs.Sort, q.docs.Count, q.docs.Deleted = 1, nil, true, ask.Deleted
	return r.countDocuments(ctx, q.docs)
}

func (r *Reader) countDocuments(ctx context.Context, q search.Query) (Tally, error) {
	for _, name := range r.view.Counts {
		f, err := r.view.Table.Index.of(name)
		if err != nil {
			return Tally{}, err
		}
		q.Facets = append(q.Facets, search.Facet{Field: f.Name, Size: search.MaxFacet})
	}
	page, err := r.docs.Search(ctx, q)
	if err != nil {
		return Tally{}, asFault(err)
	}
	t := Tally{Rows: page.Total, ByIndex: true}
	for i, name := range r.view.Counts {
		t.Values = append(t.Values, ValueCounts{name, page.Facets[i]})
	}
	return t, nil
}

// countRows reads them all, one page's columns of each.
func (r *Reader) countRows(ctx context.Context, ask Request) (t Tally, err error) {
	q, err := r.view.question(&ask)
	switch {
	case err != nil:
		return t, err
	case q.ByIndex():
		return t, errNoIndex
	}
	if err := r.view.reads(q, false); err != nil {
		return t, err
	}
	for _, err := range Rows(ctx, r.rows, q.table, q.where, Options{Deleted: ask.Deleted}) {
		if err != nil {
			return t, err
		}
		t.Rows++
	}
	return t, nil
}
