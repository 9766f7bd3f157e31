package query

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
)

// packedTable has a packed cell and a plain one. Its key contains at, which is packed too.
func packedTable(t *testing.T, packing event.Packing) Table {
	t.Helper()
	key, err := rowkey.Parse(`id + "|" + desc(at, ms)`, []rowkey.Field{{Name: "id", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}})
	if err != nil {
		t.Fatal(err)
	}
	return Table{Name: "t", Keys: rowkey.One(key), Deleted: "gone", Columns: []Column{
		{Family: "e", Qualifier: "p", Pack: &event.Pack{Packing: packing, Fields: []event.PackedField{
			{Name: "t", Field: "at", Type: event.TimeMS}, {Name: "s", Field: "station", Type: event.Text},
			{Name: "g", Field: "gone", Type: event.Bool}, {Name: "w", Field: "weight", Type: event.Float}}}},
		{Family: "e", Qualifier: "n", Field: "n", Type: event.Int},
	}}
}

func TestPackedFieldsAreReadAsColumns(t *testing.T) {
	for packing, cell := range map[event.Packing]string{event.JSON: `{"new":[1],"w":2,"s":"EWR","g":true}`, event.MessagePack: "\x83\xa1w\x02\xa1s\xa3EWR\xa1g\xc3"} {
		table := packedTable(t, packing)
		row, err := table.Keys.Newest().Append(nil, []rowkey.Value{rowkey.TextValue("A"), {Type: rowkey.Time, Int: 5}})
		if err != nil {
			t.Fatal(err)
		}
		s := &store{rows: []hbase.Result{{Row: row, Cells: []hbase.Cell{{Row: row, Family: []byte("e"), Qualifier: []byte("p"), Timestamp: 7, Value: []byte(cell)}}}}}
		want := []Row{{Key: row, Version: 7, Deleted: true, Fields: []Field{
			{"id", event.TextValue("A")}, {"at", event.TimeValue(5)}, {"station", event.TextValue("EWR")}, {"gone", event.BoolValue(true)}, {"weight", event.FloatValue(2)}, {Name: "n"}}}}
		where := map[string]rowkey.Bound{"id": {Equal: rowkey.TextValue("A")}}
		var got []Row
		for r, err := range Rows(t.Context(), s, table, where, Options{Deleted: true}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", packing, got, want)
		}
		for r := range Rows(t.Context(), s, table, where, Options{}) {
			t.Errorf("%s: the packed gone hides %v", packing, r)
		}
		byKey, err := ByKey(t.Context(), s, table, [][]byte{row})
		if err != nil || !reflect.DeepEqual(byKey, want) {
			t.Errorf("%s: by key %v, %v", packing, byKey, err)
		}
		s.rows[0].Cells = slices.Clone(s.rows[0].Cells)
		s.rows[0].Cells[0].Value = []byte("junk")
		if _, err := ByKey(t.Context(), s, table, [][]byte{row}); err == nil || !strings.Contains(err.Error(), "column e:p: packed as ") {
			t.Errorf("%s: a cell of junk is %v", packing, err)
		}
	}
}

