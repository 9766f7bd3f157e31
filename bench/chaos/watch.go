package main

import (
	"bytes"
	"context"
	"sync"
	"time"

	"brine/hbase"
)

const (
	poll   = 100 * time.Millisecond
	answer = 500 * time.Millisecond
)

// watch asks hbase:meta, again and again, where the table's regions are, with a client that is not the load's. So it tells how long
// the cluster itself takes to recover. Each question may take half a second and is then asked anew: no back-off of a client's is in it.
type watch struct {
	admin *hbase.Client
	stop  func()

	mu       sync.Mutex
	dead     map[instance]bool // what was killed, or stands still
	since    [slots]time.Time  // when the slot's regions came to be open on living servers; zero: they are not
	regions  []hbase.Region    // at the last question
	asked    time.Time         // when that was sent
	silences int               // questions without an answer, one after another
}

// instance is one life of a region server.
type instance struct {
	addr      string
	startCode int64
}

// startWatch begins to ask; stop ends it and waits.
func startWatch(ctx context.Context, admin *hbase.Client) *watch {
	w := &watch{admin: admin, dead: make(map[instance]bool)}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for pause(ctx, poll) == nil {
			w.ask(ctx)
		}
	})
	w.stop = func() {
		cancel()
		done.Wait()
	}
	return w
}

func (w *watch) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	asked := time.Now()
	regions, err := w.admin.Regions(ctx, table)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.silences++
		w.since = [slots]time.Time{}
		return
	}
	w.regions, w.asked, w.silences = regions, asked, 0
	for slot := range w.since {
		switch open := w.open(slot); {
		case !open:
			w.since[slot] = time.Time{}
		case w.since[slot].IsZero():
			w.since[slot] = now
		}
	}
}

// open tells whether all regions of a slot are open on servers that live. w.mu is held.
func (w *watch) open(slot int) bool {
	from, to := []byte{byte('0' + slot)}, []byte{byte('0' + slot + 1)}
	some := false
	for _, r := range w.regions {
		if bytes.Compare(r.Start, to) >= 0 || len(r.End) > 0 && bytes.Compare(r.End, from) <= 0 {
			continue
		}
		if r.State != "OPEN" || r.Offline || w.dead[instance{r.Server, r.StartCode}] {
			return false
		}
		some = true
	}
	return some
}

// died notes that all regions which are on these servers now have to go elsewhere, or to their next lives.
func (w *watch) died(addrs ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, addr := range addrs {
		for _, r := range w.regions {
			if r.Server == addr {
				w.dead[instance{addr, r.StartCode}] = true
			}
		}
	}
	w.since = [slots]time.Time{}
}

// recovered gives when each slot was open again, once all are, by a question sent after a moment.
func (w *watch) recovered(after time.Time) (since [slots]time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked.Before(after) || w.silences > 0 {
		return since, false
	}
	for _, t := range w.since {
		if t.IsZero() {
			return since, false
		}
	}
	return w.since, true
}

// table gives the regions as they were at the last answer.
func (w *watch) table() []hbase.Region {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.regions
}
