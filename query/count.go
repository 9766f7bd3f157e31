package query

import (
	"context"

	"brine/search"
)

// Tally is the number of rows that answer a question.
type Tally struct {
	Rows    int64
	ByIndex bool          // counted by its documents; otherwise by reading the rows themselves
	Values  []ValueCounts // for each field that is counted by
}

// ValueCounts is the number of rows with each value of a field, the most frequent first.
type ValueCounts struct {
	Field  string
	Counts []search.Count
}

// Count counts the rows that answer a question, whatever its Limit and After. It uses the index if it can, because that reads no rows.
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

// Facets counts the rows that answer a question, whatever its Limit and After, by the values of fields, which are some of the view's
// Counts. It returns up to values counts per field. Only the index counts: a question that the index does not answer is a *Fault.
func (v *View) Facets(ctx context.Context, docs search.Searcher, ask Request, fields []string, values int) (Tally, error) {
	q, served, err := v.counting(&ask)
	switch {
	case err != nil:
		return Tally{}, err
	case served != nil:
		return Tally{}, &Fault{Msg: "counting needs the index, which does not answer this: " + said(served), Fix: adviceOf(served)}
	case docs == nil:
		return Tally{}, errNoIndex
	}
	return v.tally(ctx, docs, q, fields, values)
}

// counting returns the query that the index counts; served is the reason if the index cannot answer the question.
func (v *View) counting(ask *Request) (q search.Query, served, err error) {
	counted := *v
	counted.Get = nil // it shows other rows, but the same number
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

// Counted returns the fields of the index by whose values the view counts, keyed by their names in Counts.
func (v *View) Counted() map[string]IndexField {
	out := map[string]IndexField{}
	for _, name := range v.Counts {
		if f, err := v.Table.Index.of(name); err == nil { // checked
			out[name] = *f
		}
	}
	return out
}

// countRows reads all rows, with the columns of a page.
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