// The members of an object are one field again, without the cells that have names of their own. Rows without columns have a version, too.
func TestMembersAreReadAsOneField(t *testing.T) {
	key, err := rowkey.Parse(`id`, []rowkey.Field{{Name: "id", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Name: "t", Keys: rowkey.One(key), Columns: []Column{
		{Family: "f", Qualifier: "n", Field: "n", Type: event.Int}, {Family: "f", Qualifier: "a_", Field: "attrs", Members: true},
		{Family: "g", Field: "*", Members: true}, {Family: "e"}}}
	cell := func(row, family, qualifier string, version int64, value string) hbase.Cell {
		return hbase.Cell{Row: []byte(row), Family: []byte(family), Qualifier: []byte(qualifier), Timestamp: version, Value: []byte(value)}
	}
	s := &store{rows: []hbase.Result{
		{Row: []byte("a"), Cells: []hbase.Cell{cell("a", "e", "", 1, ""), cell("a", "f", "a_x", 2, "1"), cell("a", "f", "a_y\"", 9, `{"z":1}`), cell("a", "f", "n", 3, "\x00\x00\x00\x00\x00\x00\x00\x07"), cell("a", "g", "n", 2, "红")}},
		{Row: []byte("b"), Cells: []hbase.Cell{cell("b", "e", "", 4, "")}},
		{Row: []byte("c"), Cells: []hbase.Cell{cell("c", "f", "", 5, "")}},
	}}
	got, err := ByKey(t.Context(), s, table, [][]byte{[]byte("a"), []byte("b"), []byte("c")})
	if err != nil {
		t.Fatal(err)
	}
	row := func(id string, version int64, fields ...Field) Row {
		return Row{Key: []byte(id), Version: version, Fields: append([]Field{{"id", event.TextValue(id)}}, fields...)}
	}
	want := []Row{
		row("a", 9, Field{"n", event.IntValue(7)}, Field{"attrs", event.NestedValue(`{"x":"1","y\"":"{\"z\":1}"}`)}, Field{"*", event.NestedValue(`{"n":"红"}`)}),
		row("b", 4, Field{Name: "n"}, Field{Name: "attrs"}, Field{Name: "*"}),
		row("c", 5, Field{Name: "n"}, Field{Name: "attrs"}, Field{Name: "*"}),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	s.rows[0].Cells[1].Value = []byte{0xff}
	if _, err := ByKey(t.Context(), s, table, [][]byte{[]byte("a")}); err == nil || !strings.Contains(err.Error(), `member "x"`) {
		t.Errorf("bytes that no brine wrote: %v", err)
	}
}

// Dates and times in µs and ns that a key holds as numbers are shown as dates and times, whether or not a column holds them too.
func TestTimesOfKeysAreShownAsTimes(t *testing.T) {
	day := 24 * time.Hour
	key, err := rowkey.Parse(`desc(us) + asc(day, 32) + asc(ns) + asc(n)`, []rowkey.Field{{Name: "us", Type: rowkey.Int, Unit: time.Microsecond},
		{Name: "day", Type: rowkey.Int, Unit: day}, {Name: "ns", Type: rowkey.Int, Unit: time.Nanosecond}, {Name: "n", Type: rowkey.Int}})
	if err != nil {
		t.Fatal(err)
	}
	row, err := key.Append(nil, []rowkey.Value{{Type: rowkey.Int, Int: 1}, {Type: rowkey.Int, Int: -1}, {Type: rowkey.Int, Int: -2}, {Type: rowkey.Int, Int: 7}})
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Name: "t", Keys: rowkey.One(key), Columns: []Column{{Family: "f", Qualifier: "u", Field: "us", Type: event.TimeUS}}}
	cell := hbase.Cell{Row: row, Family: []byte("f"), Qualifier: []byte("u"), Timestamp: 9, Value: event.AppendValue(nil, event.IntValue(1))}
	rows, err := ByKey(t.Context(), &store{rows: []hbase.Result{{Row: row, Cells: []hbase.Cell{cell}}}}, table, [][]byte{row})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := WriteJSON(&out, func(yield func(Found, error) bool) { yield(Found{Row: rows[0]}, nil) }); err != nil {
		t.Fatal(err)
	}
	want := `"fields":{"day":"1969-12-31","n":7,"ns":"1969-12-31T23:59:59.999999998Z","us":"1970-01-01T00:00:00.000001Z"}`
	if !strings.Contains(out.String(), want) {
		t.Errorf("%s, want %s", &out, want)
	}
	if !equal(rows[0].Fields[1].Value, int64(-86400000)) {
		t.Errorf("the row's %v is not the day of its document", rows[0].Fields[1])
	}
}
