package query

import (
	"context"

	"brine/search"
)

// Tally is how many rows answer a question.
type Tally struct {
	Rows    int64
	ByIndex bool          // as its documents stand; else the rows themselves were read
	Values  []ValueCounts // of each field that is counted by
}

// ValueCounts is how many rows hold each value of a field, the most frequent first.
type ValueCounts struct {
	Field  string
	Counts []search.Count
}

// Count counts what answers a question, whatever its Limit and After: the index where it can, since it reads no rows.
func (r *Reader) Count(ctx context.Context, ask Request) (Tally, error) {
	q, served, err := r.view.counting(&ask)
	switch {
	case err != nil:
		return Tally{}, err
	case r.docs == nil || served != nil:
		return r.countRows(ctx, ask)
	}
	return r.view.tally(ctx, r.docs, q, r.view.Counts, search.MaxFacet)
}

// Facets counts what answers a question, whatever its Limit and After, by values of some of the view's Counts, up to so many of each. Only
// the index counts: what it does not answer is a *Fault.
func (v *View) Facets(ctx context.Context, docs search.Searcher, ask Request, fields []string, values int) (Tally, error) {
	q, served, err := v.counting(&ask)
	switch {
	case err != nil:
		return Tally{}, err
	case served != nil:
		return Tally{}, &Fault{Msg: "the index counts, and does not answer this: " + said(served), Fix: adviceOf(served)}
	case docs == nil:
		return Tally{}, errNoIndex
	}
	return v.tally(ctx, docs, q, fields, values)
}

// counting is what the index is asked to count; served says why it does not answer such a question.
func (v *View) counting(ask *Request) (q search.Query, served, err error) {
	counted := *v
	counted.Get = nil // it shows other rows, and as many
	conditions, err := counted.conditions(ask.Args, ask.Given)
	if err != nil {
		return q, nil, err
	}
	asked := make([]Arg, len(conditions))
	for i, c := range conditions {
		asked[i] = c.arg
	}
	if served = counted.Table.indexServes(asked); served != nil {
		return q, served, nil
	}
	question := &Question{}
	if err := counted.byIndex(question, conditions); err != nil {
		return q, nil, err
	}
	q = question.docs
	q.Size, q.Sort, q.Count, q.Deleted = 1, nil, true, ask.Deleted
	return q, nil, nil
}

func (v *View) tally(ctx context.Context, docs search.Searcher, q search.Query, fields []string, values int) (Tally, error) {
	for _, name := range fields {
		f, err := v.Table.Index.of(name)
		if err != nil {
			return Tally{}, err
		}
		q.Facets = append(q.Facets, search.Facet{Field: f.Name, Size: values})
	}
	page, err := docs.Search(ctx, q)
	if err != nil {
		return Tally{}, asFault(err)
	}
	t := Tally{Rows: page.Total, ByIndex: true}
	for i, name := range fields {
		t.Values = append(t.Values, ValueCounts{name, page.Facets[i]})
	}
	return t, nil
}

// Counted are the fields of the index by whose values the view counts, by the names that Counts has for them.
func (v *View) Counted() map[string]IndexField {
	out := map[string]IndexField{}
	for _, name := range v.Counts {
		if f, err := v.Table.Index.of(name); err == nil { // checked
			out[name] = *f
		}
	}
	return out
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
