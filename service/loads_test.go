package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/backoff"
	"brine/internal/testenv"
	"brine/service/stores"
	"brine/skew"
)

// TestLoadsOfRegionsGiveRequests checks that what all clients write and read becomes requests of the map's columns, on the regions that they
// went to, although this process writes nothing. While there is no master, LoadsError says so.
func TestLoadsOfRegionsGiveRequests(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		server, err := embedded.Start(embedded.Options{Servers: 2, DetectAfter: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		s := loadsGiveRequests(t, "rpc://"+server.Addr()+","+server.Nodes()[0].Addr()+","+server.Nodes()[1].Addr())
		server.Master().Kill()
		within, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := s.TakeLoads(within); err == nil || !errors.Is(s.LoadsError(), err) {
			t.Errorf("without a master: %v; kept: %v", err, s.LoadsError())
		}
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		loadsGiveRequests(t, testenv.HBase(t))
	})
}

// loadsGiveRequests is another client that writes to the second region of a table and reads it, until the service has learnt of it.
func loadsGiveRequests(t *testing.T, connect string) *Service {
	t.Helper()
	ctx := t.Context()
	open := func() *hbase.Client {
		client, err := hbase.Open(ctx, hbase.Options{Connect: connect, Pause: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		return client
	}
	other, table := open(), testenv.Name(t)
	err := other.CreateTable(ctx, hbase.Table{Name: table, Families: []hbase.Family{{Name: "e"}}}, [][]byte{[]byte("m")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = other.DisableTable(t.Context(), table)
		_ = other.DeleteTable(t.Context(), table)
	})
	s := &Service{tables: skew.NewTables(time.Now), hbase: &stores.HBase{Client: open()}}
	counter := s.tables.Counter(table, skew.Shape{})
	for n := 0; ; n++ {
		b := hbase.NewBatch(table)
		b.Mutate([]byte("x"))
		b.Put([]byte("e"), []byte("q"), int64(n+1), []byte("v"))
		if err := other.MutateRow(ctx, b); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Get(ctx, table, hbase.Get{Row: []byte("x")}); err != nil {
			t.Fatal(err)
		}
		if err := s.TakeLoads(ctx); err != nil || s.LoadsError() != nil {
			t.Fatal(err, s.LoadsError())
		}
		_, open := counter.Columns(time.Time{})
		if len(open.Requests) == 2 && open.Requests[1] >= 2 {
			if open.Requests[0] != 0 || open.Rows[1] != 0 || open.Observed <= 0 {
				t.Errorf("after %d writes and reads of others: %+v", n+1, open)
			}
			return s
		}
		if err := backoff.Wait(ctx, 20*time.Millisecond); err != nil { // servers report to their master every few seconds
			t.Fatal(err)
		}
	}
}
