package fault

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"brine/hbase"
)

// Poll is how often is asked whether something is so.
const Poll = 100 * time.Millisecond

const answer = 500 * time.Millisecond

// Slot is a part of a table: its rows from a key up to another, an empty one being the table's end.
type Slot struct {
	Table    string
	From, To []byte
}

// Watch asks hbase:meta, again and again, where the slots' regions are, with a client that is not the load's. So it shows how long
// the cluster itself takes to recover. Each question, one a table, may take half a second and is then asked again: no back-off of a
// client's is in it.
type Watch struct {
	admin  *hbase.Client
	slots  []Slot
	tables []string
	Stop   func() // ends the questions, and waits

	mu       sync.Mutex
	dead     map[instance]bool // what was killed, or hangs
	since    []time.Time       // when the slot's regions came to be open on living servers; zero: they are not
	regions  []hbase.Region    // of all tables, at the last question
	asked    time.Time         // when that was sent
	silences int               // questions without an answer, one after another
}

// instance is one life of a region server.
type instance struct {
	addr      string
	startCode int64
}

// StartWatch begins to ask. Slots of one table stand side by side.
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

// open reports whether all regions of a slot are open on servers that live. w.mu is held.
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

// Died notes that all regions which are on these servers now have to go elsewhere, or to their next lives.
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

// Recovered returns when each slot was open again, once all are, by a question sent after a moment.
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

// Regions returns those of all tables as they were at the last answer, each table's in the order of their keys.
func (w *Watch) Regions() []hbase.Region {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.regions
}
