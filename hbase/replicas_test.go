package hbase_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/internal/testenv"
)

// replicated creates the table of function table with two replicas of each region.
func replicated(t *testing.T, c *hbase.Client, name string) {
	t.Helper()
	splits := [][]byte{[]byte("r25"), []byte("r50"), []byte("r75")}
	of := hbase.Table{Name: name, Families: []hbase.Family{{Name: "e"}}, Values: map[string]string{"REGION_REPLICATION": "3"}}
	if err := c.CreateTable(t.Context(), of, splits); err != nil {
		t.Fatal(err)
	}
	b := hbase.NewBatch(name)
	for _, r := range rows(0, 100) {
		b.Mutate([]byte(r))
		b.Put([]byte("e"), []byte("a"), 1, []byte("a"+r[1:]))
	}
	if failed, err := c.Submit(t.Context(), b).Wait(t.Context()); err != nil || failed != nil {
		t.Fatal(failed, err)
	}
}

// hedging returns a client that asks replicas after the given delay.
func hedging(t *testing.T, s *embedded.Server, delay time.Duration) *hbase.Client {
	t.Helper()
	c, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + s.Addr(), Pause: time.Millisecond, ReplicaDelayGet: delay, ReplicaDelayScan: delay})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ofReplica reports whether a call is to a replica, or continues any open scanner.
func ofReplica(r *embedded.Request) bool {
	if q, ok := r.Param.(*hbasepb.ScanRequest); ok && q.Scan == nil {
		return true
	}
	p, ok := r.Param.(interface {
		GetRegion() *hbasepb.RegionSpecifier
	})
	return ok && bytes.Contains(p.GetRegion().GetValue(), []byte("_000"))
}

// asked counts the calls of a method to regions and to replicas until the test ends.
type asked struct {
	mu                sync.Mutex
	regions, replicas int
}

func (a *asked) count(s *embedded.Server, method string) {
	s.Control(method, func(r *embedded.Request) *embedded.Outcome {
		if q, ok := r.Param.(*hbasepb.ScanRequest); (!ok || q.Scan != nil) && slices.Contains(r.Tables(), "t") {
			a.mu.Lock()
			defer a.mu.Unlock()
			if ofReplica(r) {
				a.replicas++
			} else {
				a.regions++
			}
		}
		return nil
	})
}

func (a *asked) seen() (regions, replicas int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.regions, a.replicas
}

// silent keeps the regions of t themselves from answering a method until fix is called.
func silent(s *embedded.Server, method string) (fix func()) {
	return s.Control(method, func(r *embedded.Request) *embedded.Outcome {
		if ofReplica(r) || !slices.Contains(r.Tables(), "t") {
			return nil
		}
		r.Keep()
		return &embedded.Outcome{Silent: true}
	})
}

func timeline(row string) hbase.Get { return hbase.Get{Row: []byte(row), Consistency: hbase.Timeline} }

