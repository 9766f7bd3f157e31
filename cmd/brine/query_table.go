package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"brine/config"
	"brine/query"
	"brine/rowkey"
	"brine/search"
	"brine/tracing"
)

// question is conditions on a table, and who answers them.
type question struct {
	table   query.Table
	limit   int
	deleted bool
	get     *query.Table            // whose rows are shown instead; nil: the table's own
	after   string                  // where an answer ended
	last    search.Cursor           // behind the last row that the key's answer gave
	cost    query.Cost              // of it
	where   map[string]rowkey.Bound // what the key answers; nil when the index is asked
	docs    search.Query            // what the index is asked
}

// newQuestion takes the key where it can answer, else the index.
func newQuestion(cfg *config.Config, t *config.Table, conditions []string) (*question, error) {
	asked, err := queried(cfg, t)
	if err != nil {
		return nil, err
	}
	q := &question{table: asked}
	where, err := query.ParseWhere(cfg.KeyTypes(t), conditions)
	if err == nil {
		err = q.table.CheckToken(where, "")
	}
	if err == nil {
		q.where = where
		return q, nil
	}
	if q.table.Index == nil {
		return nil, fmt.Errorf("%w; and there is no index to ask: no pipeline writes documents beside table %s", err, t.Name)
	}
	q.docs, err = q.table.Index.Query(conditions)
	return q, err
}

func (q *question) byKey() bool { return q.where != nil }

// lookup is the other table whose rows are shown.
func (q *question) lookup(cfg *config.Config, name string) (*query.Table, error) {
	t, err := table(cfg, name)
	if err != nil {
		return nil, err
	}
	other, err := queried(cfg, t)
	if err != nil {
		return nil, err
	}
	return &other, q.table.CheckLookup(other)
}

// queried is a table as it is asked.
func queried(cfg *config.Config, t *config.Table) (query.Table, error) {
	asked, ok := cfg.Query(t)
	if !ok {
		return asked, fmt.Errorf("no pipeline writes table %s, so the types of its fields are not known", t.Name)
	}
	return asked, nil
}

// rows asks. The engine may be nil when the key answers.
func (q *question) rows(ctx context.Context, client query.Client, engine search.Searcher) iter.Seq2[query.Found, error] {
	if !q.byKey() {
		q.docs.Deleted, q.docs.After = q.deleted, search.Cursor(q.after)
		return query.Search(ctx, asked{tracing.Searcher(engine)}, client, q.table, q.docs, q.limit)
	}
	o := query.Options{Limit: q.limit, Deleted: q.deleted, After: query.Token(q.after), Cost: &q.cost}
	found := query.Scan(ctx, client, q.table, q.where, o)
	if q.get != nil {
		return query.Lookup(ctx, client, *q.get, q.noted(found), q.deleted)
	}
	return found
}

// more is where to go on behind the key's answer, when it was full; of that a look-up may show fewer rows.
func (q *question) more() search.Cursor {
	if q.cost.Rows == q.limit {
		return q.last
	}
	return ""
}

// noted keeps where the key's answer has come to.
func (q *question) noted(rows iter.Seq2[query.Found, error]) iter.Seq2[query.Found, error] {
	return func(yield func(query.Found, error) bool) {
		for found, err := range rows {
			if err == nil {
				q.last = found.After
			}
			if !yield(found, err) {
				return
			}
		}
	}
}

// asked is a search engine whose errors have their exit codes.
type asked struct{ search.Searcher }

func (a asked) Search(ctx context.Context, q search.Query) (search.Page, error) {
	page, err := a.Searcher.Search(ctx, q)
	var fault *search.Error
	switch {
	case errors.As(err, &fault):
		err = usage(err)
	case errors.Is(err, search.ErrNoIndex):
		err = &exitError{exitMissing, err, "brine tables apply -c FILE creates it"}
	case err != nil:
		err = searchError(err)
	}
	return page, err
}
