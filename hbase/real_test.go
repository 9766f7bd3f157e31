package hbase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"brine/internal/testenv"
)

// splitAt splits the region that contains a row.
func splitAt(ctx context.Context, c *Client, table, row string) error {
	regions, err := c.Regions(ctx, table)
	i := slices.IndexFunc(regions, func(r Region) bool { return string(r.Start) <= row && (len(r.End) == 0 || row < string(r.End)) })
	if err != nil || i < 0 {
		return fmt.Errorf("no region to split at %s: %w", row, err)
	}
	return c.SplitRegion(ctx, regions[i], []byte(row))
}

// mergeLast merges the last two regions.
func mergeLast(ctx context.Context, c *Client, table string) error {
	regions, err := c.Regions(ctx, table)
	if err != nil {
		return err
	}
	return c.MergeRegions(ctx, regions[len(regions)-2:]...)
}

// On a real server, four writers write the versions 1 to n of every row, each row by one writer and in order, while two regions are split
// and two are merged. In the end, every row has all its versions, and scans in between see every row.
func TestSplitsAndMergesUnderLoadLoseNothing(t *testing.T) {
	c := open(t, Options{Connect: testenv.HBase(t)})
	table := testenv.Name(t)
	ctx := t.Context()
	family := Family{Name: "e", Values: map[string]string{"VERSIONS": "1000000"}}
	if err := c.CreateTable(ctx, Table{Name: table, Families: []Family{family}}, [][]byte{[]byte("1"), []byte("2"), []byte("3")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		bg := context.Background()
		if err := c.DisableTable(bg, table); err != nil {
			t.Error(err)
		} else if err := c.DeleteTable(bg, table); err != nil {
			t.Error(err)
		}
	})
	const writers, rowsEach = 4, 50
	stop := make(chan struct{})
	versions := make([]int64, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for v := int64(1); ; v++ {
				select {
				case <-stop:
					return
				default:
				}
				b := NewBatch(table)
				for _, i := range rand.Perm(rowsEach) {
					b.Mutate(fmt.Appendf(nil, "%d%02d", w, i))
					b.Put([]byte("e"), []byte("q"), v, fmt.Append(nil, v))
				}
				if failed, err := c.Submit(ctx, b).Wait(ctx); err != nil || failed != nil {
					t.Errorf("writer %d: %v %v", w, failed, err)
					return
				}
				versions[w] = v
			}
		})
	}
	for i, change := range []func() error{
		func() error { return splitAt(ctx, c, table, "025") },
		func() error { return mergeLast(ctx, c, table) },
		func() error { return splitAt(ctx, c, table, "125") },
	} {
		if err := change(); err != nil {
			t.Errorf("change %d: %v", i, err)
		}
		if n := count(t, c, table); n != writers*rowsEach {
			t.Errorf("%d rows after change %d", n, i)
		}
	}
	close(stop)
	wg.Wait()
	if t.Failed() {
		return
	}
	for r, err := range c.Scan(ctx, table, Scan{MaxVersions: 1000000}) {
		if err != nil {
			t.Fatal(err)
		}
		want := versions[r.Row[0]-'0']
		if int64(len(r.Cells)) != want || r.Cells[0].Timestamp != want {
			t.Fatalf("row %s has %d versions, the newest %d; want %d", r.Row, len(r.Cells), r.Cells[0].Timestamp, want)
		}
	}
	regions, err := c.Regions(ctx, table)
	if err != nil || len(regions) != 5 {
		t.Errorf("%d regions: %v", len(regions), err)
	}
	t.Logf("versions written: %v; regions at the end: %d", versions, len(regions))
}

func count(t *testing.T, c *Client, table string) (n int) {
	t.Helper()
	var last []byte
	for r, err := range c.Scan(t.Context(), table, Scan{Caching: 7}) {
		if err != nil {
			t.Fatal(err)
		}
		if slices.Compare(r.Row, last) <= 0 {
			t.Fatalf("row %s after %s", r.Row, last)
		}
		last = r.Row
		n++
	}
	return n
}

// The real server's release is one that the client considers tested, and the one that should have been started, according to
// BRINE_REAL_HBASE_VERSION.
func TestRealRelease(t *testing.T) {
	var untested []string
	c := open(t, Options{Connect: testenv.HBase(t), Hooks: Hooks{Untested: func(i UntestedInfo) { untested = append(untested, i.Version) }}})
	version, tested, err := c.ServerVersion(t.Context())
	if err != nil || !tested || len(untested) > 0 {
		t.Errorf("HBase %s: tested %v, reported %v; %v", version, tested, untested, err)
	}
	if want := os.Getenv("BRINE_REAL_HBASE_VERSION"); want != "" && version != want {
		t.Errorf("HBase %s runs, want %s", version, want)
	}
	t.Logf("HBase %s", version)
}

// Measures how fast one client writes to and reads from the real server; the results are logged.
func TestRealThroughput(t *testing.T) {
	c := open(t, Options{Connect: testenv.HBase(t)})
	table := testenv.Name(t)
	ctx := t.Context()
	var splits [][]byte
	for i := 1; i < 16; i++ {
		splits = append(splits, fmt.Appendf(nil, "%02x", i*16))
	}
	if err := c.CreateTable(ctx, Table{Name: table, Families: []Family{{Name: "e"}}}, splits); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.DisableTable(context.Background(), table); err != nil {
			t.Error(err)
		} else if err := c.DeleteTable(context.Background(), table); err != nil {
			t.Error(err)
		}
	})
	const n, size = 40000, 500
	start := time.Now()
	var flights []*Flight
	for from := 0; from < n; from += size {
		b := NewBatch(table)
		scanEvents(b, size, from)
		flights = append(flights, c.Submit(ctx, b))
	}
	for _, f := range flights {
		if failed, err := f.Wait(ctx); err != nil || failed != nil {
			t.Fatal(failed, err)
		}
	}
	wrote := time.Since(start)
	start = time.Now()
	rows := 0
	for _, err := range c.Scan(ctx, table, Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if rows != n {
		t.Errorf("%d rows, want %d", rows, n)
	}
	t.Logf("wrote %.0f rows/s, scanned %.0f rows/s", n/wrote.Seconds(), n/time.Since(start).Seconds())
}