// A strong read never goes to a replica, however long the region takes.
func TestAStrongReadNeverGoesToAReplica(t *testing.T) {
	s, c := start(t, embedded.Options{Servers: 3})
	replicated(t, c, "t")
	c = hedging(t, s, time.Nanosecond)
	var gets, scans asked
	gets.count(s, "Get")
	scans.count(s, "Scan")
	for range 20 {
		row, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r30")})
		if err != nil || row.Stale {
			t.Fatal(row, err)
		}
	}
	if got := scan(t, c, "t", hbase.Scan{}); !slices.Equal(got, rows(0, 100)) {
		t.Error(got)
	}
	fix := silent(s, "Get")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Get(ctx, "t", hbase.Get{Row: []byte("r30")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the region is silent: %v", err)
	}
	fix()
	if _, replicas := gets.seen(); replicas > 0 {
		t.Errorf("%d gets of replicas", replicas)
	}
	if _, replicas := scans.seen(); replicas > 0 {
		t.Errorf("%d scans of replicas", replicas)
	}
}

// If a region answers in time, nothing else is asked.
func TestATimelineReadAsksTheRegionFirst(t *testing.T) {
	s, c := start(t, embedded.Options{Servers: 3})
	replicated(t, c, "t")
	c = hedging(t, s, time.Hour)
	var gets asked
	gets.count(s, "Get")
	for _, r := range rows(0, 100) {
		row, err := c.Get(t.Context(), "t", timeline(r))
		if err != nil || row.Stale || len(row.Cells) != 1 {
			t.Fatal(row, err)
		}
	}
	for row, err := range c.Scan(t.Context(), "t", hbase.Scan{Consistency: hbase.Timeline}) {
		if err != nil || row.Stale {
			t.Fatal(row, err)
		}
	}
	if regions, replicas := gets.seen(); regions != 100 || replicas != 0 {
		t.Errorf("%d calls to regions and %d to replicas, want 100 and none", regions, replicas)
	}
}

// If a region does not answer, or is on no server, a replica answers, and the answer says so.
func TestATimelineReadIsAnsweredByAReplica(t *testing.T) {
	s, c := start(t, embedded.Options{Servers: 3})
	replicated(t, c, "t")
	c = hedging(t, s, time.Millisecond)
	check := func(t *testing.T) {
		t.Helper()
		row, err := c.Get(t.Context(), "t", timeline("r30"))
		if err != nil || !row.Stale || len(row.Cells) != 1 || string(row.Cells[0].Value) != "a30" {
			t.Error(row, err)
		}
		for _, s := range []hbase.Scan{{}, {Caching: 3}, {Reverse: true}, {Limit: 60}} {
			s.Consistency = hbase.Timeline
			want := rows(0, 100)
			if s.Reverse {
				want = backwards(want)
			}
			if s.Limit > 0 {
				want = want[:s.Limit]
			}
			var got []string
			for row, err := range c.Scan(t.Context(), "t", s) {
				if err != nil || !row.Stale {
					t.Fatal(row, err)
				}
				got = append(got, string(row.Row))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %v", s, got)
			}
		}
	}
	t.Run("silent", func(t *testing.T) {
		defer silent(s, "Get")()
		defer silent(s, "Scan")()
		check(t)
	})
	t.Run("refuses", func(t *testing.T) {
		for _, method := range []string{"Get", "Scan"} {
			defer s.Control(method, func(r *embedded.Request) *embedded.Outcome {
				if ofReplica(r) || !slices.Contains(r.Tables(), "t") {
					return nil
				}
				r.Keep()
				return &embedded.Outcome{Exception: &embedded.Exception{Class: "org.apache.hadoop.hbase.NotServingRegionException", Message: "away"}}
			})()
		}
		check(t)
	})
}

// If replicas are asked almost at once, sometimes a region answers first and sometimes its replica, which says so, on the embedded server
// and on a real HBase. There, a replica sees what was flushed before it was opened.
func TestReplicasAnswerTimelineReads(t *testing.T) {
	for name, connect := range map[string]func(*testing.T) string{
		"embedded": func(t *testing.T) string { s, _ := start(t, embedded.Options{Servers: 2}); return "rpc://" + s.Addr() },
		"real":     func(t *testing.T) string { return testenv.HBase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connect, ctx, table := connect(t), t.Context(), testenv.Name(t)
			c := dial(t, connect)
			t.Cleanup(func() { drop(t, c, table) })
			replicated(t, c, table)
			if err := errors.Join(c.FlushTable(ctx, table), c.DisableTable(ctx, table), c.EnableTable(ctx, table)); err != nil {
				t.Fatal(err)
			}
			hedged, err := hbase.Open(ctx, hbase.Options{Connect: connect, ReplicaDelayGet: time.Nanosecond, ReplicaDelayScan: time.Nanosecond})
			if err != nil {
				t.Fatal(err)
			}
			defer hedged.Close()
			stale := map[string]int{}
			for stale["get"] == 0 { // until a replica is quicker
				row, err := hedged.Get(ctx, table, timeline("r30"))
				if err != nil || len(row.Cells) != 1 || string(row.Cells[0].Value) != "a30" {
					t.Fatal(row, err)
				}
				if row.Stale {
					stale["get"]++
				}
			}
			for stale["scan"] == 0 {
				var got []string
				for row, err := range hedged.Scan(ctx, table, hbase.Scan{Consistency: hbase.Timeline, Caching: 10}) {
					if err != nil {
						t.Fatal(err)
					}
					if got = append(got, string(row.Row)); row.Stale {
						stale["scan"]++
					}
				}
				if !slices.Equal(got, rows(0, 100)) {
					t.Fatalf("%d rows: %v", len(got), got)
				}
			}
			row, err := c.Get(ctx, table, hbase.Get{Row: []byte("r30")})
			if err != nil || row.Stale || len(row.Cells) != 1 {
				t.Error("a strong read:", row, err)
			}
		})
	}
}

