package sink_test

import (
	"encoding/json"
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

// logged is the schema of a database's log of orders.
var logged = event.Schema{Version: 4, Images: event.Images{Before: []string{"before"}, After: []string{"after"}, Deleted: "gone"},
	Fields: []event.Field{
		{Name: "id", Type: event.Text, Path: []string{"after", "id"}}, {Name: "user", Type: event.Text, Path: []string{"after", "user"}},
		{Name: "words", Type: event.Text, Path: []string{"after", "words"}}, {Name: "note", Type: event.Text, Path: []string{"after", "note"}},
		{Name: "at", Type: event.TimeMS, Path: []string{"ts"}}, {Name: "gone", Type: event.Bool}}}

// loggedRows returns an order's row under its user, one for each of its words, and two in one table, under its user and its words, each as
// the other's peer.
func loggedRows(t testing.TB, table string, hard bool) []sink.Rows {
	key := func(expr string) *rowkey.Key { return key(t, logged, expr, "word", "a", "b") }
	note, gone := sink.Column{Family: "f", Qualifier: "note", Field: "note"}, sink.Column{Family: "f", Qualifier: "gone", Field: "gone"}
	orders := sink.Rows{Table: sink.Table{Name: table + "_orders", Row: sink.RowEntity, Keys: rowkey.One(key(`user + "|" + id`))},
		Columns: []sink.Column{note, gone}, Deletes: sink.Deletes{Field: "gone", Hard: hard}}
	words, sent := orders, orders
	words.Table.Name, words.Table.Keys = table+"_words", rowkey.One(key(`word + "|" + id`))
	words.Each = &sink.Each{Name: "word", Tokens: event.Tokens{Tokenizer: event.Words, Limit: 9, Fields: []event.TextField{{Field: "words"}}}}
	words.Columns = []sink.Column{gone}
	if hard {
		words.Columns, words.Empty = nil, "f"
	}
	sent.Table.Name, sent.Table.Keys = table+"_sides", rowkey.One(key(`a + "|" + b`))
	received := sent
	sent.As, received.As = map[string]string{"a": "user", "b": "words"}, map[string]string{"a": "words", "b": "user"}
	return []sink.Rows{orders, words, sent, received}
}

// made creates the tables of entries, with one family, and returns their names.
func made(t *testing.T, client *hbase.Client, values map[string]string, entries []sink.Rows) (tables []string) {
	t.Helper()
	for _, r := range entries {
		if slices.Contains(tables, r.Table.Name) {
			continue
		}
		tables = append(tables, r.Table.Name)
		table := hbase.Table{Name: r.Table.Name, Families: []hbase.Family{{Name: "f", Values: values}}}
		if err := client.CreateTable(t.Context(), table, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx := background() // the test's own context has ended
			if err := client.DisableTable(ctx, r.Table.Name); err != nil {
				t.Error(err)
			} else if err := client.DeleteTable(ctx, r.Table.Name); err != nil {
				t.Error(err)
			}
		})
	}
	return tables
}

// order is a row of the database.
type order struct {
	ID    string `json:"id"`
	User  string `json:"user"`
	Words string `json:"words"`
	Note  string `json:"note"`
}

type change struct {
	Before *order `json:"before"`
	After  *order `json:"after"`
	TS     int64  `json:"ts"`
}

func (c change) record() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// history returns the changes of some orders, which move between users, gain and lose words, and are deleted and recreated. With ties, some
// changes of an order have the same version.
func history(r *rand.Rand, orders int, ties bool) (all []change) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	for n := range orders {
		var now *order
		for at, left := int64(1000), 1+r.IntN(8); left > 0; left-- {
			c := change{Before: now, TS: at}
			if now == nil || r.IntN(4) > 0 {
				next := order{ID: fmt.Sprintf("o%02d", n), User: pick("ann", "bob", "cat"), Words: pick("red shoe", "shoe", "blue", "Red hat", ""), Note: pick("x", "y", "z")}
				c.After = &next
			}
			now = c.After
			all = append(all, c)
			if at++; ties && r.IntN(3) == 0 {
				at--
			}
		}
	}
	return all
}

// want returns what a reader has to find: for each existing order its rows, with its newest change's note and version.
func want(changes []change) map[string]string {
	newest := map[string]change{}
	for _, c := range changes {
		id := c.now().ID
		if c.TS >= newest[id].TS {
			newest[id] = c
		}
	}
	out := map[string]string{}
	for id, c := range newest {
		if c.After == nil {
			continue
		}
		out["orders "+c.After.User+"|"+id] = fmt.Sprint(c.After.Note, "@", c.TS)
		for word := range strings.FieldsSeq(strings.ToLower(c.After.Words)) {
			out["words "+word+"|"+id] = fmt.Sprint("@", c.TS)
		}
	}
	return out
}

func (c change) now() *order {
	if c.After == nil {
		return c.Before
	}
	return c.After
}

