package search

import (
	"fmt"
	"slices"
)

// Facet asks for the number of matches per value of a field, most frequent first, and smallest first among equals.
type Facet struct {
	Field string // a keyword, boolean or long field
	Size  int    // values; 0 means DefaultFacet
}

// Limit returns the number of values: Size, or its default.
func (f Facet) Limit() int {
	if f.Size == 0 {
		return DefaultFacet
	}
	return f.Size
}

// Count is one value of a facet: a string (keyword), bool (boolean) or int64 (long), and the number of matches that have it.
type Count struct {
	Value any
	N     int64
}

func (q *Query) validateFacets() error {
	if len(q.Facets) > MaxFacets {
		return &Error{Msg: fmt.Sprintf("%d facets are more than the %d allowed", len(q.Facets), MaxFacets)}
	}
	for i, f := range q.Facets {
		if f.Field == "" {
			return &Error{Msg: "a facet names no field"}
		}
		if f.Size < 0 || f.Size > MaxFacet {
			return &Error{Field: f.Field, Msg: fmt.Sprintf("a facet of %d values is not between 1 and %d", f.Size, MaxFacet)}
		}
		if slices.ContainsFunc(q.Facets[:i], func(other Facet) bool { return other.Field == f.Field }) {
			return &Error{Field: f.Field, Msg: "has two facets; leave the second out"}
		}
	}
	return nil
}
