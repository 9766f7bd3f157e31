package hbase_test

import (
	"bytes"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
)

// metaWithout makes reads of hbase:meta find no region of any table the given number of times. It returns how many have found none.
func metaWithout(s *embedded.Server, times int) (found func() int, remove func()) {
	var n atomic.Int32
	remove = s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		q := r.Param.(*hbasepb.ScanRequest)
		if int(n.Load()) == times || !bytes.HasPrefix(q.GetRegion().GetValue(), []byte("hbase:meta,")) && !bytes.Equal(q.GetRegion().GetValue(), []byte("1588230740")) {
			return nil
		}
		n.Add(1)
		r.Keep()
		more := false
		return &embedded.Outcome{Answer: &hbasepb.ScanResponse{MoreResults: &more, MoreResultsInRegion: &more}}
	})
	return func() int { return int(n.Load()) }, remove
}

// While the master restores a snapshot, hbase:meta has the table but none of its regions, or not the first one, which is all that a look-up of
// the first row reads. The table exists all the same: whatever is asked of it waits until the regions are back. A table that does not exist is
// not waited for.
func TestTableWithoutRegionsIsWaitedFor(t *testing.T) {
	const times = 3
	s, filler := start(t, embedded.Options{})
	table(t, filler, "t")
	want := rows(0, 100)
	for name, ask := range map[string]func(*testing.T, *hbase.Client) error{
		"get": func(t *testing.T, c *hbase.Client) error {
			r, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r00")})
			if err == nil && len(r.Cells) == 0 {
				t.Error("the row is not there")
			}
			return err
		},
		"batch": func(t *testing.T, c *hbase.Client) error {
			b := hbase.NewBatch("t")
			for _, row := range []string{"r00", "r30", "r99"} {
				b.Mutate([]byte(row))
				b.Put([]byte("e"), []byte("a"), 2, []byte("x"))
			}
			failed, err := c.Submit(t.Context(), b).Wait(t.Context())
			for _, f := range failed {
				err = errors.Join(err, f.Err)
			}
			return err
		},
		"scan": func(t *testing.T, c *hbase.Client) error {
			if got := scan(t, c, "t", hbase.Scan{}); !slices.Equal(got, want) {
				t.Error(got)
			}
			return nil
		},
		"reverse scan": func(t *testing.T, c *hbase.Client) error {
			got := scan(t, c, "t", hbase.Scan{Reverse: true})
			if slices.Reverse(got); !slices.Equal(got, want) {
				t.Error(got)
			}
			return nil
		},
		"regions": func(t *testing.T, c *hbase.Client) error {
			regions, err := c.Regions(t.Context(), "t")
			if err == nil && len(regions) != 4 {
				t.Error(regions)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, "rpc://"+s.Addr())
			found, remove := metaWithout(s, times)
			defer remove()
			if err := ask(t, c); err != nil {
				t.Error(err)
			}
			if n := found(); n != times {
				t.Errorf("%d reads of hbase:meta found no region, want %d", n, times)
			}
		})
	}
	t.Run("no such table", func(t *testing.T) {
		var tried atomic.Int32
		defer s.Control("Get", func(*embedded.Request) *embedded.Outcome { tried.Add(1); return nil })()
		c := dial(t, "rpc://"+s.Addr())
		_, getErr := c.Get(t.Context(), "none", hbase.Get{Row: []byte("r00")})
		_, listErr := c.Regions(t.Context(), "none")
		if !errors.Is(getErr, hbase.ErrNoTable) || !errors.Is(listErr, hbase.ErrNoTable) || tried.Load() != 2 {
			t.Errorf("get: %v; list: %v; asked for the table's state %d times in all, want once for each", getErr, listErr, tried.Load())
		}
	})
}
