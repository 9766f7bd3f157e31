package sink_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/rowkey"
	"brine/sink"
)

// Events before the turn keep their rows, however late they arrive.
func TestRowsAreMadeByTheKeyOfTheirVersion(t *testing.T) {
	rows := lastRows(t)
	rows.Table.Keys = rowkey.Keys{{Key: key(t, scans, `waybill`)}, {From: 100, Key: key(t, scans, `"new" + waybill`)}}
	c := &fake{}
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{rows}})
	if got := submit(t, s, batch(t, scans, scan("A", 100), scan("A", 99), scan("B", 5000), scan("C", 0))); got != "" {
		t.Error(got)
	}
	if got := fmt.Sprint(c.rows["last"]); got != "[newA A newB C]" {
		t.Error(got)
	}
}

func TestKeysThatWouldNotReadAsOneAreRefused(t *testing.T) {
	for want, change := range map[string]func(*sink.Rows){
		"":                                   func(*sink.Rows) {},
		"its first key applies from version": func(r *sink.Rows) { r.Table.Keys[0].From = 1 },
		"would have two rows":                func(r *sink.Rows) { r.Table.Keys[1].Key = key(t, scans, `waybill + "|" + station`) },
		"nulls delete under one of":          func(r *sink.Rows) { r.Nulls = sink.NullsDelete },
		"a hard delete under one of":         func(r *sink.Rows) { r.Deletes.Hard = true },
		"field \"nothing\", which the ke":    func(r *sink.Rows) { r.As = map[string]string{"waybill": "nothing"} },
	} {
		rows := lastRows(t)
		rows.Table.Keys = rowkey.Keys{{Key: key(t, scans, `waybill`)}, {From: 100, Key: key(t, scans, `"new" + waybill`)}}
		change(&rows)
		_, err := sink.New(&fake{}, sink.Options{Schema: scans, Rows: []sink.Rows{rows}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
