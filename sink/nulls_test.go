package sink_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/event"
	"brine/hbase"
	"brine/internal/testenv"
	"brine/rowkey"
	"brine/sink"
)

// nullable has two fields that may be null, in two families, and one column that an older configuration wrote.
var nullable = event.Schema{Version: 1, Fields: []event.Field{
	{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "x", Type: event.Text}, {Name: "y", Type: event.Int}, {Name: "old", Type: event.Text}}}

func nullableRows(t *testing.T, table string, nulls sink.NullPolicy, columns ...sink.Column) sink.Rows {
	return sink.Rows{Table: sink.Table{Name: table, Row: sink.RowEntity, Keys: rowkey.One(key(t, nullable, `id`))}, Nulls: nulls, Columns: columns}
}

// visible returns what a reader finds in each row, without the empty cells of rows that have no other. A null that is stored is a column
// like any other.
func visible(t *testing.T, c *hbase.Client, table string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for r, err := range c.Scan(t.Context(), table, hbase.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range r.Cells {
			if len(cell.Qualifier) > 0 {
				out[string(r.Row)] += fmt.Sprintf("%s:%s@%d ", cell.Family, cell.Qualifier, cell.Timestamp)
			}
		}
	}
	return out
}

// testNulls writes rows as an older configuration did, then changes of them, some twice and in any order.
func testNulls(t *testing.T, client *hbase.Client, policy sink.NullPolicy) {
	x, y := sink.Column{Family: "a", Qualifier: "x", Field: "x"}, sink.Column{Family: "b", Qualifier: "y", Field: "y"}
	table := testenv.Name(t)
	before := nullableRows(t, table, sink.NullsMerge, x, sink.Column{Family: "a", Qualifier: "old", Field: "old"})
	now := nullableRows(t, table, policy, x, y)
	create(t, client, nullableRows(t, table, policy, x, y))
	t.Cleanup(func() {
		ctx := context.Background() // the test's own context has ended
		if err := client.DisableTable(ctx, table); err != nil {
			t.Error(err)
		} else if err := client.DeleteTable(ctx, table); err != nil {
			t.Error(err)
		}
	})
	r := rand.New(rand.NewPCG(7, 7))
	var old, changes []string
	want := map[string]map[string]int{} // row → column → version
	for id := range 40 {
		row, n := fmt.Sprintf("r%02d", id), 1+r.IntN(6)
		old = append(old, fmt.Sprintf(`{"id":%q,"at":1000,"x":"first","old":"o"}`, row))
		cells := map[string]int{"a:old": 1000, "a:x": 1000}
		for at := 1001; at < 1001+n; at++ {
			change := fmt.Sprintf(`{"id":%q,"at":%d`, row, at)
			if policy == sink.NullsReplace {
				cells = map[string]int{}
			}
			for column, member := range map[string]string{"a:x": `,"x":"v"`, "b:y": `,"y":7`} {
				switch null := r.IntN(2) == 0; {
				case !null:
					change += member
					cells[column] = at
				case policy == sink.NullsDelete:
					delete(cells, column)
				case policy == sink.NullsStore:
					cells[column] = at
				}
			}
			changes = append(changes, change+"}")
		}
		want[row] = cells
	}
	write := func(rows sink.Rows, records []string) {
		s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: nullable, Rows: []sink.Rows{rows}})
		for part := range slices.Chunk(records, 11) {
			if got := submit(t, s, batch(t, nullable, part...)); got != "" {
				t.Fatal(got)
			}
		}
	}
	write(before, old)
	changes = append(changes, changes[:len(changes)/2]...)
	r.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	write(now, changes)
	write(before, old[:20]) // a replay of the oldest
	wantRows := map[string]string{}
	for row, cells := range want {
		for _, column := range slices.Sorted(maps.Keys(cells)) {
			wantRows[row] += fmt.Sprintf("%s@%d ", column, cells[column])
		}
	}
	if diff := cmp.Diff(wantRows, visible(t, client, table)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if policy == sink.NullsReplace == strings.Contains(fmt.Sprint(wantRows), "a:old") {
		t.Errorf("the test tries nothing: %v", wantRows)
	}
}

func TestNullPolicies(t *testing.T) {
	for _, policy := range []sink.NullPolicy{sink.NullsMerge, sink.NullsStore, sink.NullsDelete, sink.NullsReplace} {
		t.Run(string(policy), func(t *testing.T) {
			onBoth(t, func(t *testing.T, client *hbase.Client) { testNulls(t, client, policy) })
		})
	}
}

