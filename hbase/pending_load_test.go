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

// stalling is during with flights that may stall: as soon as one has stalled, its batch is overwritten. It returns the number of stalled
// flights.
func (l *load) stalling(faults func()) (stalled int64) {
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

// land waits for a flight to end, and reports whether it stalled.
func (l *load) land(b *Batch, f *Flight) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	left, indexes, err := f.WaitPending(ctx)
	if err != nil {
		l.t.Error(err)
		return false
	}
	for i, at := range indexes {
		if string(left.Row(i)) != l.rows[at] {
			l.t.Errorf("row %s is left at index %d, where %s was submitted", left.Row(i), at, l.rows[at])
		}
	}
	for i := range b.Len() {
		for c := range b.Cells(i) {
			clear(c.Row)
			clear(c.Value)
		}
	}
	b.Reset("garbage")
	if failed, err := f.Wait(ctx); err != nil || failed != nil {
		l.t.Errorf("flight: %v, %v", failed, err)
	}
	return left != nil
}

// Flights stall while regions split, merge and move, and rows and regions are refused at random: everything is applied once and in order,
// although the batches are overwritten, and nothing remains in the client.
func TestRandomFaultsOverStalledFlights(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 0))
			l := newLoad(t, 3, nil)
			remove := l.refuse(rand.New(rand.NewPCG(seed, 1)), odds{calls: 1, of: 8, region: 4, row: 2})
			stalled := l.stalling(func() {
				defer remove()
				for range 12 {
					l.someFault(rnd)
					l.pause()
				}
			})
			l.check(true)
			t.Logf("%d of %d flights stalled", stalled, l.submitted)
			if stalled == 0 {
				t.Error("no flight stalled")
			}
			if s := l.c.Stats(); s.Lanes != 0 || s.Fullest != 0 || s.Buffered != 0 {
				t.Errorf("something is counted that has left: %+v", s)
			}
		})
	}
}
