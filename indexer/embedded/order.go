package embedded

import (
	"encoding/json"
	"strconv"

	"github.com/blevesearch/bleve/v2/numeric"
	bleve "github.com/blevesearch/bleve/v2/search"

	"brine/indexer"
	"brine/search"
)

// order sorts by one field, for Bleve's collector, which compares the results of Value byte by byte. An existing value is preceded by 0x01,
// so that documents without one come last in either direction.
type order struct {
	field string // empty: the document's id
	kind  indexer.Type
	desc  bool

	value []byte // of the current document
	found bool
}

const (
	present      = "\x01"
	missingFirst = "\x00"
	missingLast  = "\x02"
)

// orders returns the sort keys of a query, the id last.
func (s *store) orders(q *search.Query) bleve.SortOrder {
	var all bleve.SortOrder
	m := s.mapping.Load()
	for _, o := range q.Sort {
		if o.Field == search.Score {
			all = append(all, &bleve.SortScore{Desc: o.Desc})
			continue
		}
		all = append(all, &order{field: o.Field, kind: m.Type(o.Field), desc: o.Desc})
	}
	return append(all, &order{})
}

func (o *order) numeric() bool {
	return o.kind == indexer.Long || o.kind == indexer.Date || o.kind == indexer.Double
}

// UpdateVisitor sets the only term of the field in the document.
func (o *order) UpdateVisitor(field string, term []byte) {
	if field == o.field && field != "" {
		o.value, o.found = append(o.value[:0], term...), true
	}
}

func (o *order) Value(d *bleve.DocumentMatch) string {
	if o.field == "" {
		return present + d.ID
	}
	if !o.found {
		return o.missing()
	}
	o.found = false
	return present + string(o.value)
}

func (o *order) missing() string {
	if o.desc {
		return missingFirst
	}
	return missingLast
}

func (o *order) DecodeValue(value string) string { return value }
func (o *order) Descending() bool                { return o.desc }
func (o *order) RequiresDocID() bool             { return o.field == "" }
func (o *order) RequiresScoring() bool           { return false }
func (o *order) Reverse()                        { o.desc = !o.desc }

func (o *order) RequiresFields() []string {
	if o.field == "" {
		return nil
	}
	return []string{o.field}
}

func (o *order) Copy() bleve.SearchSort {
	c := *o
	return &c
}

// cursor returns the match's sort values as JSON.
func (s *store) cursor(m *bleve.DocumentMatch, q *search.Query) search.Cursor {
	values := make([]any, 0, len(m.Sort))
	for i, o := range s.orders(q) {
		switch o := o.(type) {
		case *bleve.SortScore:
			values = append(values, m.Score)
		case *order:
			values = append(values, o.plain(m.Sort[i]))
		}
	}
	text, err := json.Marshal(values)
	if err != nil { // strings and finite numbers cause none
		panic("BUG: cursor: " + err.Error())
	}
	return search.Cursor(text)
}

// plain returns a result of Value in the form of a cursor.
func (o *order) plain(value string) any {
	if value == missingFirst || value == missingLast {
		return nil
	}
	value = value[len(present):]
	if !o.numeric() {
		return value
	}
	i, err := numeric.PrefixCoded(value).Int64()
	if err != nil {
		return nil
	}
	if o.kind == indexer.Double {
		return numeric.Int64ToFloat64(i)
	}
	return i
}

// after returns the query's cursor in the form of the sort values.
func (s *store) after(q *search.Query) ([]string, error) {
	values, err := q.After.Values(q.Sort)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(values))
	for i, o := range s.orders(q) {
		o, ok := o.(*order)
		if ok {
			out[i], ok = o.encoded(values[i])
		} else {
			out[i] = string(values[i]) // the score
			_, err := strconv.ParseFloat(out[i], 64)
			ok = err == nil
		}
		if !ok {
			return nil, &search.Error{Msg: "the cursor belongs to another sort order; start again without it"}
		}
	}
	return out, nil
}

// encoded returns a cursor's value in the form of Value.
func (o *order) encoded(value json.RawMessage) (string, bool) {
	if string(value) == "null" {
		return o.missing(), true
	}
	if !o.numeric() {
		var text string
		err := json.Unmarshal(value, &text)
		return present + text, err == nil
	}
	if o.kind == indexer.Double {
		var f float64
		err := json.Unmarshal(value, &f)
		return present + string(numberTerm(f)), err == nil
	}
	var i int64
	err := json.Unmarshal(value, &i)
	return present + string(numberTerm(i)), err == nil
}