// found returns what a reader finds in the tables, including what is marked as deleted, with a cross in front.
func found(t *testing.T, client *hbase.Client, tables []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range tables {
		_, short, _ := strings.Cut(table[strings.LastIndex(table, "_"):], "_")
		for r, err := range client.Scan(t.Context(), table, hbase.Scan{}) {
			if err != nil {
				t.Fatal(err)
			}
			note, mark, version := "", "", int64(0)
			for _, cell := range r.Cells {
				version = max(version, cell.Timestamp)
				switch {
				case string(cell.Qualifier) == "note":
					note = string(cell.Value)
				case string(cell.Qualifier) == "gone" && cell.Value[0] != 0:
					mark = "† "
				}
			}
			out[short+" "+string(r.Row)] = fmt.Sprint(mark, note, "@", version)
		}
	}
	return out
}

func live(rows map[string]string) map[string]string {
	rows = maps.Clone(rows)
	maps.DeleteFunc(rows, func(row, text string) bool { return strings.HasPrefix(text, "†") || strings.HasPrefix(row, "sides") })
	return rows
}

// disordered returns the changes in random order, except those of one order and version, and some of them twice.
func disordered(changes []change, r *rand.Rand) []change {
	out := slices.Clone(changes)
	queues := map[string][]change{}
	name := func(c change) string { return fmt.Sprint(c.now().ID, c.TS) }
	for _, c := range changes {
		queues[name(c)] = append(queues[name(c)], c)
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for i := range out {
		q := queues[name(out[i])]
		queues[name(out[i])], out[i] = q[1:], q[0]
	}
	return append(out, changes...) // a replay of all, ties in their order
}

// testMoves checks that rows that changes have left, and their words', are gone, in whatever order and however often the changes are
// applied.
func testMoves(t *testing.T, client *hbase.Client, hard bool) {
	changes := history(rand.New(rand.NewPCG(3, 3)), 40, !hard)
	var first map[string]string
	for way, list := range [][]change{changes, disordered(changes, rand.New(rand.NewPCG(1, 1))), disordered(changes, rand.New(rand.NewPCG(2, 2)))} {
		entries := loggedRows(t, fmt.Sprint(testenv.Name(t), way), hard)[:2]
		tables := made(t, client, nil, entries)
		s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: logged, Rows: entries})
		for part := range slices.Chunk(list, 37) {
			var records []string
			for _, c := range part {
				records = append(records, c.record())
			}
			records = append(records, "") // a tombstone
			if got := submit(t, s, batch(t, logged, records...)); got != "" {
				t.Fatal(got)
			}
		}
		got := found(t, client, tables)
		if diff := cmp.Diff(want(changes), live(got)); diff != "" {
			t.Errorf("way %d, -want +got:\n%s", way, diff)
		}
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("way %d differs from the first, rows that are gone included:\n%s", way, diff)
		}
		if gone := len(got) - len(live(got)); gone < 10 && !hard || len(live(got)) < 10 {
			t.Errorf("the test tries little: %d rows, %d gone", len(got), gone)
		}
	}
}

func TestMoves(t *testing.T) {
	for name, hard := range map[string]bool{"marks": false, "hard": true} {
		t.Run(name, func(t *testing.T) { onBoth(t, func(t *testing.T, client *hbase.Client) { testMoves(t, client, hard) }) })
	}
}

// testPurge tests put, delete, flush, major compaction and replay.
func testPurge(t *testing.T, client *hbase.Client) {
	changes := history(rand.New(rand.NewPCG(5, 5)), 30, false)
	oldest := testNow() - 60_000 // delete markers are kept by their age
	for i := range changes {
		changes[i].TS += oldest - 1000
	}
	for name, keep := range map[string]string{"kept for a day": "86400000", "not kept": "0"} {
		entries := loggedRows(t, testenv.Name(t)+strings.ReplaceAll(name, " ", ""), true)[:2]
		tables := made(t, client, map[string]string{"hbase.hstore.time.to.purge.deletes": keep}, entries)
		s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: logged, Rows: entries})
		write := func(list []change) {
			for _, c := range list {
				if got := submit(t, s, batch(t, logged, c.record())); got != "" {
					t.Fatal(got)
				}
			}
		}
		write(changes)
		for _, table := range tables {
			compact(t, client, table)
		}
		if diff := cmp.Diff(want(changes), live(found(t, client, tables))); diff != "" {
			t.Errorf("%s, after the compaction, -want +got:\n%s", name, diff)
		}
		write(slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return c.TS > oldest+2 }))
		if diff := cmp.Diff(want(changes), live(found(t, client, tables))); (diff == "") != (keep != "0") {
			t.Errorf("delete markers %s: a replay of old changes finds -want +got:\n%s", name, diff)
		}
	}
}

func TestHardDeletesOutlastAMajorCompaction(t *testing.T) { onBoth(t, testPurge) }
