package hbase

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// However much is queued, no call exceeds its bounds on rows, bytes and lanes, and no more calls than permitted are unanswered. A mutation
// larger than a call's bound is sent alone.
func TestCallsKeepTheirBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		rows, bytes int // per call
		large       bool
	}{
		"rows":             {7, 1 << 20, false},
		"bytes":            {1000, 1 << 10, false},
		"larger mutations": {7, 1 << 10, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := slowPeer(t, func(int, time.Duration) time.Duration { return 10 * ms })
				opts := p.options()
				opts.MaxRequestRows, opts.MaxRequestBytes, opts.MaxServerCalls = tt.rows, tt.bytes, 2
				var mu sync.Mutex
				var calls []SendInfo
				opts.Hooks.Send = func(i SendInfo) {
					mu.Lock()
					defer mu.Unlock()
					calls = append(calls, i)
				}
				c := p.open(opts)
				want := writeMuch(t, c, tt.large)
				got := p.appliedRows()
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("%d rows applied, want %d, each once", len(got), len(want))
				}
				mu.Lock()
				defer mu.Unlock()
				for _, i := range calls {
					if i.Rows > opts.MaxRequestRows || i.Bytes > opts.MaxRequestBytes && i.Rows > 1 || i.Regions > 4 || i.Out > opts.MaxServerCalls {
						t.Errorf("a call of %+v, the bounds are %d rows, %d bytes, 4 of 16 regions, %d calls", i, opts.MaxRequestRows, opts.MaxRequestBytes, opts.MaxServerCalls)
					}
				}
				c.Close()
				p.stop()
			})
		})
	}
}

// writeMuch writes to each of sixteen regions in one batch and returns the rows in order.
func writeMuch(t *testing.T, c *Client, large bool) (rows []string) {
	rows = strings.Split("0123456789abcdef", "")
	if failed := land(t, c, puts(rows...)); failed != nil { // now all regions are known
		t.Fatal(failed)
	}
	b := NewBatch("t")
	for i := range 1600 {
		row, size := fmt.Sprintf("%x%04d", i%16, i), 10
		if large && i%100 == 0 {
			size = 3 << 10
		}
		rows = append(rows, row)
		b.Mutate([]byte(row))
		b.Put([]byte("e"), []byte("q"), 1, []byte(strings.Repeat("v", size)))
	}
	if failed := land(t, c, b); failed != nil {
		t.Error(failed)
	}
	slices.Sort(rows)
	return rows
}
