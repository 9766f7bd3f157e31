package fault

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"brine/hbase"
)

// Poll is the interval between two polls of a condition.
const Poll = 100 * time.Millisecond

const answer = 500 * time.Millisecond

// Slot is a part of a table: its rows from a key up to another. An empty end means the end of the table.
type Slot struct {
	Table    string
	From, To []byte
}

// Watch polls hbase:meta for the locations of the slots' regions, with a client other than the load's. So it shows how long the cluster
// itself takes to recover. Each request, one per table, may take half a second and is then repeated, so no client backoff is included.
type Watch struct {
	admin  *hbase.Client
	slots  []Slot
	tables []string
	Stop   func() // stops the polling, and waits

	mu       sync.Mutex
	dead     map[instance]bool // servers that were killed or hang
	since    []time.Time       // since when the slot's regions are open on live servers; zero: they are not
	regions  []hbase.Region    // of all tables, at the last request
	asked    time.Time         // time of that request
	silences int               // consecutive requests without an answer
}

// instance is one life of a region server.
type instance struct {
	addr      string
	startCode int64
}

// StartWatch starts polling. The slots of one table must be adjacent.
func StartWatch(ctx context.Context, admin *hbase.Client, slots []Slot) *Watch {
	w := &Watch{admin: admin, slots: slots, since: make([]time.Time, len(slots)), dead: make(map[instance]bool)}
	for i, s := range slots {
		if i == 0 || slots[i-1].Table != s.Table {
			w.tables = append(w.tables, s.Table)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for Pause(ctx, Poll) == nil {
			w.ask(ctx)
		}
	})
	w.Stop = func() {
		cancel()
		done.Wait()
	}
	return w
}

func (w *Watch) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(w.tables))*answer)
	defer cancel()
	asked := time.Now()
	var regions []hbase.Region
	var failed error
	for _, table := range w.tables {
		of, err := w.admin.Regions(ctx, table)
		regions, failed = append(regions, of...), errors.Join(failed, err)
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if failed != nil {
		w.silences++
		clear(w.since)
		return
	}
	w.regions, w.asked, w.silences = regions, asked, 0
	for i := range w.since {
		switch open := w.open(&w.slots[i]); {
		case !open:
			w.since[i] = time.Time{}
		case w.since[i].IsZero():
			w.since[i] = now
		}
	}
}

// open reports whether all regions of a slot are open on live servers. The caller holds w.mu.
func (w *Watch) open(s *Slot) bool {
	some := false
	for _, r := range w.regions {
		if r.Table != s.Table || len(s.To) > 0 && bytes.Compare(r.Start, s.To) >= 0 || len(r.End) > 0 && bytes.Compare(r.End, s.From) <= 0 {
			continue
		}
		if r.State != "OPEN" || r.Offline || w.dead[instance{r.Server, r.StartCode}] {
			return false
		}
		some = true
	}
	return some
}

// Died records that all regions that are now on these servers have to move elsewhere, or to the servers' next lives.
func (w *Watch) Died(addrs ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, addr := range addrs {
		for _, r := range w.regions {
			if r.Server == addr {
				w.dead[instance{addr, r.StartCode}] = true
			}
		}
	}
	clear(w.since)
}

// Recovered returns when each slot was open again, once all are, according to a request sent after a time.
func (w *Watch) Recovered(after time.Time) (since []time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked.Before(after) || w.silences > 0 {
		return nil, false
	}
	for _, t := range w.since {
		if t.IsZero() {
			return nil, false
		}
	}
	return append(since, w.since...), true
}

// Regions returns the regions of all tables as of the last answer, those of each table in key order.
func (w *Watch) Regions() []hbase.Region {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.regions
}
