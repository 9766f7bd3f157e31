package embedded

import (
	"bytes"
	"context"

	"github.com/blevesearch/bleve/v2/mapping"
	bleve "github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	"brine/search"
)

// span is a range of one field's terms, evaluated on the value of every candidate: from ≤ term < to; nil is open.
type span struct {
	field    string
	from, to []byte
	failed   *error // set if a value could not be read, because a filter cannot return an error
}

func newSpan(c search.Range, failed *error) *span {
	s := &span{field: c.Field, failed: failed}
	if c.From != nil {
		s.from = termOf(c.From)
	}
	if c.To != nil {
		s.to = termOf(c.To)
	}
	return s
}

// accept returns the filter of one search. A document without the field is outside the span.
func (s *span) accept(r index.IndexReader) (searcher.FilterFunc, error) {
	values, err := r.DocValueReader([]string{s.field})
	if err != nil {
		return nil, err
	}
	return func(_ *bleve.SearchContext, d *bleve.DocumentMatch) bool {
		within := false
		err := values.VisitDocValues(d.IndexInternalID, func(_ string, term []byte) {
			within = bytes.Compare(term, s.from) >= 0 && (s.to == nil || bytes.Compare(term, s.to) < 0)
		})
		if err != nil {
			*s.failed = err
		}
		return within
	}, nil
}

// Searcher implements query.Query, for a range that must not match: it checks all documents.
func (s *span) Searcher(ctx context.Context, r index.IndexReader, _ mapping.IndexMapping,
	options bleve.SearcherOptions) (bleve.Searcher, error) {
	accept, err := s.accept(r)
	if err != nil {
		return nil, err
	}
	all, err := searcher.NewMatchAllSearcher(ctx, r, 1, options)
	if err != nil {
		return nil, err
	}
	return searcher.NewFilteringSearcher(ctx, all, accept), nil
}
