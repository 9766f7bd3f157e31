package sink_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"brine/event"
	"brine/hbase"
	"brine/hbase/hbasetest"
	"brine/internal/sample"
	"brine/rowkey"
	"brine/sink"
)

var update = flag.Bool("update", false, "write the golden files again")

// store returns a client of an embedded HBase.
func store(t *testing.T) *hbase.Client {
	t.Helper()
	return hbasetest.Run(t).Client(t)
}

func autoflush(t *testing.T, c *hbase.Client) *hbase.Mutator {
	t.Helper()
	m, err := c.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// create creates the tables of rows, with ten versions, in two regions.
func create(t *testing.T, c *hbase.Client, rows ...sink.Rows) {
	t.Helper()
	for _, r := range rows {
		if namespace, _, ok := strings.Cut(r.Table.Name, ":"); ok {
			if err := c.CreateNamespace(t.Context(), namespace); err != nil {
				t.Fatal(err)
			}
		}
		table := hbase.Table{Name: r.Table.Name}
		for _, column := range r.Columns {
			if !slices.ContainsFunc(table.Families, func(f hbase.Family) bool { return f.Name == column.Family }) {
				table.Families = append(table.Families, hbase.Family{Name: column.Family, Values: map[string]string{"VERSIONS": "10"}})
			}
		}
		if err := c.CreateTable(t.Context(), table, [][]byte{{0x80}}); err != nil {
			t.Fatal(err)
		}
	}
}

// cells prints a table: all versions of all cells.
func cells(t *testing.T, c *hbase.Client, table string) string {
	t.Helper()
	var out strings.Builder
	for r, err := range c.Scan(t.Context(), table, hbase.Scan{MaxVersions: math.MaxInt32, Raw: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range r.Cells {
			fmt.Fprintf(&out, "%s %s:%s @%d = %s\n", rowkey.Binary(cell.Row), cell.Family, cell.Qualifier, cell.Timestamp, rowkey.Binary(cell.Value))
		}
	}
	return out.String()
}

// typed returns a schema with a field of every type, and a table with a column for each.
func typed(t *testing.T) (event.Schema, sink.Rows) {
	schema := event.Schema{Version: 3, Fields: []event.Field{
		{Name: "id", Type: event.Text}, {Name: "n", Type: event.Int}, {Name: "weight", Type: event.Float}, {Name: "at", Type: event.TimeMS},
		{Name: "sec", Type: event.TimeS}, {Name: "late", Type: event.Bool}, {Name: "note", Type: event.Text, Path: []string{"more", "note"}}, {Name: "items", Type: event.Nested},
	}}
	rows := sink.Rows{Table: sink.Table{Name: "typed", Row: sink.RowEntity, Keys: rowkey.One(key(t, schema, "id"))}}
	for _, f := range schema.Fields[1:] {
		rows.Columns = append(rows.Columns, sink.Column{Family: "f", Qualifier: f.Name, Field: f.Name})
	}
	return schema, rows
}

// Each file of testdata holds records and the cells that they become in a table of the embedded HBase.
func TestRowsGolden(t *testing.T) {
	typedSchema, typedRows := typed(t)
	client := store(t)
	for _, c := range []struct {
		file   string
		schema event.Schema
		rows   []sink.Rows
	}{
		{"scans.txtar", scans, []sink.Rows{scanRows(t), lastRows(t)}},
		{"packed.txtar", scans, []sink.Rows{packedRows(t, event.MessagePack), packedRows(t, event.JSON)}},
		{"types.txtar", typedSchema, []sink.Rows{typedRows}},
	} {
		t.Run(c.file, func(t *testing.T) {
			file := filepath.Join("testdata", c.file)
			golden, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			create(t, client, c.rows...)
			s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: c.schema, Rows: c.rows})
			records := strings.Split(strings.TrimSpace(string(golden.Files[0].Data)), "\n")
			if got := submit(t, s, batch(t, c.schema, records...)); got != "" {
				t.Fatal(got)
			}
			got := &txtar.Archive{Comment: golden.Comment, Files: golden.Files[:1]}
			for _, r := range c.rows {
				got.Files = append(got.Files, txtar.File{Name: r.Table.Name, Data: []byte(cells(t, client, r.Table.Name))})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(txtar.Format(golden)), string(txtar.Format(got))); diff != "" && !*update {
				t.Error(diff)
			}
		})
	}
}

// ordersOf returns the schema and a table of order changes as in the example.
func ordersOf(t *testing.T, table string) (event.Schema, sink.Rows) {
	schema := event.Schema{Version: 3}
	field := func(typ event.Type, names ...string) {
		for _, name := range names {
			schema.Fields = append(schema.Fields, event.Field{Name: name, Type: typ})
		}
	}
	field(event.Text, "order", "user")
	field(event.TimeMS, "created", "at")
	field(event.Text, "status", "items", "brand", "payment", "carrier", "reason", "note")
	field(event.Int, "lines")
	field(event.Float, "total", "discount")
	field(event.Bool, "deleted")
	rows := sink.Rows{Table: sink.Table{Name: table, Row: sink.RowEntity, Keys: rowkey.One(key(t, schema, `md5(user, 4) + user + "|" + desc(created, ms) + order`))}}
	for _, f := range schema.Fields[3:] {
		family := "detail"
		if slices.Contains([]string{"status", "at", "lines", "total", "deleted"}, f.Name) {
			family = "brief"
		}
		rows.Columns = append(rows.Columns, sink.Column{Family: family, Qualifier: f.Name, Field: f.Name})
	}
	return schema, rows
}

// However often, late and in whatever order the changes are applied, in batches of whatever size: the rows are the same.
func TestRepeatedAndShuffledChangesMakeTheSameRows(t *testing.T) {
	client := store(t)
	var changes []string
	for c := range sample.Orders(120) {
		changes = append(changes, string(c))
	}
	want := ""
	for round := range 6 {
		schema, rows := ordersOf(t, fmt.Sprint("orders", round))
		create(t, client, rows)
		ties := 0
		s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: schema, Rows: []sink.Rows{rows}, Hooks: sink.Hooks{Tie: func(sink.TieInfo) { ties++ }}})
		r := rand.New(rand.NewPCG(uint64(round), 0))
		todo := slices.Clone(changes)
		if round > 0 {
			todo = append(todo, changes[:len(changes)/round]...)
			r.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
		}
		for len(todo) > 0 {
			n := min(len(todo), 1+r.IntN(200))
			if got := submit(t, s, batch(t, schema, todo[:n]...)); got != "" {
				t.Fatal(got)
			}
			todo = todo[n:]
		}
		got := cells(t, client, rows.Table.Name)
		if round == 0 {
			want = got
		}
		if ties != 0 {
			t.Errorf("round %d: %d ties among changes that have none", round, ties)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d: %s", round, diff)
		}
	}
	if n := strings.Count(want, "\n"); n < 1000 {
		t.Errorf("only %d cells were compared", n)
	}
}