// What a region refuses for good, its replicas would refuse too: they are not asked.
func TestATimelineReadEndsWithARefusal(t *testing.T) {
	s, c := start(t, embedded.Options{Servers: 3})
	replicated(t, c, "t")
	c = hedging(t, s, time.Hour)
	var gets asked
	gets.count(s, "Get")
	g := timeline("r30")
	g.Columns = []hbase.Column{{Family: []byte("nofamily")}}
	if _, err := c.Get(t.Context(), "t", g); !errors.Is(err, hbase.ErrNoFamily) {
		t.Error(err)
	}
	if regions, replicas := gets.seen(); regions != 1 || replicas != 0 {
		t.Errorf("%d calls to regions and %d to replicas", regions, replicas)
	}
}

// While neither the region nor its replicas answer, a read keeps trying, and ends with its caller or with the client.
func TestATimelineReadEndsWithItsCaller(t *testing.T) {
	s, c := start(t, embedded.Options{Servers: 3})
	replicated(t, c, "t")
	c = hedging(t, s, time.Millisecond)
	for _, method := range []string{"Get", "Scan"} {
		defer s.Control(method, func(r *embedded.Request) *embedded.Outcome {
			if !slices.Contains(r.Tables(), "t") {
				return nil
			}
			r.Keep()
			return &embedded.Outcome{Silent: true}
		})()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.Get(ctx, "t", timeline("r30")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for _, err := range c.Scan(ctx, "t", hbase.Scan{Consistency: hbase.Timeline}) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Get(context.Background(), "t", timeline("r30"))
		done <- err
	}()
	c.Close()
	if err := <-done; !errors.Is(err, hbase.ErrClosed) {
		t.Error(err)
	}
}

// A scanner that opens too late is closed; it is not left to its lease.
func TestALateScannerIsClosed(t *testing.T) {
	s, c := start(t, embedded.Options{Servers: 3})
	replicated(t, c, "t")
	c = hedging(t, s, time.Millisecond)
	goOn, closed := make(chan struct{}), make(chan struct{}, 100)
	s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		if ofReplica(r) || !slices.Contains(r.Tables(), "t") {
			return nil
		}
		return &embedded.Outcome{Until: goOn}
	})
	s.Control("Scan", func(r *embedded.Request) *embedded.Outcome {
		if r.Param.(*hbasepb.ScanRequest).GetCloseScanner() && slices.Contains(r.Tables(), "t") {
			closed <- struct{}{}
		}
		return nil
	})
	for row, err := range c.Scan(t.Context(), "t", hbase.Scan{Stop: []byte("r02"), Caching: 1, Consistency: hbase.Timeline}) {
		if err != nil || !row.Stale {
			t.Fatal(row, err)
		}
		break
	}
	<-closed // the one in use
	close(goOn)
	<-closed
}

// A replica that has gone is looked up again.
func TestAReplicaThatMovedIsFound(t *testing.T) {
	s, c := start(t, embedded.Options{Servers: 4})
	replicated(t, c, "t")
	c = hedging(t, s, time.Millisecond)
	defer silent(s, "Get")()
	if row, err := c.Get(t.Context(), "t", timeline("r30")); err != nil || !row.Stale {
		t.Fatal(row, err)
	}
	for _, p := range s.Regions("t")[1].Replicas {
		if s.Master().Index() != p.Node {
			s.Nodes()[p.Node].Stop()
			break
		}
	}
	for range 5 {
		if row, err := c.Get(t.Context(), "t", timeline("r30")); err != nil || !row.Stale {
			t.Fatal(row, err)
		}
	}
}
