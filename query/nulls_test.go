package query_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
	"brine/query"
	"brine/rowkey"
)

// TestRowsOfNullsAreSeen checks that a row whose named columns are all null has one cell without a name, and is found by it. A row with
// only a column of another writer is not found.
func TestRowsOfNullsAreSeen(t *testing.T) {
	for name, connect := range map[string]func(*testing.T) string{
		"embedded": func(t *testing.T) string {
			server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Close() })
			return "rpc://" + server.Addr()
		},
		"real": func(t *testing.T) string { return testenv.HBase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			client, err := hbase.Open(t.Context(), hbase.Options{Connect: connect(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Close() })
			key, err := rowkey.Parse("id", []rowkey.Field{{Name: "id", Type: rowkey.Text}})
			if err != nil {
				t.Fatal(err)
			}
			table := query.Table{Name: testenv.Name(t), Keys: rowkey.One(key), Columns: []query.Column{{Family: "e"}, {Family: "e", Qualifier: "v", Field: "v", Type: event.Text}}}
			if err := client.CreateTable(t.Context(), hbase.Table{Name: table.Name, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { drop(t, client, table.Name) })
			b := hbase.NewBatch(table.Name)
			for row, qualifier := range map[string]string{"nulls": "", "full": "v", "theirs": "x"} {
				b.Mutate([]byte(row))
				b.Put([]byte("e"), []byte(qualifier), 7, []byte("value"[:len(qualifier)*5]))
			}
			if failed, err := client.Submit(t.Context(), b).Wait(t.Context()); err != nil || len(failed) > 0 {
				t.Fatal(err, failed)
			}
			scanned := ""
			for row, err := range query.Rows(t.Context(), client, table, nil, query.Options{}) {
				if err != nil {
					t.Fatal(err)
				}
				scanned += string(row.Key) + " "
			}
			if scanned != "full nulls " {
				t.Errorf("a scan finds %q", scanned)
			}
			rows, err := query.ByKey(t.Context(), client, table, [][]byte{[]byte("nulls"), []byte("theirs")})
			if err != nil || len(rows[0].Fields) != 2 || !rows[0].Fields[1].Value.Null() || rows[0].Version != 7 || len(rows[1].Fields) != 0 {
				t.Errorf("gets find %+v, %v", rows, err)
			}
		})
	}
}

// drop deletes a table of a server that outlives the test.
func drop(t testing.TB, client *hbase.Client, table string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // the test's own context has ended
	defer cancel()
	if err := errors.Join(client.DisableTable(ctx, table), client.DeleteTable(ctx, table)); err != nil {
		t.Error(err)
	}
}
