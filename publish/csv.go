package publish

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/event"
)

// csvColumn is a column of a CSV file: where its values go in the object, and their type.
type csvColumn struct {
	name string
	path []string
	typ  event.Type
	time *event.TimeFormat // of an event.Time
}

// columns reads the first row. A column has the type that the pipeline declares for the field of its name; others are text.
func (s *Source) columns(names []string) ([]csvColumn, error) {
	out := make([]csvColumn, len(names))
	seen := map[string]bool{}
	for i, name := range names {
		name = strings.TrimSpace(name)
		if name == "" || seen[name] {
			return nil, fmt.Errorf("the first row names the fields, but column %d is %q, which is empty or a duplicate", i+1, name)
		}
		seen[name] = true
		out[i] = csvColumn{name: name, path: s.find(name), typ: event.Text}
		if f := slices.IndexFunc(s.Fields, func(f event.Field) bool { return f.Name == name }); f >= 0 {
			out[i].typ = s.Fields[f].Type
			out[i].time = timeFormat(&s.Fields[f])
		}
		if j := slices.IndexFunc(out[:i], func(c csvColumn) bool { return overlap(c.path, out[i].path) }); j >= 0 {
			return nil, fmt.Errorf("columns %s and %s would be the same place in the record, or one inside the other; rename one", out[j].name, name)
		}
	}
	return out, nil
}

// overlap reports whether two paths are equal, or one runs through the other.
func overlap(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// csvObject makes a JSON object of a row. Empty values are left out.
func csvObject(columns []csvColumn, row []string) ([]byte, error) {
	object := map[string]any{}
	for i, text := range row {
		if text == "" {
			continue
		}
		c := &columns[i]
		v, err := c.value(text)
		if err != nil {
			return nil, fmt.Errorf("column %s: %s: %w", c.name, event.Quoted([]byte(text)), err)
		}
		at := object
		for _, key := range c.path[:len(c.path)-1] {
			below, ok := at[key].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[key] = below
			}
			at = below
		}
		at[c.path[len(c.path)-1]] = v
	}
	return json.Marshal(object) // with sorted keys: the same row always yields the same bytes
}

// value returns a text in the JSON form of the declared type.
func (c *csvColumn) value(text string) (any, error) {
	switch c.typ {
	case event.Text:
		return text, nil
	case event.Time:
		if _, ok := c.time.Parse([]byte(text)); !ok {
			return nil, errors.New(c.time.Expects() + " is expected")
		}
		return text, nil
	case event.Decimal:
		if _, ok := event.DecimalValue(text); !ok || !json.Valid([]byte(text)) {
			return nil, worded(strconv.ErrSyntax, "not a decimal number of up to 38 digits")
		}
		return json.Number(text), nil
	case event.Bytes, event.Date, event.TimeUS, event.TimeNS:
		if _, err := (event.Field{Type: c.typ}).ValueOf(text); err != nil {
			return nil, worded(strconv.ErrSyntax, "no "+c.typ.String())
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && c.typ != event.Bytes {
			return n, nil
		}
		return text, nil
	case event.Bool:
		v, err := strconv.ParseBool(text)
		return v, worded(err, "not true or false")
	case event.Nested:
		if !json.Valid([]byte(text)) {
			return nil, errors.New("not valid JSON")
		}
		return json.RawMessage(text), nil
	case event.Float:
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, worded(cmp.Or(err, strconv.ErrSyntax), "not a number")
		}
		return json.Number(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil || c.typ == event.Int {
		return n, worded(err, "not a whole number")
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if c.typ == event.TimeS {
		return t.Unix(), worded(err, "not a time such as 2013-01-31T08:00:00Z or a whole number of seconds since 1970")
	}
	return t.UnixMilli(), worded(err, "not a time such as 2013-01-31T08:00:00Z or a whole number of milliseconds since 1970")
}

// worded explains in our own words why a value cannot be parsed.
func worded(err error, words string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, strconv.ErrRange):
		return errors.New("the number is out of range")
	}
	return errors.New(words)
}
