package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"brine/indexer"
	"brine/search"
)

// Search implements search.Searcher.
func (e *Engine) Search(ctx context.Context, q search.Query) (search.Page, error) {
	if err := q.Validate(); err != nil {
		return search.Page{}, err
	}
	m, err := e.check(ctx, &q)
	if err != nil {
		return search.Page{}, err
	}
	request, err := request(&q)
	if err != nil {
		return search.Page{}, err
	}
	var a answer
	if err := e.json(ctx, "POST", "/"+q.Index+"/_search"+shards(&m, &q), request, &a); err != nil {
		var refused *indexer.RequestError
		if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			e.forget(q.Index)
			return search.Page{}, fmt.Errorf("index %s: %w", q.Index, search.ErrNoIndex)
		}
		return search.Page{}, fmt.Errorf("search index %s: %w", q.Index, err)
	}
	if a.TimedOut || a.Shards.Failed > 0 {
		return search.Page{}, fmt.Errorf("search index %s: %d of its shards did not answer, and brine accepts no partial answers", q.Index,
			a.Shards.Failed)
	}
	page, err := a.page(&q)
	if err != nil {
		return search.Page{}, err
	}
	page.Facets, err = a.facets(&q)
	return page, err
}

// check checks the query against the mapping, which it reads again if a field is missing.
func (e *Engine) check(ctx context.Context, q *search.Query) (indexer.Mapping, error) {
	e.mu.Lock()
	m, ok := e.known[q.Index]
	e.mu.Unlock()
	if ok && m.Check(q) == nil {
		return m, nil
	}
	m, err := e.Mapping(ctx, q.Index)
	if err != nil {
		return m, err
	}
	return m, m.Check(q)
}

type answer struct {
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Failed int `json:"failed"`
	} `json:"_shards"`
	Hits struct {
		Total *struct {
			Value int64 `json:"value"`
		} `json:"total"`
		Hits []struct {
			ID     string          `json:"_id"`
			Source json.RawMessage `json:"_source"`
			Sort   json.RawMessage `json:"sort"`
		} `json:"hits"`
	} `json:"hits"`
	Aggregations map[string]struct {
		Buckets []bucket `json:"buckets"`
	} `json:"aggregations"`
}

func (a *answer) page(q *search.Query) (search.Page, error) {
	page := search.Page{Total: -1}
	if a.Hits.Total != nil && q.Count {
		page.Total = a.Hits.Total.Value
	}
	for _, h := range a.Hits.Hits {
		hit, err := indexer.Hit([]byte(h.ID), h.Source)
		if err != nil {
			return search.Page{}, fmt.Errorf("index %s: document %s: %w", q.Index, h.ID, err)
		}
		hit.Cursor = search.Cursor(h.Sort)
		page.Hits = append(page.Hits, hit)
	}
	if n := len(page.Hits); n > 0 && n == q.Limit() {
		page.Next = page.Hits[n-1].Cursor
	}
	return page, nil
}

// request returns the query in Elasticsearch's form. Everything from outside is a JSON value of its own, never part of a text.
func request(q *search.Query) (object, error) {
	sort := []object{}
	for _, o := range q.Sort {
		order := "asc"
		if o.Desc {
			order = "desc"
		}
		if o.Field == search.Score {
			sort = append(sort, object{search.Score: object{"order": order}})
			continue
		}
		sort = append(sort, object{o.Field: object{"order": order, "missing": "_last"}})
	}
	sort = append(sort, object{indexer.FieldRow: object{"order": "asc"}})
	mustNot := clauses(q.MustNot)
	if !q.Deleted {
		mustNot = append(mustNot, object{"term": object{indexer.FieldDeleted: true}})
	}
	r := object{
		"query":            object{"bool": object{"must": clauses(q.Must), "filter": clauses(q.Filter), "must_not": mustNot}},
		"sort":             sort,
		"size":             q.Limit(),
		"track_total_hits": q.Count,
		"_source":          object{"excludes": []string{indexer.FieldVersions}},
	}
	if len(q.Facets) > 0 {
		r["aggs"] = aggregations(q.Facets)
	}
	if q.After != "" {
		values, err := q.After.Values(q.Sort)
		if err != nil {
			return nil, err
		}
		r["search_after"] = values
	}
	return r, nil
}

func clauses(list []search.Clause) []object {
	out := []object{}
	for _, c := range list {
		out = append(out, clause(c))
	}
	return out
}

func clause(c search.Clause) object {
	switch c := c.(type) {
	case search.Term:
		return object{"term": object{c.Field: object{"value": c.Value}}}
	case search.Terms:
		return object{"terms": object{c.Field: c.Values}}
	case search.Match:
		return object{"match": object{c.Field: object{"query": c.Text, "operator": "and"}}}
	case search.Prefix:
		return object{"prefix": object{c.Field: object{"value": c.Prefix}}}
	case search.Range:
		bounds := object{}
		if c.From != nil {
			bounds["gte"] = c.From
		}
		if c.To != nil {
			bounds["lt"] = c.To
		}
		return object{"range": object{c.Field: bounds}}
	default:
		panic(fmt.Sprintf("BUG: clause of type %T", c))
	}
}
