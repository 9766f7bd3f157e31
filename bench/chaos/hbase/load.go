package hbase

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"brine/hbase"
)

const (
	tick = 40 * time.Millisecond // between two batches to a slot
	hot  = 20                    // number of rows of a slot that are written at a time; the window advances by a row per second
)

// load writes to every slot at a constant rate, each batch as a flight, however many are pending. While the client has no room it waits,
// and does not catch up afterwards. At the same time it reads what it writes.
type load struct {
	client *hbase.Client
	model  *model
	stalls *stalls
	reads  *reads
	rate   int
	seed   uint64

	highest atomic.Int64 // most bytes in the client's memory
	retried sync.Map     // reason → *atomic.Int64, mutations sent again
}

// hooks returns the client's hooks that the load uses.
func (l *load) hooks() hbase.Hooks {
	return hbase.Hooks{
		Buffered: func(i hbase.BufferedInfo) {
			now := int64(i.Bytes)
			for old := l.highest.Load(); now > old && !l.highest.CompareAndSwap(old, now); old = l.highest.Load() {
			}
		},
		Retry: func(r hbase.RetryInfo) {
			n, _ := l.retried.LoadOrStore(r.Reason(), new(atomic.Int64))
			n.(*atomic.Int64).Add(int64(r.Mutations))
		},
	}
}

// run writes until ctx is done, and then waits for everything that it has submitted until patience is done.
func (l *load) run(ctx, patience context.Context) {
	var all sync.WaitGroup
	for slot := range slots {
		all.Go(func() { l.write(ctx, patience, slot, &all) })
		all.Go(func() { l.read(ctx, slot) })
	}
	all.Wait()
}

func (l *load) write(ctx, patience context.Context, slot int, all *sync.WaitGroup) {
	random := rand.New(rand.NewPCG(l.seed, uint64(slot)))
	pairs := max(1, l.rate*int(tick/time.Millisecond)/1000/slots/2)
	clock := time.NewTicker(tick)
	defer clock.Stop()
	for ticks := 0; ; ticks++ {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		}
		b := hbase.NewBatch(table)
		marks := make([]mark, 0, 2*pairs)
		for range pairs { // two consecutive mutations of a row, with more probably pending
			row := hotRow(ticks, random)
			marks = append(marks, l.model.give(b, slot, row), l.model.give(b, slot, row))
		}
		f := l.client.Submit(patience, b)
		all.Go(func() { l.land(patience, slot, f, marks) })
	}
}

// hotRow returns a row that is written at the given tick.
func hotRow(ticks int, random *rand.Rand) int {
	return (ticks*int(tick/time.Millisecond)/1000 + random.IntN(hot)) % rowsPerSlot
}

// land waits for a flight. Only acknowledgements count for the slot.
func (l *load) land(ctx context.Context, slot int, f *hbase.Flight, marks []mark) {
	failed, err := f.Wait(ctx)
	if err != nil {
		return // the fate of all mutations stays given
	}
	l.model.settle(marks, failed)
	if len(failed) < len(marks) {
		l.stalls.acknowledged(slot, time.Now())
	}
}

// retries returns the number of mutations sent again so far, by reason.
func (l *load) retries() map[string]int64 {
	out := make(map[string]int64)
	l.retried.Range(func(reason, n any) bool {
		out[reason.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	return out
}
