package search_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"brine/search"
)

func TestValidate(t *testing.T) {
	many := make([]any, search.MaxValues+1)
	for i := range many {
		many[i] = int64(i)
	}
	filter := func(c search.Clause) search.Query { return search.Query{Index: "i", Filter: []search.Clause{c}} }
	for _, c := range []struct {
		name string
		q    search.Query
		want string // part of the error; empty = valid
	}{
		{"everything", search.Query{Index: "i"}, ""},
		{"no index", search.Query{}, "no index"},
		{"size", search.Query{Index: "i", Size: search.MaxSize + 1}, "smaller page"},
		{"negative size", search.Query{Index: "i", Size: -1}, "not between"},
		{"term", filter(search.Term{Field: "f", Value: "x"}), ""},
		{"term of an int", filter(search.Term{Field: "f", Value: 1}), "type int;"},
		{"term of null", filter(search.Term{Field: "f"}), "type <nil>"},
		{"no field", filter(search.Term{Value: "x"}), "names no field"},
		{"nil clause", filter(nil), "nil"},
		{"NaN", filter(search.Term{Field: "f", Value: math.NaN()}), "finite"},
		{"no terms", filter(search.Terms{Field: "f"}), "0 values"},
		{"too many terms", filter(search.Terms{Field: "f", Values: many}), "1025 values"},
		{"long value", filter(search.Term{Field: "f", Value: strings.Repeat("x", search.MaxText+1)}), "longer"},
		{"as many words as there may be", filter(search.Match{Field: "f", Text: strings.Repeat("x ", search.MaxWords/2)}), ""},
		{"too many words", filter(search.Match{Field: "f", Text: strings.Repeat("x", search.MaxWords+1)}), "use fewer words"},
		{"open range", filter(search.Range{Field: "f"}), "open at both ends"},
		{"half-open range", filter(search.Range{Field: "f", To: int64(3)}), ""},
		{"mixed range", filter(search.Range{Field: "f", From: int64(3), To: "x"}), "one type"},
		{"empty prefix", filter(search.Prefix{Field: "f"}), "empty prefix"},
		{"sorted twice", search.Query{Index: "i", Sort: []search.Order{{Field: "a"}, {Field: "a", Desc: true}}}, "twice"},
		{"sort without a field", search.Query{Index: "i", Sort: []search.Order{{}}}, "names no field"},
		{"facets", search.Query{Index: "i", Facets: []search.Facet{{Field: "a"}, {Field: "b", Size: 1000}}}, ""},
		{"facet of too many", search.Query{Index: "i", Facets: []search.Facet{{Field: "a", Size: 1001}}}, "not between"},
		{"facet without a field", search.Query{Index: "i", Facets: []search.Facet{{}}}, "names no field"},
		{"facet twice", search.Query{Index: "i", Facets: []search.Facet{{Field: "a"}, {Field: "a", Size: 3}}}, "two facets"},
		{"too many facets", search.Query{Index: "i", Facets: make([]search.Facet, 9)}, "9 facets"},
		{"cursor", search.Query{Index: "i", Sort: []search.Order{{Field: "a"}}, After: `[1,"row"]`}, ""},
		{"null in a cursor", search.Query{Index: "i", Sort: []search.Order{{Field: "a"}}, After: `[null,"row"]`}, ""},
		{"cursor of another order", search.Query{Index: "i", After: `[1,"row"]`}, "another sort order"},
		{"cursor of rubbish", search.Query{Index: "i", After: `[1,`}, "damaged"},
		{"cursor with an object", search.Query{Index: "i", After: `[{"script":"x"}]`}, "damaged"},
	} {
		err := c.q.Validate()
		var fault *search.Error
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v does not say %q", c.name, err, c.want)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(`[1,"row"]`)
	f.Add(`[null,"\\x00"]`)
	f.Add(`[[],{}]`)
	f.Fuzz(func(t *testing.T, s string) {
		values, err := search.Cursor(s).Values([]search.Order{{Field: "a"}})
		if err == nil && len(values) != 2 {
			t.Fatalf("%d values", len(values))
		}
	})
}
