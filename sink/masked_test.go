package sink_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
)

// TestMaskedRowsAreNotNamed checks that a failure does not name a row whose key is made of a masked field, also where the server's words do.
func TestMaskedRowsAreNotNamed(t *testing.T) {
	plain := lastRows(t)
	as := sink.Rows{Table: sink.Table{Name: "last", Row: sink.RowEntity, Keys: rowkey.One(key(t, scans, `name`, "name"))},
		As: map[string]string{"name": "waybill"}, Columns: plain.Columns}
	each := sink.Rows{Table: sink.Table{Name: "last", Row: sink.RowEntity, Keys: rowkey.One(key(t, scans, `word`, "word"))}, Columns: plain.Columns,
		Each: &sink.Each{Name: "word", Tokens: event.Tokens{Tokenizer: event.Words, Limit: 9, Fields: []event.TextField{{Field: "waybill"}}}}}
	stations := sink.Rows{Table: sink.Table{Name: "last", Row: sink.RowEntity, Keys: rowkey.One(key(t, scans, `station`))}, Columns: plain.Columns}
	older := plain
	older.Table.Row, older.Table.Keys = sink.RowEvent, rowkey.Keys{{Key: key(t, scans, `station + "|" + waybill`)}, {From: 1 << 50, Key: key(t, scans, `station + "|" + courier`)}}
	for name, c := range map[string]struct {
		rows   sink.Rows
		masked string
		hidden bool
		before []sink.Rows // of the same table
	}{
		"its key": {plain, "waybill", true, nil}, "another field": {plain, "courier", false, nil}, "nothing": {plain, "", false, nil},
		"under another name": {as, "waybill", true, nil}, "words": {each, "waybill", true, nil}, "words of another": {each, "station", false, nil},
		"an older key": {older, "waybill", true, nil}, "a newer key": {older, "courier", true, nil}, "no key": {older, "action", false, nil},
		"of another entry": {plain, "waybill", true, []sink.Rows{stations}},
	} {
		schema := scans
		schema.Masked = nil
		if at := slices.IndexFunc(scans.Fields, func(f event.Field) bool { return f.Name == c.masked }); at >= 0 {
			schema.Masked = []int{at}
		}
		for _, kind := range []hbase.Kind{hbase.Transient, hbase.NoTable, hbase.BadRow} {
			quotes := errors.New("row secret, row EWR|secret of the region from neighbour on")
			store := &fake{script: map[string][][]hbase.MutationError{"last": {{{Index: len(c.before), Kind: kind, Server: "rs1:16020",
				Class: "org.apache.hadoop.hbase.NotServingRegionException", Err: quotes}}}}}
			s := newSink(t, store, sink.Options{Schema: schema, Rows: append(c.before, c.rows)})
			failures, err := event.Settle(t.Context(), s.Submit(t.Context(), batch(t, schema, `{"waybill":"secret","at":1,"station":"EWR","action":"x","by":{"courier":"ann"}}`)))
			if err != nil || len(failures) != 1 {
				t.Fatal(name, failures, err)
			}
			got := failures[0].Err.Error()
			row := "secret"
			if len(c.rows.Table.Keys) > 1 {
				row = "EWR|secret"
			}
			if strings.Contains(got, "row "+row+",") == c.hidden || c.hidden && !strings.Contains(got, "table last, row ***, server rs1:16020") {
				t.Errorf("%s: %s", name, got)
			}
			if strings.Contains(got, "neighbour") == c.hidden {
				t.Errorf("%s: another row, which the server quotes: %s", name, got)
			}
			if !errors.Is(failures[0].Err, quotes) {
				t.Errorf("%s: the cause is lost", name)
			}
		}
	}
}
