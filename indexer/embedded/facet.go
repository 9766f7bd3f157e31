package embedded

import (
	"github.com/blevesearch/bleve/v2/numeric"
	bleve "github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/facet"
	index "github.com/blevesearch/bleve_index_api"

	"brine/indexer"
	"brine/search"
)

// counters returns a builder that counts the matches of one search by the terms of the facets' fields, or nil if there are no facets.
func counters(r index.IndexReader, facets []search.Facet) *bleve.FacetsBuilder {
	if len(facets) == 0 {
		return nil
	}
	all := bleve.NewFacetsBuilder(r)
	for _, f := range facets {
		all.Add(f.Field, facet.NewTermsFacetBuilder(f.Field, f.Limit()))
	}
	return all
}

// facets returns the counts by the values that the terms stand for.
func (s *store) facets(results bleve.FacetResults, facets []search.Facet) [][]search.Count {
	var all [][]search.Count
	m := s.mapping.Load()
	for _, f := range facets {
		counts := []search.Count{}
		if r := results[f.Field]; r != nil && r.Terms != nil {
			for _, t := range r.Terms.Terms() {
				counts = append(counts, search.Count{Value: valueOf(m.Type(f.Field), t.Term), N: int64(t.Count)})
			}
		}
		all = append(all, counts)
	}
	return all
}

// valueOf returns the value that was indexed as a term.
func valueOf(t indexer.Type, term string) any {
	switch t {
	case indexer.Boolean:
		return term == "true"
	case indexer.Long:
		i, err := numeric.PrefixCoded(term).Int64()
		if err != nil {
			return term
		}
		return i
	}
	return term
}
