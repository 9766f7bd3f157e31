package hbase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// easing is during with flights that are eased: as soon as one is, its batch is overwritten. It tells how many were.
func (l *load) easing(faults func()) (eased int64) {
	done := make(chan struct{})
	go func() { defer close(done); faults() }()
	var n atomic.Int64
	var wg sync.WaitGroup
	slots := make(chan struct{}, 64)
	for more := 8; more > 0; {
		slots <- struct{}{}
		b := l.batch()
		f := l.c.Submit(context.Background(), b)
		wg.Go(func() {
			defer func() { <-slots }()
			if l.land(b, f) {
				n.Add(1)
			}
		})
		select {
		case <-done:
			more--
		default:
		}
	}
	wg.Wait()
	return n.Load()
}

// land sees a flight to its end, and tells whether it was eased.
func (l *load) land(b *Batch, f *Flight) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	left, indexes, err := f.Ease(ctx)
	if err != nil {
		l.t.Error(err)
		return false
	}
	for i, at := range indexes {
		if string(left.Row(i)) != l.rows[at] {
			l.t.Errorf("row %s is left at index %d, where %s was submitted", left.Row(i), at, l.rows[at])
		}
	}
	clear(b.cells[:cap(b.cells)])
	b.Reset("garbage")
	if failed, err := f.Wait(ctx); err != nil || failed != nil {
		l.t.Errorf("flight: %v, %v", failed, err)
	}
	return left != nil
}

// Flights are eased while regions split, merge and move and rows and regions are refused at random: all is applied once and in order, though
// their batches are overwritten, and nothing stays behind in the client.
func TestRandomFaultsOverEasedFlights(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 0))
			l := newLoad(t, 3, nil)
			remove := l.refuse(rand.New(rand.NewPCG(seed, 1)), odds{calls: 1, of: 8, region: 4, row: 2})
			eased := l.easing(func() {
				defer remove()
				for range 12 {
					l.someFault(rnd)
					l.pause()
				}
			})
			l.check(true)
			t.Logf("%d of %d flights were eased", eased, l.submitted)
			if eased == 0 {
				t.Error("no flight was eased")
			}
			l.c.writer.mu.Lock()
			defer l.c.writer.mu.Unlock()
			for _, lane := range l.c.writer.tables["t"].all {
				if lane.queue.len() != 0 || lane.bytes != 0 {
					t.Errorf("the lane from %q keeps %d mutations and counts %d bytes", lane.start, lane.queue.len(), lane.bytes)
				}
			}
			if n := l.c.writer.buffered.Load(); n != 0 {
				t.Errorf("%d bytes are counted as buffered", n)
			}
		})
	}
}
