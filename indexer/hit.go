package indexer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"brine/search"
)

// Hit decodes a stored document into a search hit, for engines. The engine sets its cursor.
func Hit(id, source []byte) (search.Hit, error) {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return search.Hit{}, fmt.Errorf("the stored document is not JSON: %w", err)
	}
	hit := search.Hit{Fields: fields}
	if v, ok := number(fields[FieldVersion]).(int64); ok {
		hit.Version = v
	}
	text := id
	if hashedID(id) {
		key, _ := fields[FieldKey].(string)
		text = []byte(key)
	}
	row, err := ParseRowText(text)
	if err != nil {
		return search.Hit{}, err
	}
	hit.Row = row
	for name, v := range fields {
		if v == nil || strings.HasPrefix(name, "_") {
			delete(fields, name)
			continue
		}
		fields[name] = number(v)
	}
	return hit, nil
}

// VersionOf returns the version in a stored document, or in any part of one that contains it.
func VersionOf(source []byte) (int64, error) {
	doc := struct {
		Version int64 `json:"_ver"` // FieldVersion
	}{-1}
	if err := json.Unmarshal(source, &doc); err != nil {
		return 0, fmt.Errorf("the stored document is not JSON: %w", err)
	}
	return doc.Version, nil
}

// number converts a JSON number without point or exponent to an int64, any other to a float64.
func number(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return f
}

// Check returns the first clause of a valid query that the fields do not support. Its errors are *search.Error.
func (m Mapping) Check(q *search.Query) error {
	for c := range q.Clauses {
		name := search.FieldOf(c)
		t := m.Type(name)
		if t == "" {
			return &search.Error{Field: name, Msg: "index " + m.Index + " has no such field; it has " + m.names()}
		}
		if err := checkClause(name, t, c); err != nil {
			return err
		}
	}
	for _, f := range q.Facets {
		switch t := m.Type(f.Field); t {
		case Keyword, Boolean, Long:
		case "":
			return &search.Error{Field: f.Field, Msg: "cannot count by it: index " + m.Index + " has no such field; it has " + m.names()}
		default:
			return &search.Error{Field: f.Field, Msg: "is a " + string(t) + ": only a keyword, boolean or long can be counted by its values"}
		}
	}
	for _, o := range q.Sort {
		switch t := m.Type(o.Field); {
		case o.Field == search.Score:
		case t == "":
			return &search.Error{Field: o.Field, Msg: "cannot sort: index " + m.Index + " has no such field; it has " + m.names()}
		case t == Text:
			return &search.Error{Field: o.Field, Msg: "cannot sort by text; declare it as a keyword as well"}
		}
	}
	return nil
}

func checkClause(name string, t Type, c search.Clause) error {
	bad := func(msg string) error { return &search.Error{Field: name, Msg: msg} }
	var values []any
	switch c := c.(type) {
	case search.Match:
		if t != Text {
			return bad("is a " + string(t) + ", not text: use term with its value")
		}
	case search.Prefix:
		if t != Keyword {
			return bad("is a " + string(t) + ": only a keyword has prefixes")
		}
	case search.Range:
		if t == Text || t == Boolean {
			return bad("is a " + string(t) + ", which has no ranges")
		}
		values = []any{c.From, c.To}
	case search.Term:
		values = []any{c.Value}
	case search.Terms:
		values = c.Values
	}
	if values != nil && t == Text {
		return bad("is text: use match with its words")
	}
	for _, v := range values {
		if v != nil && !holds(t, v) {
			return bad(fmt.Sprintf("is a %s; a %T cannot be compared with it", t, v))
		}
	}
	return nil
}

func holds(t Type, v any) bool {
	switch v.(type) {
	case string:
		return t == Keyword
	case bool:
		return t == Boolean
	case int64:
		return t == Long || t == Date
	case float64:
		return t == Double
	}
	return false
}

func (m Mapping) names() string {
	var names []string
	for _, f := range m.Fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
