package embedded

import (
	"context"
	"errors"
	"fmt"

	bleve "github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/collector"
	"github.com/blevesearch/bleve/v2/search/query"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	"brine/indexer"
	"brine/search"
)

// search answers a query that fits the mapping.
func (s *store) search(ctx context.Context, q *search.Query) (search.Page, error) {
	reader, err := s.scorch.Reader()
	if err != nil {
		return search.Page{}, err
	}
	defer func() { _ = reader.Close() }() // everything has been read
	orders := s.orders(q)
	coll := collector.NewTopNCollector(q.Limit(), 0, orders)
	if q.After != "" {
		after, err := s.after(q)
		if err != nil {
			return search.Page{}, err
		}
		coll = collector.NewTopNCollectorAfter(q.Limit(), orders, after)
	}
	if counted := counters(reader, q.Facets); counted != nil {
		coll.SetFacetsBuilder(counted)
	}
	var failed error
	found, err := s.searcher(ctx, reader, q, orders.RequiresScore(), &failed)
	if err != nil {
		return search.Page{}, fmt.Errorf("search index %s: %w", s.name, err)
	}
	defer func() { _ = found.Close() }() // everything has been read
	err = coll.Collect(ctx, found, reader)
	if err = errors.Join(err, failed); err != nil {
		return search.Page{}, fmt.Errorf("search index %s: %w", s.name, err)
	}
	page := search.Page{Total: -1}
	if q.Count {
		page.Total = int64(coll.Total())
	}
	page.Facets = s.facets(coll.FacetResults(), q.Facets)
	page.Hits, err = s.hits(reader, coll.Results(), q)
	if n := len(page.Hits); n > 0 && n == q.Limit() {
		page.Next = page.Hits[n-1].Cursor
	}
	return page, err
}

// hits reads the documents of the matches, from the reader that found them.
func (s *store) hits(reader index.IndexReader, matches bleve.DocumentMatchCollection, q *search.Query) ([]search.Hit, error) {
	ids := make([]string, len(matches))
	place := make(map[string]int, len(matches))
	for i, m := range matches {
		ids[i], place[m.ID] = m.ID, i
	}
	hits := make([]search.Hit, len(matches))
	var failed error
	err := readFrom(reader, ids, func(id, stored []byte) {
		i := place[string(id)]
		hit, err := indexer.Hit(id, stored[min(headerSize, len(stored)):])
		if err != nil {
			failed = fmt.Errorf("index %s: document %s: %w", s.name, id, err)
			return
		}
		hit.Cursor = s.cursor(matches[i], q)
		hits[i] = hit
	})
	if err == nil {
		err = failed
	}
	return hits, err
}

// searcher returns a searcher for the documents that match. It sets failed if it could not decide for one of them.
func (s *store) searcher(ctx context.Context, r index.IndexReader, q *search.Query, score bool, failed *error) (bleve.Searcher, error) {
	options := bleve.SearcherOptions{}
	if !score {
		options.Score = "none"
	}
	must := []query.Query{}
	var spans []*span
	add := func(c search.Clause, weigh func(query.Query) query.Query) {
		if r, ok := c.(search.Range); ok {
			spans = append(spans, newSpan(r, failed))
			return
		}
		must = append(must, weigh(s.leaf(c, failed)))
	}
	for _, c := range q.Must {
		add(c, func(q query.Query) query.Query { return q })
	}
	for _, c := range q.Filter {
		add(c, unscored)
	}
	if len(must) == 0 {
		must = append(must, query.NewMatchAllQuery())
	}
	var not []query.Query
	for _, c := range q.MustNot {
		not = append(not, s.leaf(c, failed))
	}
	if !q.Deleted {
		not = append(not, term(indexer.FieldDeleted, true))
	}
	// These are joined here instead of in query.BooleanQuery, which treats a condition that matches nothing as absent.
	all, err := query.NewConjunctionQuery(must).Searcher(ctx, r, nil, options)
	if err != nil {
		return nil, err
	}
	if len(not) > 0 {
		none, err := query.NewDisjunctionQuery(not).Searcher(ctx, r, nil, options)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		if all, err = searcher.NewBooleanSearcher(ctx, r, all, nil, none, options); err != nil {
			return nil, err
		}
	}
	for _, sp := range spans { // last, so that they check only what the others leave
		accept, err := sp.accept(r)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all = searcher.NewFilteringSearcher(ctx, all, accept)
	}
	return all, nil
}

func unscored(q query.Query) query.Query {
	if b, ok := q.(query.BoostableQuery); ok {
		b.SetBoost(0)
	}
	return q
}

// leaf returns one clause in Bleve's form.
func (s *store) leaf(c search.Clause, failed *error) query.Query {
	switch c := c.(type) {
	case search.Term:
		return term(c.Field, c.Value)
	case search.Terms:
		var any []query.Query
		for _, v := range c.Values {
			any = append(any, term(c.Field, v))
		}
		return query.NewDisjunctionQuery(any)
	case search.Match:
		var all []query.Query
		for _, token := range s.analyzer.Analyze([]byte(c.Text)) {
			all = append(all, field(query.NewTermQuery(string(token.Term)), c.Field))
		}
		if len(all) == 0 {
			return query.NewMatchNoneQuery()
		}
		return query.NewConjunctionQuery(all)
	case search.Prefix:
		return field(query.NewPrefixQuery(c.Prefix), c.Field)
	case search.Range:
		return newSpan(c, failed)
	default:
		panic(fmt.Sprintf("BUG: clause of type %T", c))
	}
}

func term(name string, value any) query.Query {
	return field(query.NewTermQuery(string(termOf(value))), name)
}

func field(q query.FieldableQuery, name string) query.Query {
	q.SetField(name)
	return q
}
