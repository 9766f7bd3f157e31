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

// visible returns what a reader finds in each row, without the empty cells of rows that have no other.
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
	for _, policy := range []sink.NullPolicy{sink.NullsMerge, sink.NullsDelete, sink.NullsReplace} {
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