// TestADeleteKeepsColumnsOfItsVersion: a null in a change that marks its row deletes older values, and none of the change's own version,
// which one that comes later may have written.
func TestADeleteKeepsColumnsOfItsVersion(t *testing.T) {
	schema := event.Schema{Version: 1, Fields: []event.Field{
		{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "x", Type: event.Text}, {Name: "gone", Type: event.Bool}}}
	onBoth(t, func(t *testing.T, client *hbase.Client) {
		rows := sink.Rows{Table: sink.Table{Name: testenv.Name(t), Row: sink.RowEntity, Keys: rowkey.One(key(t, schema, `id`))}, Nulls: sink.NullsDelete,
			Columns: []sink.Column{{Family: "f", Qualifier: "x", Field: "x"}, {Family: "f", Qualifier: "gone", Field: "gone"}}, Deletes: sink.Deletes{Field: "gone"}}
		table := made(t, client, nil, []sink.Rows{rows})[0]
		s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: schema, Rows: []sink.Rows{rows}})
		for _, record := range []string{
			`{"id":"back","at":1000,"x":"old"}`, `{"id":"back","at":1020,"gone":true}`, `{"id":"back","at":1020,"x":"new","gone":false}`,
			`{"id":"gone","at":1020,"x":"new","gone":false}`, `{"id":"gone","at":1020,"gone":true}`,
			`{"id":"long","at":1019,"x":"old"}`, `{"id":"long","at":1020,"gone":true}`,
			`{"id":"zero","at":0,"x":"old","gone":false}`, `{"id":"zero","at":0,"gone":true}`,
			`{"id":"null","at":1020,"x":"old","gone":false}`, `{"id":"null","at":1020,"gone":false}`, // of a row that stays
		} {
			if got := submit(t, s, batch(t, schema, record)); got != "" {
				t.Fatal(got)
			}
		}
		want := map[string]string{"back": "f:gone@1020 f:x@1020 ", "gone": "f:gone@1020 f:x@1020 ", "long": "f:gone@1020 ", "zero": "f:gone@0 f:x@0 ",
			"null": "f:gone@1020 "}
		if diff := cmp.Diff(want, visible(t, client, table)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestStoredNulls checks the cells of NullsStore: an empty text is not a null, what was not sent has no cell, a delete, which may hold the
// key alone, stores no nulls, and a pack of nulls is empty.
func TestStoredNulls(t *testing.T) {
	envelope := event.Envelope{Form: event.Debezium, Keys: []string{"id"}, Partial: true}
	schema := envelope.Wrap(event.Schema{Version: 1, Images: event.Images{Deleted: "gone"},
		Fields: []event.Field{{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS, Path: []string{"$source", "at"}}, {Name: "x", Type: event.Text}, {Name: "n", Type: event.Int},
			{Name: "gone", Type: event.Bool}}})
	onBoth(t, func(t *testing.T, client *hbase.Client) {
		rows := sink.Rows{Table: sink.Table{Name: testenv.Name(t), Row: sink.RowEntity, Keys: rowkey.One(key(t, schema, `id`))}, Nulls: sink.NullsStore,
			Columns: []sink.Column{{Family: "f", Qualifier: "gone", Field: "gone"}, {Family: "f", Qualifier: "n", Field: "n"}, {Family: "f", Qualifier: "p",
				Pack: &event.Pack{Packing: event.JSON, Fields: []event.PackedField{{Name: "n", Field: "n", Type: event.Int}}}}, {Family: "f", Qualifier: "x", Field: "x"}},
			Deletes: sink.Deletes{Field: "gone"}}
		table := made(t, client, nil, []sink.Rows{rows})[0]
		s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: schema, Rows: []sink.Rows{rows}})
		update := func(at int, row string) string {
			return fmt.Sprintf(`{"op":"u","source":{"at":%d},"before":null,"after":%s}`, at, row)
		}
		remove := func(at int, row string) string {
			return fmt.Sprintf(`{"op":"d","source":{"at":%d},"before":%s,"after":null}`, at, row)
		}
		for _, record := range []string{
			update(2, `{"id":"empty","x":"","n":1}`),
			update(2, `{"id":"null","x":null,"n":null}`), update(1, `{"id":"null","x":"old","n":1}`),
			update(1, `{"id":"unsent","x":"kept","n":1}`), update(2, `{"id":"unsent","x":"__debezium_unavailable_value","n":null}`),
			update(1, `{"id":"deleted","x":"kept","n":1}`), remove(2, `{"id":"deleted"}`),
			update(3, `{"id":"back","x":null,"n":3}`), remove(2, `{"id":"back"}`), update(1, `{"id":"back","x":"old","n":1}`),
		} {
			if got := submit(t, s, batch(t, schema, record)); got != "" {
				t.Fatal(got)
			}
		}
		got := map[string]string{}
		for r, err := range client.Scan(t.Context(), table, hbase.Scan{}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, cell := range r.Cells {
				value := string(cell.Value)
				if len(value) == 8 {
					value = "8"
				}
				got[string(r.Row)] += fmt.Sprintf("%s@%d=%q ", cell.Qualifier, cell.Timestamp, value)
			}
		}
		want := map[string]string{
			"empty":   `gone@2="\x00" n@2="8" p@2="{\"n\":1}" x@2="" `,
			"null":    `gone@2="\x00" n@2="" p@2="" x@2="\xff" `,
			"unsent":  `gone@2="\x00" n@2="" p@2="" x@1="kept" `,
			"deleted": `gone@2="\xff" n@1="8" p@1="{\"n\":1}" x@1="kept" `,
			"back":    `gone@3="\x00" n@3="8" p@3="{\"n\":3}" x@3="\xff" `,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestNullsThatCannotBeStored: any bytes are a value of a column of bytes, and nobody knows which members an event could have had.
func TestNullsThatCannotBeStored(t *testing.T) {
	schema := event.Schema{Version: -1, Fields: []event.Field{{Name: "id", Type: event.Text}, {Name: "b", Type: event.Bytes}, {Name: "j", Type: event.Nested}}}
	for name, c := range map[string]struct {
		column sink.Column
		want   string
	}{
		"bytes":   {sink.Column{Family: "f", Qualifier: "b", Field: "b"}, "whose empty value would look like a null"},
		"members": {sink.Column{Family: "f", Field: "j", Members: &sink.Members{Limit: 1}}, "unknown which columns a null would be in"},
	} {
		_, err := sink.New(nil, sink.Options{Schema: schema, Rows: []sink.Rows{{Table: sink.Table{Name: "t", Row: sink.RowEntity,
			Keys: rowkey.One(key(t, schema, `id`))}, Nulls: sink.NullsStore, Columns: []sink.Column{c.column}}}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
