package hbase_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
)

// counted is a connection that counts its bytes.
type counted struct {
	net.Conn
	sent, received *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// compressed opens a client with the given compression and counts its bytes.
func compressed(t testing.TB, connect, compression string) (c *hbase.Client, sent, received *atomic.Int64) {
	t.Helper()
	sent, received = new(atomic.Int64), new(atomic.Int64)
	c, err := hbase.Open(t.Context(), hbase.Options{Connect: connect, Compression: compression, Pause: 2 * time.Millisecond,
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return counted{conn, sent, received}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, sent, received
}

const stations = 3000 // rows per test

// stationsBatch returns rows that resemble each other like scans.
func stationsBatch(table string) *hbase.Batch {
	b := hbase.NewBatch(table)
	for i := range stations {
		b.Mutate(fmt.Appendf(nil, "UA-1545-20130101-%05d", i))
		b.Put([]byte("e"), []byte("s"), int64(i), []byte("Newark Liberty International"))
		b.Put([]byte("e"), []byte("a"), int64(i), []byte("DEPART"))
	}
	return b
}

// roundTrip writes the rows and reads them back with a scan and with gets.
func roundTrip(t *testing.T, c *hbase.Client, table string) {
	t.Helper()
	if failed, err := c.Submit(t.Context(), stationsBatch(table)).Wait(t.Context()); err != nil || failed != nil {
		t.Fatal(failed, err)
	}
	n := 0
	for r, err := range c.Scan(t.Context(), table, hbase.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("UA-1545-20130101-%05d", n); string(r.Row) != want || len(r.Cells) != 2 || string(r.Cells[1].Value) != "Newark Liberty International" || r.Cells[1].Timestamp != int64(n) {
			t.Fatalf("row %d is %q: %v", n, r.Row, r.Cells)
		}
		n++
	}
	if n != stations {
		t.Errorf("%d rows", n)
	}
	got, err := c.GetAll(t.Context(), table, []hbase.Get{{Row: []byte("UA-1545-20130101-00007")}, {Row: []byte("none")}})
	if err != nil || len(got[0].Cells) != 2 || string(got[0].Cells[0].Value) != "DEPART" || len(got[1].Cells) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func testCompressions(t *testing.T, connect string, compressions ...string) {
	var plainSent, plainReceived int64
	for _, name := range compressions {
		t.Run(name, func(t *testing.T) {
			c, sent, received := compressed(t, connect, name)
			table := testenv.Name(t)
			if err := c.CreateTable(t.Context(), hbase.Table{Name: table, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { drop(t, c, table) })
			roundTrip(t, c, table)
			s, r := sent.Load(), received.Load()
			t.Logf("%d bytes sent, %d received", s, r)
			if name == "none" {
				plainSent, plainReceived = s, r
			} else if s > plainSent*3/4 || r > plainReceived/2 { // besides the cells, requests contain the uncompressed mutations
				t.Errorf("%d bytes sent and %d received; without compression %d and %d", s, r, plainSent, plainReceived)
			}
		})
	}
}

func TestCompressedCellBlocks(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		s, err := embedded.Start(embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		testCompressions(t, "rpc://"+s.Addr(), "none", "gzip", "snappy", "lz4", "zstd")
	})
	t.Run("real", func(t *testing.T) {
		testCompressions(t, testenv.HBase(t), "none", "gzip", "snappy") // HBase 2.6 does not include the other libraries
	})
}

// A server without a codec says so for good: at once if it does not know the name, and in answer to a probe if it knows the name and lacks
// the library, as the real server does for lz4.
func TestServerLacksTheCodec(t *testing.T) {
	c, _, _ := compressed(t, testenv.HBase(t), "lz4")
	table := testenv.Name(t)
	if err := c.CreateTable(t.Context(), hbase.Table{Name: table, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil && !lacksLZ4(err) {
		t.Fatal(err)
	}
	plain, _, _ := compressed(t, testenv.HBase(t), "none")
	t.Cleanup(func() { drop(t, plain, table) })
	start := time.Now()
	for _, err := range c.Scan(t.Context(), table, hbase.Scan{}) {
		if !lacksLZ4(err) {
			t.Errorf("a scan: %v", err)
		}
	}
	failed, err := c.Submit(t.Context(), stationsBatch(table)).Wait(t.Context())
	if err != nil || len(failed) != stations || failed[0].Kind != hbase.Denied || !lacksLZ4(&failed[0]) {
		t.Errorf("%d failed, the first with %v; %v", len(failed), &failed[0], err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v to tell", took)
	}
}

func lacksLZ4(err error) bool {
	return err != nil && strings.Contains(err.Error(), "it cannot compress cell blocks with lz4") && strings.Contains(err.Error(), "net/jpountz") &&
		strings.Contains(err.Error(), "set hbase.compression to none")
}
