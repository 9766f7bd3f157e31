package lookup_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/hbase/hbasetest"
	"brine/lookup"
	"brine/rowkey"
	"brine/sink"
)

// changes is the schema of the creations of orders: v is the version.
var changes = event.Schema{Version: 3, Fields: append(append([]event.Field(nil), states.Fields...), event.Field{Name: "v", Type: event.Int})}

const turn = 100 // the version from which orders have their second key

// twoKeys are keys of orders with different salts.
func twoKeys(t testing.TB) rowkey.Keys {
	return rowkey.Keys{{Key: key(t, `salt(4, order) + order`)}, {From: turn, Key: key(t, `salt(16, order) + order`)}}
}

// orders creates a table of orders with these keys, on an embedded server.
func orders(t *testing.T, keys rowkey.Keys) (client *hbase.Client, write func(records ...string)) {
	t.Helper()
	client = hbasetest.Run(t).Client(t)
	family := hbase.Family{Name: "i", Values: map[string]string{"VERSIONS": "5"}}
	if err := client.CreateTable(t.Context(), hbase.Table{Name: "ids", Families: []hbase.Family{family}}, nil); err != nil {
		t.Fatal(err)
	}
	mutator, err := client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := sink.New(sink.HBase(mutator), sink.Options{Schema: changes, Rows: []sink.Rows{{Table: sink.Table{Name: "ids", Row: sink.RowEntity, Keys: keys},
		Columns: []sink.Column{{Family: "i", Qualifier: "u", Field: "user"}, {Family: "i", Qualifier: "c", Field: "created"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return client, func(records ...string) {
		t.Helper()
		if failed, err := event.Settle(t.Context(), rows.Submit(t.Context(), decoded(t, changes, records...))); err != nil || len(failed) > 0 {
			t.Fatal(err, failed)
		}
	}
}

func decoded(t *testing.T, schema event.Schema, records ...string) *event.Batch {
	t.Helper()
	d, batch := event.NewDecoder(schema), new(event.Batch)
	for i, r := range records {
		if err := d.Decode(&event.Record{Offset: int64(i), Timestamp: 5, Value: []byte(r)}, batch); err != nil {
			t.Fatal(err)
		}
	}
	return batch
}

// TestRowsOfTwoKeysAreLookedUp checks that a row is found by the key that it was written with, whatever the version of the change that
// needs it; that the newer cells of a row under both keys are used; and that the keys are read in one batch.
func TestRowsOfTwoKeysAreLookedUp(t *testing.T) {
	keys := twoKeys(t)
	client, write := orders(t, keys)
	write(`{"order":"old","by":{"user":"ann"},"created":1,"v":5}`, `{"order":"new","by":{"user":"bob"},"created":2,"v":150}`,
		`{"order":"both","by":{"user":"before"},"created":3,"v":7}`, `{"order":"both","by":{"user":"cat"},"v":160}`)
	counted, to := &counting{client: client}, &writer{}
	w, err := lookup.New(counted, to, lookup.Options{Schema: states, Table: "ids", Keys: keys, Wait: time.Minute,
		Fields: []lookup.Field{{"user", "i", "u"}, {"created", "i", "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	submit := func(records ...string) []event.Failure {
		t.Helper()
		failed, err := event.Settle(t.Context(), w.Submit(t.Context(), decoded(t, states, records...)))
		if err != nil {
			t.Fatal(err)
		}
		return failed
	}
	failed := submit(`{"order":"old"}`, `{"order":"new"}`, `{"order":"both"}`, `{"order":"none"}`)
	if got, want := strings.Join(to.got, "; "), "0 old ann 1000; 1 new bob 2000; 2 both cat 3000"; got != want || counted.batches != 1 {
		t.Errorf("completed, in %d batches: %s\nwant %s", counted.batches, got, want)
	}
	if len(failed) != 1 || failed[0].Index != 3 || failed[0].Reason != event.Awaited || !strings.Contains(fmt.Sprint(failed[0].Err), "none has not arrived yet") {
		t.Errorf("what is not there: %v", failed)
	}
	to.got = nil
	if failed := submit(`{"order":"both"}`, `{"order":"old"}`); len(failed) > 0 || counted.batches != 1 || strings.Join(to.got, "; ") != "0 both cat 3000; 1 old ann 1000" {
		t.Errorf("again: %v, %v, %d batches", to.got, failed, counted.batches)
	}
}

// TestRowsWithTheSameBytesAreDistinguished looks up two orders, of which one has under the first key the bytes that the other has under the
// second.
func TestRowsWithTheSameBytesAreDistinguished(t *testing.T) {
	swapped := event.Schema{Version: 3, Fields: []event.Field{{Name: "a", Type: event.Text}, {Name: "b", Type: event.Text}, {Name: "user", Type: event.Text}, {Name: "v", Type: event.Int}}}
	parse := func(expr string) *rowkey.Key {
		k, err := rowkey.Parse(expr, []rowkey.Field{{Name: "a", Type: rowkey.Text}, {Name: "b", Type: rowkey.Text}})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	cells := func(v string, version int64) []hbase.Cell {
		return []hbase.Cell{{Family: []byte("i"), Qualifier: []byte("u"), Timestamp: version, Value: []byte(v)}}
	}
	store, to := &versioned{rows: map[string][]hbase.Cell{"x|y": append(cells("ann", 5), cells("bob", 150)...)}}, &writer{}
	w, err := lookup.New(store, to, lookup.Options{Schema: swapped, Table: "ids", Wait: time.Minute, Fields: []lookup.Field{{"user", "i", "u"}},
		Keys: rowkey.Keys{{Key: parse(`a + "|" + b`)}, {From: turn, Key: parse(`b + "|" + a`)}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := event.Settle(t.Context(), w.Submit(t.Context(), decoded(t, swapped, `{"a":"x","b":"y","v":1}`, `{"a":"y","b":"x","v":1}`))); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(to.got, "; "), "0 x y ann 1; 1 y x bob 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestKeysThatCannotBeLookedUpAreRefused checks that the error names what is wrong with the list.
func TestKeysThatCannotBeLookedUpAreRefused(t *testing.T) {
	fields := []lookup.Field{{"user", "i", "u"}}
	for want, keys := range map[string]rowkey.Keys{
		"table ids: it has no key":                              nil,
		"table ids: its first key applies from version 100 on":  twoKeys(t)[1:],
		`table ids: the key lost names field "lost", which the`: {{Key: key(t, "order")}, {From: 5, Key: lostKey(t)}},
	} {
		if _, err := lookup.New(nil, nil, lookup.Options{Table: "ids", Schema: states, Keys: keys, Fields: fields}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func lostKey(t *testing.T) *rowkey.Key {
	k, err := rowkey.Parse("lost", []rowkey.Field{{Name: "lost", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// counting counts batched gets.
type counting struct {
	client  *hbase.Client
	batches int
}

func (c *counting) GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error) {
	c.batches++
	return c.client.GetAll(ctx, table, gets)
}

// versioned is a store that reads by time range.
type versioned struct{ rows map[string][]hbase.Cell }

func (s *versioned) GetAll(_ context.Context, _ string, gets []hbase.Get) ([]hbase.Result, error) {
	out := make([]hbase.Result, len(gets))
	for i, g := range gets {
		for _, c := range s.rows[string(g.Row)] {
			if c.Timestamp >= g.From && c.Timestamp < g.To {
				out[i].Cells = append(out[i].Cells, c)
			}
		}
	}
	return out, nil
}
