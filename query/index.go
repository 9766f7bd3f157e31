package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/rowkey"
	"brine/search"
)

// Index is the search index with the documents of a table's rows.
type Index struct {
	Name   string
	Fields []IndexField
	Newest string // the date field by which answers are sorted, the newest first; empty: in the order of the row keys

	Replaced bool // each change replaces the whole document: a null field is not in the document, though the row may keep an older value
}

// day is the unit of dates.
const day = 24 * time.Hour

// IndexField is a field of an index and the field it was written from.
type IndexField struct {
	Name  string        // in the index
	Field string        // in the table's key and columns
	Type  rowkey.Type   // of its values
	Words bool          // a Text that is found by its words, not as a whole
	Exact bool          // a Text for a decimal or bytes, which does not sort as they do, so it has no ranges
	Unit  time.Duration // see rowkey.Field
}

// fills reports whether an event's field from is written to the index's field name.
func (x *Index) fills(name, from string) bool {
	return slices.ContainsFunc(x.Fields, func(f IndexField) bool { return f.Name == name && f.Field == from })
}

// anyWords is the name, in a condition, of the only field that is found by its words, whatever its real name.
const anyWords = "text"

// Query builds a query from conditions as people write them: field=value, field=a,b for several values (\, is a comma), field==value and
// field=from..to as in parseWhere, and words for a field that is found by its words; text=words is for the only such field. Its errors are
// *Fault.
func (x *Index) Query(conditions []string) (search.Query, error) {
	q := search.Query{Index: x.Name}
	if x.Newest != "" {
		q.Sort = []search.Order{{Field: x.Newest, Desc: true}}
	}
	seen := map[string]bool{}
	for _, c := range conditions {
		name, text, ok := strings.Cut(c, "=")
		if !ok {
			return q, notCondition(c)
		}
		f, err := x.field(name)
		if err != nil {
			return q, err
		}
		if seen[f.Name] {
			return q, named(name, "field %q is given twice: write %s=a,b for several values or %[1]s=from..to for a range", f.Name, name)
		}
		seen[f.Name] = true
		clause, err := f.clause(text)
		if err != nil {
			return q, &Fault{Arg: name, Msg: err.Error()}
		}
		q.Filter = append(q.Filter, clause)
	}
	return q, nil
}

// field returns the field for a name in a condition.
func (x *Index) field(name string) (*IndexField, error) {
	var names, words []string
	var word *IndexField
	for i := range x.Fields {
		f := &x.Fields[i]
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
		if f.Words {
			words, word = append(words, f.Name), f
		}
	}
	if name != anyWords {
		return nil, named(name, "index %s has no field %q; it has %s", x.Name, name, strings.Join(names, ", "))
	}
	switch len(words) {
	case 1:
		return word, nil
	case 0:
		return nil, named(name, "%s=: index %s has no field that can be searched by words; declare one as text, or use %s", anyWords, x.Name,
			strings.Join(names, ", "))
	}
	return nil, named(name, "%s=: index %s has several fields that can be searched by words; name one of %s", anyWords, x.Name,
		strings.Join(words, ", "))
}

func (f *IndexField) clause(text string) (search.Clause, error) {
	if f.Words {
		return search.Match{Field: f.Name, Text: text}, nil
	}
	if exact, ok := strings.CutPrefix(text, "="); ok {
		value, err := f.value(exact)
		return search.Term{Field: f.Name, Value: value}, err
	}
	if from, to, ok := strings.Cut(text, ".."); ok {
		if f.Type == rowkey.Bool {
			return nil, fmt.Errorf("is true or false, which has no ranges")
		}
		if f.Exact {
			return nil, fmt.Errorf("is a text in the index, which does not sort as the field does; write the exact value")
		}
		return f.between(from, to)
	}
	values, err := f.values(text)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return search.Term{Field: f.Name, Value: values[0]}, nil
	}
	return search.Terms{Field: f.Name, Values: values}, nil
}

func (f *IndexField) between(from, to string) (r search.Range, err error) {
	r.Field = f.Name
	if strings.HasPrefix(to, "=") {
		return r, fmt.Errorf("is answered by the index, whose ranges exclude their end; write from..to")
	}
	if from != "" {
		if r.From, err = f.value(from); err != nil {
			return r, err
		}
	}
	if to != "" {
		r.To, err = f.value(to)
	}
	return r, err
}

func (f *IndexField) values(text string) ([]any, error) {
	var out []any
	for _, one := range splitList(text) {
		v, err := f.value(one)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// value parses one value into the form of a query.
func (f *IndexField) value(text string) (any, error) {
	v, err := ParseValue(rowkey.Field{Type: f.Type, Unit: f.Unit}, text)
	if err != nil {
		return nil, err
	}
	switch v.Type {
	case rowkey.Text:
		return string(v.Text), nil
	case rowkey.Float:
		return v.Float(), nil
	case rowkey.Bool:
		return v.Int != 0, nil
	}
	if f.Unit == day {
		return v.Int * day.Milliseconds(), nil // documents hold its midnight
	}
	return v.Int, nil // of an Int or a Time
}
