package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
	"brine/query"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/search"
	"brine/sink"
)

// visits is the schema of changes of visits: v is the version, not the time.
var visits = event.Schema{Version: 3, Fields: []event.Field{
	{Name: "user", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "id", Type: event.Text}, {Name: "v", Type: event.TimeMS},
	{Name: "page", Type: event.Text}, {Name: "note", Type: event.Text}, {Name: "gone", Type: event.Bool}}}

const turn = 1000 // the version from which visits have their second key

func visitKey(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	key, err := eventkey.Parse(expr, visits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// visitTable is a table of visits, and how to read it back.
type visitTable struct {
	rows   sink.Rows
	reads  query.Table
	client *hbase.Client
}

func newVisits(t testing.TB, client *hbase.Client, name string, kind sink.RowKind, keys rowkey.Keys) *visitTable {
	t.Helper()
	name = testenv.Name(t) + "_" + name
	family := hbase.Family{Name: "e", Values: map[string]string{"VERSIONS": "5"}} // older versions must not show
	if err := client.CreateTable(t.Context(), hbase.Table{Name: name, Families: []hbase.Family{family}}, [][]byte{{1}, {5}, []byte("u3")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(t, client, name) })
	columns := []string{"page", "note", "gone"}
	types := []event.Type{event.Text, event.Text, event.Bool}
	v := &visitTable{client: client, rows: sink.Rows{Table: sink.Table{Name: name, Row: kind, Keys: keys}, Deletes: sink.Deletes{Field: "gone"}},
		reads: query.Table{Name: name, Keys: keys, Deleted: "gone"}}
	for i, c := range columns {
		v.rows.Columns = append(v.rows.Columns, sink.Column{Family: "e", Qualifier: c, Field: c})
		v.reads.Columns = append(v.reads.Columns, query.Column{Family: "e", Qualifier: c, Field: c, Type: types[i]})
	}
	return v
}

func (v *visitTable) write(t testing.TB, records ...string) {
	t.Helper()
	mutator, err := v.client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := sink.New(sink.HBase(mutator), sink.Options{Schema: visits, Rows: []sink.Rows{v.rows}})
	if err != nil {
		t.Fatal(err)
	}
	d, b := event.NewDecoder(visits), new(event.Batch)
	for i, r := range records {
		if err := d.Decode(&event.Record{Offset: int64(i), Timestamp: 1 << 40, Value: []byte(r)}, b); err != nil {
			t.Fatal(err)
		}
	}
	if failed, err := event.Settle(t.Context(), rows.Submit(t.Context(), b)); err != nil || len(failed) > 0 {
		t.Fatal(err, failed)
	}
}

// read returns the rows as text, and the token behind the last.
func (v *visitTable) read(t testing.TB, where map[string]rowkey.Bound, o query.Options) (rows []string, last query.Token) {
	t.Helper()
	for row, err := range query.Rows(t.Context(), v.client, v.reads, where, o) {
		if err != nil {
			t.Fatal(err)
		}
		rows, last = append(rows, rowText(row)), v.reads.Token(row)
	}
	return rows, last
}

func rowText(row query.Row) string {
	var out []string
	for _, f := range row.Fields {
		text := string(f.Value.Text())
		if f.Value.Type == event.TimeMS || f.Value.Type == event.Bool {
			text = fmt.Sprint(f.Value.Int())
		}
		out = append(out, f.Name+"="+text)
	}
	slices.Sort(out) // each key has its own order of fields
	return fmt.Sprint(strings.Join(out, " "), " @", row.Version, " ", row.Deleted)
}

// randomVisits returns changes of a few visits, around the turn.
func randomVisits(random *rand.Rand, n int) (out []string) {
	for range n {
		user, at := random.IntN(6), random.IntN(20)
		fields := fmt.Sprintf(`{"user":"u%d","at":%d,"id":"i%d","v":%d`, user, at, random.IntN(2), turn-50+random.IntN(100))
		for _, name := range []string{"page", "note"} {
			if random.IntN(2) == 0 {
				fields += fmt.Sprintf(`,%q:"%s%d"`, name, name, random.IntN(100000)) // no two are equal: equal versions are rare
			}
		}
		if random.IntN(5) == 0 {
			fields += fmt.Sprintf(`,"gone":%v`, random.IntN(2) == 0)
		}
		out = append(out, fields+"}")
	}
	return out
}

// onBoth runs a test on the embedded server and on a real one.
func onBoth(t *testing.T, test func(t *testing.T, client *hbase.Client)) {
	for name, start := range map[string]func(*testing.T) string{"embedded": embeddedHBase, "real": func(t *testing.T) string { return testenv.HBase(t) }} {
		t.Run(name, func(t *testing.T) {
			client, err := hbase.Open(t.Context(), hbase.Options{Connect: start(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Close() })
			test(t, client)
		})
	}
}

func embeddedHBase(t *testing.T) string {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return "rpc://" + server.Addr()
}

// twoKeys are keys of one table with different salts.
func twoKeys(t testing.TB) rowkey.Keys {
	return rowkey.Keys{{Key: visitKey(t, `salt(4, user) + user + "|" + desc(at, ms) + id`)},
		{From: turn, Key: visitKey(t, `salt(16, user, id) + user + "|" + desc(at, ms) + id`)}}
}

// pages reads an answer page by page.
func pages(t testing.TB, v *visitTable, where map[string]rowkey.Bound, size int) (all []string) {
	t.Helper()
	for after := query.Token(""); ; {
		page, last := v.read(t, where, query.Options{Limit: size, After: after})
		if all = append(all, page...); len(page) < size {
			return all
		}
		after = last
	}
}

// counting counts batched gets.
type counting struct {
	query.Client
	gets int
}

func (c *counting) GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error) {
	c.gets++
	return c.Client.GetAll(ctx, table, gets)
}

// found is an index that finds its hits.
type found []search.Hit

func (f found) Search(context.Context, search.Query) (search.Page, error) {
	return search.Page{Hits: f}, nil
}

// firstKeyOf returns the row of a visit under the first key, which names its document.
func firstKeyOf(t testing.TB, keys rowkey.Keys, row query.Row) []byte {
	t.Helper()
	var values []rowkey.Value
	for _, name := range keys[0].Key.Fields() {
		i := slices.IndexFunc(row.Fields, func(f query.Field) bool { return f.Name == name })
		values = append(values, eventkey.Value(row.Fields[i].Value))
	}
	out, err := keys[0].Key.Append(nil, values)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pageOf(row query.Row) any {
	for _, f := range row.Fields {
		if f.Name == "page" && !f.Value.Null() {
			return string(f.Value.Text())
		}
	}
	return nil
}
