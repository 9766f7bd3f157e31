package reindex

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

// shape is a table and a document, for the schema of orders.
type shape struct {
	key     string
	changes indexer.Changes
	moves   bool
	rows    func(*sink.Rows)
	set     []string // fields of the document
	when    string   // the document's condition
}

func (s shape) source(t *testing.T) *Source {
	schema := orders
	if s.moves {
		schema.Images = event.Images{Before: []string{"before"}, After: []string{"after"}, Deleted: "gone"}
	}
	entry := sink.Rows{Table: sink.Table{Name: "orders", Row: sink.RowEntity, Keys: rowkey.One(key(t, s.key))}, Columns: []sink.Column{
		{Family: "f", Qualifier: "s", Field: "status"}, {Family: "f", Qualifier: "d", Field: "gone"}, {Family: "g", Qualifier: "n", Field: "note"}}}
	if s.rows != nil {
		s.rows(&entry)
	}
	d := indexer.Document{Index: "orders", Key: key(t, s.key), Changes: s.changes, Deleted: "gone", When: s.when}
	for _, name := range s.set {
		d.Set = append(d.Set, indexer.Column{Name: name, Field: name})
	}
	return &Source{Pipeline: "orders", Table: "orders", Documents: indexer.Options{Schema: schema, Documents: []indexer.Document{d}}, Rows: sink.Options{Schema: schema, Rows: []sink.Rows{entry}}}
}

// cell returns a cell "family:qualifier"; 0xFF is a true.
func cell(name string, version int64, value string) hbase.Cell {
	family, qualifier, _ := strings.Cut(name, ":")
	return hbase.Cell{Family: []byte(family), Qualifier: []byte(qualifier), Timestamp: version, Value: []byte(value)}
}

// eventText formats an event's values or, if it has none, what it leaves.
func eventText(ev *event.Event) string {
	text, values := fmt.Sprint("@", ev.Version), ev.Values
	if values == nil {
		text, values = text+" left", ev.Former
	}
	for i, v := range values {
		switch {
		case v.Unsent():
		case v.Null() && ev.Former == nil && partly(ev):
			text += fmt.Sprintf(" %s null", orders.Fields[i].Name)
		case v.Null():
		case v.Type == event.Text:
			text += fmt.Sprintf(" %s=%s", orders.Fields[i].Name, v.Text())
		default:
			text += fmt.Sprintf(" %s=%d", orders.Fields[i].Name, event.AppendValue(nil, v)[len(event.AppendValue(nil, v))-1])
		}
	}
	return text
}

// partly reports whether the event says nothing about some fields, so that its nulls are values.
func partly(ev *event.Event) bool { return slices.ContainsFunc(ev.Values, event.Value.Unsent) }

