package sink_test

import (
	"slices"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
)

// saltedRows is the table of scans under a key with three salt buckets.
func saltedRows(t testing.TB) sink.Rows {
	rows := scanRows(t)
	rows.Table.Keys = rowkey.One(key(t, scans, `salt(3, waybill) + waybill + "|" + desc(at, ms) + "|" + action`))
	return rows
}

func TestSpreadCountsWhatIsDurable(t *testing.T) {
	var tables []string
	var total []sink.Bucket
	hooks := sink.Hooks{Spread: func(i sink.SpreadInfo) {
		tables = append(tables, i.Table)
		total = append(total[:0], i.Buckets...)
	}}
	client := &fake{script: map[string][][]hbase.MutationError{"logistics:scans": {
		{{Index: 0, Kind: hbase.Transient}, {Index: 3, Kind: hbase.Transient}},
	}}}
	s := newSink(t, client, sink.Options{Schema: scans, Rows: []sink.Rows{saltedRows(t), lastRows(t)}, Hooks: hooks})
	var records []string
	for i, waybill := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		records = append(records, scan(waybill, i))
	}
	failures, err := event.Settle(t.Context(), s.Submit(t.Context(), batch(t, scans, records...)))
	if err != nil || len(failures) != 2 {
		t.Fatal(failures, err)
	}
	if !slices.Equal(tables, []string{"logistics:scans"}) {
		t.Errorf("reported %v; only one key has a salt", tables)
	}
	want := make([]sink.Bucket, 3)
	for i, row := range client.rows["logistics:scans"] {
		if i != 0 && i != 3 {
			want[row[0]].Rows++
		}
	}
	rows, bytes := int64(0), int64(0)
	for i, b := range total {
		if b.Rows != want[i].Rows || b.Bytes < 100*b.Rows || b.Bytes > 200*b.Rows {
			t.Errorf("bucket %d: %+v, want %d rows of 100 to 200 bytes", i, b, want[i].Rows)
		}
		rows, bytes = rows+b.Rows, bytes+b.Bytes
	}
	if rows != 5 {
		t.Errorf("%d rows counted, 5 are durable", rows)
	}
	// The next flight is counted separately.
	if _, err := event.Settle(t.Context(), s.Submit(t.Context(), batch(t, scans, scan("a", 9)))); err != nil {
		t.Fatal(err)
	}
	if total[client.rows["logistics:scans"][7][0]].Rows != 1 {
		t.Errorf("one more row: %+v", total)
	}
}

func TestSpreadLeavesOutTablesOfVeryManyBuckets(t *testing.T) {
	rows := scanRows(t)
	rows.Table.Keys = rowkey.One(key(t, scans, `salt(2000, waybill) + waybill + "|" + desc(at, ms) + "|" + action`))
	hooks := sink.Hooks{Spread: func(i sink.SpreadInfo) { t.Errorf("reported %d buckets", len(i.Buckets)) }}
	s := newSink(t, &fake{}, sink.Options{Schema: scans, Rows: []sink.Rows{rows}, Hooks: hooks})
	if _, err := event.Settle(t.Context(), s.Submit(t.Context(), batch(t, scans, scan("a", 1)))); err != nil {
		t.Fatal(err)
	}
}

func TestSubmitHookGetsEachBatch(t *testing.T) {
	var waybills []string
	hooks := sink.Hooks{Submit: func(i sink.SubmitInfo) {
		for _, ev := range i.Events {
			waybills = append(waybills, string(ev.Values[0].Text()))
		}
	}}
	s := newSink(t, &fake{}, sink.Options{Schema: scans, Rows: []sink.Rows{saltedRows(t)}, Hooks: hooks})
	for _, b := range [][]string{{scan("a", 1), scan("b", 2)}, {scan("c", 3)}} {
		if _, err := event.Settle(t.Context(), s.Submit(t.Context(), batch(t, scans, b...))); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(waybills, []string{"a", "b", "c"}) {
		t.Errorf("reported %q", waybills)
	}
}
