package query

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
)

// packedTable has a packed cell beside a plain one. Its key shows at, which is packed too.
func packedTable(t *testing.T, packing event.Packing) Table {
	t.Helper()
	key, err := rowkey.Parse(`id + "|" + desc(at, ms)`, []rowkey.Field{{Name: "id", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}})
	if err != nil {
		t.Fatal(err)
	}
	return Table{Name: "t", Key: key, Deleted: "gone", Columns: []Column{
		{Family: "e", Qualifier: "p", Pack: &event.Pack{Packing: packing, Fields: []event.PackedField{
			{Name: "t", Field: "at", Type: event.TimeMS}, {Name: "s", Field: "station", Type: event.Text},
			{Name: "g", Field: "gone", Type: event.Bool}, {Name: "w", Field: "weight", Type: event.Float}}}},
		{Family: "e", Qualifier: "n", Field: "n", Type: event.Int},
	}}
}

func TestPackedFieldsAreReadAsColumns(t *testing.T) {
	for packing, cell := range map[event.Packing]string{event.JSON: `{"new":[1],"w":2,"s":"EWR","g":true}`, event.MessagePack: "\x83\xa1w\x02\xa1s\xa3EWR\xa1g\xc3"} {
		table := packedTable(t, packing)
		row, err := table.Key.Append(nil, []rowkey.Value{rowkey.TextValue("A"), {Type: rowkey.Time, Int: 5}})
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
