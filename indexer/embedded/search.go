package embedded

import (
	"context"
	"fmt"
	"math"

	"github.com/blevesearch/bleve/v2/numeric"
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
	defer reader.Close()
	orders := s.orders(q)
	coll := collector.NewTopNCollector(q.Limit(), 0, orders)
	if q.After != "" {
		after, err := s.after(q)
		if err != nil {
			return search.Page{}, err
		}
		coll = collector.NewTopNCollectorAfter(q.Limit(), orders, after)
	}
	found, err := s.searcher(ctx, reader, q, orders.RequiresScore())
	if err != nil {
		return search.Page{}, fmt.Errorf("search index %s: %w", s.name, err)
	}
	defer found.Close()
	if err := coll.Collect(ctx, found, reader); err != nil {
		return search.Page{}, fmt.Errorf("search index %s: %w", s.name, err)
	}
	page := search.Page{Total: -1}
	if q.Count {
		page.Total = int64(coll.Total())
	}
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

// searcher finds the documents that match.
func (s *store) searcher(ctx context.Context, r index.IndexReader, q *search.Query, score bool) (bleve.Searcher, error) {
	options := bleve.SearcherOptions{}
	if !score {
		options.Score = "none"
	}
	must := []query.Query{}
	for _, c := range q.Must {
		must = append(must, s.leaf(c))
	}
	for _, c := range q.Filter {
		must = append(must, unscored(s.leaf(c)))
	}
	if len(must) == 0 {
		must = append(must, query.NewMatchAllQuery())
	}
	var not []query.Query
	for _, c := range q.MustNot {
		not = append(not, s.leaf(c))
	}
	if !q.Deleted {
		not = append(not, s.leaf(search.Term{Field: indexer.FieldDeleted, Value: true}))
	}
	// Joined here and not by query.BooleanQuery, which takes a condition that matches nothing for one that is not there.
	all, err := query.NewConjunctionQuery(must).Searcher(ctx, r, nil, options)
	if err != nil || len(not) == 0 {
		return all, err
	}
	none, err := query.NewDisjunctionQuery(not).Searcher(ctx, r, nil, options)
	if err != nil {
		all.Close()
		return nil, err
	}
	return searcher.NewBooleanSearcher(ctx, r, all, nil, none, options)
}

func unscored(q query.Query) query.Query {
	if b, ok := q.(query.BoostableQuery); ok {
		b.SetBoost(0)
	}
	return q
}

// leaf is one clause in Bleve's form.
func (s *store) leaf(c search.Clause) query.Query {
	switch c := c.(type) {
	case search.Term:
		return s.term(c.Field, c.Value)
	case search.Terms:
		var any []query.Query
		for _, v := range c.Values {
			any = append(any, s.term(c.Field, v))
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
		return s.span(c)
	default:
		panic(fmt.Sprintf("BUG: clause of type %T", c))
	}
}

func field(q query.FieldableQuery, name string) query.Query {
	q.SetField(name)
	return q
}

func (s *store) term(name string, value any) query.Query {
	switch v := value.(type) {
	case string:
		return field(query.NewTermQuery(v), name)
	case bool:
		return field(query.NewTermQuery(string(boolTerm(v))), name)
	default:
		return numbers(name, ordinal(v), ordinal(v))
	}
}

// numbers is the documents whose number's ordinal is within from and to, both included.
func numbers(name string, from, to int64) query.Query {
	low, high, yes := numeric.Int64ToFloat64(from), numeric.Int64ToFloat64(to), true
	return field(query.NewNumericRangeInclusiveQuery(&low, &high, &yes, &yes), name)
}

func (s *store) span(c search.Range) query.Query {
	if s.mapping.Load().Type(c.Field) == indexer.Keyword {
		from, _ := c.From.(string)
		to, _ := c.To.(string)
		yes, no := true, false
		if c.To != nil && to == "" {
			return query.NewMatchNoneQuery() // nothing is less; Bleve takes it for open
		}
		return field(query.NewTermRangeInclusiveQuery(from, to, &yes, &no), c.Field)
	}
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if c.From != nil {
		from = ordinal(c.From)
	}
	if c.To != nil {
		if to = ordinal(c.To); to == math.MinInt64 {
			return query.NewMatchNoneQuery()
		}
		to--
	}
	if from > to {
		return query.NewMatchNoneQuery()
	}
	return numbers(c.Field, from, to)
}