func TestRowsBecomeTheEventsThatMadeThem(t *testing.T) {
	whole := shape{key: "id", changes: indexer.Whole, set: []string{"id", "status", "note"}}
	partial := shape{key: "id", changes: indexer.Partial, set: []string{"id", "status", "note"}}
	moving := shape{key: "id", changes: indexer.Whole, moves: true, set: []string{"id", "status"}}
	packed := shape{key: "id", changes: indexer.Whole, set: []string{"id", "status"}, rows: func(r *sink.Rows) {
		r.Columns = []sink.Column{{Family: "f", Qualifier: "p", Pack: &event.Pack{Packing: event.JSON, Fields: []event.PackedField{
			{Name: "s", Field: "status", Type: event.Text}, {Name: "g", Field: "gone", Type: event.Bool}}}}}
	}}
	hashed := shape{key: "md5(id, 4)", changes: indexer.Whole, set: []string{"id"}, rows: func(r *sink.Rows) {
		r.Columns = append(r.Columns, sink.Column{Family: "f", Qualifier: "i", Field: "id"})
	}}
	for _, c := range []struct {
		name  string
		shape shape
		row   string
		cells []hbase.Cell
		want  string
	}{
		{"of partial changes, one for each version", partial, "o1", []hbase.Cell{cell("f:s", 12, "paid"), cell("f:d", 10, "\xff"), cell("g:n", 10, "x")}, "@10 id=o1 note=x gone=255; @12 id=o1 status=paid"},
		{"of partial changes with a null", partial, "o1", []hbase.Cell{cell("f:s", 12, "\xff"), cell("g:n", 10, "x")}, "@10 id=o1 note=x; @12 id=o1 status null"},
		{"of whole changes the newest alone", whole, "o1", []hbase.Cell{cell("f:s", 12, "paid"), cell("g:n", 10, "x")}, "@12 id=o1 status=paid"},
		{"the empty cell has a version", whole, "o1", []hbase.Cell{cell("f:", 13, ""), cell("f:s", 12, "paid")}, "@13 id=o1"},
		{"columns of others have none", whole, "o1", []hbase.Cell{cell("f:other", 15, "x"), cell("f:s", 12, "paid")}, "@12 id=o1 status=paid"},
		{"a row of others", whole, "o1", []hbase.Cell{cell("f:other", 15, "x")}, ""},
		{"packed", packed, "o1", []hbase.Cell{cell("f:p", 9, `{"s":"paid","g":true}`)}, "@9 id=o1 status=paid gone=255"},
		{"packed badly", packed, "o1", []hbase.Cell{cell("f:p", 9, `{"s":`)}, "column f:p"},
		{"moved away", moving, "o1", []hbase.Cell{cell("f:d", 12, "\xff"), cell("f:s", 10, "paid")}, "@12 left id=o1"},
		{"deleted where it is", moving, "o1", []hbase.Cell{cell("f:d", 12, "\xff"), cell("f:s", 12, "paid")}, "@12 id=o1 status=paid gone=255"},
		{"come back", moving, "o1", []hbase.Cell{cell("f:d", 12, "\x00"), cell("f:s", 12, "paid")}, "@12 id=o1 status=paid gone=0"},
		{"the key holds a hash alone", hashed, "70bf", []hbase.Cell{cell("f:i", 12, "o1")}, "its columns give the key"},
		{"a value of another type", whole, "o1", []hbase.Cell{cell("f:d", 12, "ab")}, "column f:d"},
		{"a timestamp that is no version", whole, "o1", []hbase.Cell{cell("f:s", -1, "x")}, "not a version"},
	} {
		r, err := newRecoverer(c.shape.source(t))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		events, err := r.events(nil, hbase.Result{Row: []byte(c.row), Cells: c.cells}, nil)
		var got []string
		for i := range events {
			got = append(got, eventText(&events[i]))
		}
		if err != nil {
			if c.want == "" || strings.HasPrefix(c.want, "@") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v", c.name, err)
			}
		} else if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRowsThatDoNotHoldTheirDocumentsAreRefused(t *testing.T) {
	all := []string{"id", "status"}
	for want, s := range map[string]shape{
		"no column holds total":       {key: "id", changes: indexer.Whole, set: []string{"id", "total"}},
		"no column holds at":          {key: `id + "|" + asc(at, s)`, changes: indexer.Whole, set: []string{"at"}}, // in seconds
		"no column holds deleted":     {key: "id", changes: indexer.Partial, set: all, rows: func(r *sink.Rows) { r.Columns = r.Columns[:1] }},
		"a condition on the change":   {key: "id", changes: indexer.Whole, set: all, when: "kept"},
		"a condition excludes rows":   {key: "id", changes: indexer.Whole, set: all, rows: func(r *sink.Rows) { r.When = "kept" }},
		"hard-deleted":                {key: "id", changes: indexer.Whole, set: all, rows: func(r *sink.Rows) { r.Deletes.Hard = true }},
		"several rows":                {key: "id", changes: indexer.Whole, set: all, rows: func(r *sink.Rows) { r.As = map[string]string{"owner": "id"} }},
		"several keys":                {key: "id", changes: indexer.Whole, set: all, rows: func(r *sink.Rows) { r.Table.Keys = append(r.Table.Keys, r.Table.Keys[0]) }},
		"the rows that they leave":    {key: "id", changes: indexer.Whole, moves: true, set: all, rows: func(r *sink.Rows) { r.Table.Row = sink.RowEvent }},
		"the pipeline does not write": {key: "id", changes: indexer.Whole, set: all, rows: func(r *sink.Rows) { r.Table.Name = "other" }},
	} {
		if _, err := newRecoverer(s.source(t)); !errors.Is(err, ErrNotOf) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	for _, s := range []shape{{key: `id + "|" + asc(at, ms)`, changes: indexer.Whole, set: []string{"id", "at", "status"}}, {key: "id", changes: indexer.Partial, set: all}} {
		if _, err := newRecoverer(s.source(t)); err != nil {
			t.Errorf("%s: %v", s.key, err)
		}
	}
}

// TestTimesOfKeysAreTimesAgain checks that a date or time in µs or ns that only the key holds comes back as what the topic has, and not as
// the number in the key: a document has a date's midnight, not the number of its day.
func TestTimesOfKeysAreTimesAgain(t *testing.T) {
	schema := event.Schema{Version: -1, Fields: []event.Field{{Name: "id", Type: event.Text}, {Name: "day", Type: event.Date}, {Name: "us", Type: event.TimeUS},
		{Name: "ns", Type: event.TimeNS}, {Name: "note", Type: event.Text}}}
	key, err := eventkey.Parse(`id + "|" + desc(us) + asc(day, 32) + asc(ns)`, schema)
	if err != nil {
		t.Fatal(err)
	}
	want := []event.Value{event.TextValue("o1"), event.InstantValue(event.Date, -1), event.InstantValue(event.TimeUS, -2), event.InstantValue(event.TimeNS, 3)}
	e, err := eventkey.New(key, schema)
	if err != nil {
		t.Fatal(err)
	}
	row, err := e.Append(nil, &event.Event{Values: want})
	if err != nil {
		t.Fatal(err)
	}
	d := indexer.Document{Index: "x", Key: key, Changes: indexer.Whole}
	for _, name := range []string{"day", "us", "ns", "note"} {
		d.Set = append(d.Set, indexer.Column{Name: name, Field: name})
	}
	r, err := newRecoverer(&Source{Pipeline: "p", Table: "t", Documents: indexer.Options{Schema: schema, Documents: []indexer.Document{d}},
		Rows: sink.Options{Schema: schema, Rows: []sink.Rows{{Table: sink.Table{Name: "t", Row: sink.RowEntity, Keys: rowkey.One(key)},
			Columns: []sink.Column{{Family: "f", Qualifier: "n", Field: "note"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.events(nil, hbase.Result{Row: row, Cells: []hbase.Cell{cell("f:n", 12, "x")}}, nil)
	if err != nil || len(events) != 1 {
		t.Fatalf("%v, %v", events, err)
	}
	for i, v := range want {
		if got := events[0].Values[i]; !got.Equal(v) || got.Type != v.Type {
			t.Errorf("field %s is a %s of %d, want a %s of %d", schema.Fields[i].Name, got.Type, got.Int(), v.Type, v.Int())
		}
	}
}
