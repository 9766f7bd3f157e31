// Package search defines queries to a search index and their answers: Query, Hit, Page, and the Searcher that turns one into the other. The
// engines below indexer implement Searcher.
//
// It is pure and imports nothing of ours. The invariant: a Query that Validate passes means the same to every engine, except for how text
// is cut into words.
package search

import (
	"fmt"
	"math"
)

// The bounds of a query.
const (
	DefaultSize = 20
	MaxSize     = 10_000  // hits per page
	MaxClauses  = 64      // in Must, Filter and MustNot together
	MaxValues   = 1_024   // of one Terms
	MaxText     = 4 << 10 // bytes of one string value
	MaxWords    = 1 << 10 // bytes of one Match's text: however it is cut, it has no more words than a server takes (1,024)
	MaxOrders   = 8
	MaxFacets   = 8

	DefaultFacet = 10
	MaxFacet     = 1_000 // values of one Facet
)

// Score is the value of Order.Field that sorts by relevance.
const Score = "_score"

// Query asks one index for the documents that match all of Must and Filter and none of MustNot.
type Query struct {
	Index   string
	Must    []Clause // also counts towards Score
	Filter  []Clause
	MustNot []Clause
	Sort    []Order // documents without the field come last; ties, and everything if Sort is empty, are ordered by row key
	Size    int     // hits per page, at most MaxSize; 0 means DefaultSize
	After   Cursor  // the last hit's cursor; empty means from the start
	Count   bool    // also count all matches, regardless of Size and After
	Deleted bool    // also return documents that are marked deleted
	Facets  []Facet // also count all matches by value, regardless of Size and After
}

// Clause is one condition: Term, Terms, Match, Range or Prefix.
//
// A value is a string (keyword), int64 (long; date, in ms since 1970), float64 (double) or bool (boolean).
type Clause interface {
	field() string
	validate() error
}

// Term matches if the field has Value.
type Term struct {
	Field string
	Value any
}

// Terms matches if the field has one of Values.
type Terms struct {
	Field  string
	Values []any
}

// Match matches if the text field has all words of Text, in any order. The engine decides how text is cut into words.
type Match struct {
	Field, Text string
}

// Range matches if From ≤ value < To. Nil means unbounded; at least one must be given, and both must have the same type.
type Range struct {
	Field    string
	From, To any
}

// Prefix matches if the keyword field begins with Prefix.
type Prefix struct {
	Field, Prefix string
}

// Order is one sort key.
type Order struct {
	Field string // a keyword, boolean, long, date or double field, or Score
	Desc  bool
}

// Error is a fault in a query, addressed to the person who wrote it.
type Error struct {
	Field string // empty if the whole query is meant
	Msg   string // what is wrong, and the fix
}

func (e *Error) Error() string {
	if e.Field == "" {
		return "query: " + e.Msg
	}
	return "query: field " + e.Field + ": " + e.Msg
}

// FieldOf returns the field of a clause.
func FieldOf(c Clause) string { return c.field() }

// Clauses calls yield for every clause of the query.
func (q *Query) Clauses(yield func(Clause) bool) {
	for _, list := range [][]Clause{q.Must, q.Filter, q.MustNot} {
		for _, c := range list {
			if !yield(c) {
				return
			}
		}
	}
}

// Limit returns the number of hits per page: Size, or its default.
func (q *Query) Limit() int {
	if q.Size == 0 {
		return DefaultSize
	}
	return q.Size
}

// Validate returns the first fault that applies to every index. Its errors are *Error.
func (q *Query) Validate() error {
	if q.Index == "" {
		return &Error{Msg: "no index named"}
	}
	if q.Size < 0 || q.Size > MaxSize {
		return &Error{Msg: fmt.Sprintf("size %d is not between 1 and %d; ask for a smaller page and continue with its cursor", q.Size, MaxSize)}
	}
	if n := len(q.Must) + len(q.Filter) + len(q.MustNot); n > MaxClauses {
		return &Error{Msg: fmt.Sprintf("%d conditions are more than the %d allowed", n, MaxClauses)}
	}
	for c := range q.Clauses {
		if c == nil {
			return &Error{Msg: "a condition is nil"}
		}
		if c.field() == "" {
			return &Error{Msg: fmt.Sprintf("a %T names no field", c)}
		}
		if err := c.validate(); err != nil {
			return err
		}
	}
	if err := q.validateFacets(); err != nil {
		return err
	}
	return q.validateSort()
}

func (q *Query) validateSort() error {
	if len(q.Sort) > MaxOrders {
		return &Error{Msg: fmt.Sprintf("%d sort keys are more than the %d allowed", len(q.Sort), MaxOrders)}
	}
	seen := map[string]bool{}
	for _, o := range q.Sort {
		if o.Field == "" {
			return &Error{Msg: "a sort key names no field"}
		}
		if seen[o.Field] {
			return &Error{Field: o.Field, Msg: "is sorted by twice; leave the second out"}
		}
		seen[o.Field] = true
	}
	if q.After == "" {
		return nil
	}
	_, err := q.After.values(len(q.Sort) + 1)
	return err
}

func (c Term) field() string   { return c.Field }
func (c Terms) field() string  { return c.Field }
func (c Match) field() string  { return c.Field }
func (c Range) field() string  { return c.Field }
func (c Prefix) field() string { return c.Field }

func (c Term) validate() error { return validValue(c.Field, c.Value) }

func (c Terms) validate() error {
	if n := len(c.Values); n == 0 || n > MaxValues {
		return &Error{Field: c.Field, Msg: fmt.Sprintf("%d values are not between 1 and %d", n, MaxValues)}
	}
	for _, v := range c.Values {
		if err := validValue(c.Field, v); err != nil {
			return err
		}
	}
	return nil
}

func (c Match) validate() error {
	if len(c.Text) > MaxWords {
		return &Error{Field: c.Field, Msg: fmt.Sprintf("the text of %d bytes is longer than %d; use fewer words", len(c.Text), MaxWords)}
	}
	return nil
}

func (c Range) validate() error {
	if c.From == nil && c.To == nil {
		return &Error{Field: c.Field, Msg: "the range is open at both ends; give from or to"}
	}
	for _, v := range []any{c.From, c.To} {
		if v == nil {
			continue
		}
		if err := validValue(c.Field, v); err != nil {
			return err
		}
	}
	if c.From != nil && c.To != nil && fmt.Sprintf("%T", c.From) != fmt.Sprintf("%T", c.To) {
		return &Error{Field: c.Field, Msg: fmt.Sprintf("the range goes from a %T to a %T; give two of one type", c.From, c.To)}
	}
	return nil
}

func (c Prefix) validate() error {
	if c.Prefix == "" {
		return &Error{Field: c.Field, Msg: "an empty prefix matches everything; leave the condition out"}
	}
	return validValue(c.Field, c.Prefix)
}

func validValue(field string, v any) error {
	switch v := v.(type) {
	case string:
		if len(v) > MaxText {
			return &Error{Field: field, Msg: fmt.Sprintf("a text of %d bytes is longer than %d", len(v), MaxText)}
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &Error{Field: field, Msg: "not a finite number"}
		}
	case int64, bool:
	default:
		return &Error{Field: field, Msg: fmt.Sprintf("a value of type %T; give a string, int64, float64 or bool", v)}
	}
	return nil
}
