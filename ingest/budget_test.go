package ingest

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
)

func TestBudgetIsNeverExceeded(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
		b.produce(5000, 0, 1, 2, 3)
		s := newStore()
		stuck := make(chan struct{})
		s.gate = func(int) <-chan struct{} { return stuck }
		o := b.options(s)
		o.MaxFetchBytes, o.MaxBatchRecords = 64<<10, 20
		o.Window = 1000
		o.Budget = NewBudget(512 << 10)
		var mu sync.Mutex
		worst := int64(0)
		o.Hooks.Fetched = func(FetchedInfo) { // what was fetched has just been charged
			mu.Lock()
			defer mu.Unlock()
			worst = max(worst, o.Budget.InUse())
		}
		l := start(t, o)
		time.Sleep(10 * time.Second)
		if n := s.submits(); n <= 10 || n >= 1000 {
			t.Errorf("%d flights with the store at a standstill: expected as many as there is memory for", n)
		}
		close(stuck)
		eventually(t, "all written", func() bool { n, _ := s.count(); return n == 20000 })
		l.stop()
		if worst > o.Budget.Size() || worst < o.Budget.Size()/2 {
			t.Errorf("%d bytes in use of %d", worst, o.Budget.Size())
		}
		if left := o.Budget.InUse(); left != 0 {
			t.Errorf("%d bytes in use at the end", left)
		}
	})
}

// One event of each flight does not get through: the memory of the others is released, and so is the place in the window.
func TestRetriedFlightsKeepOnlyWhatIsLeftOfThem(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(5000, 0)
	s := newStore()
	var heal atomic.Bool
	s.decide = func(_ int, batch []place) ([]event.Failure, error) {
		var failures []event.Failure
		for i, p := range batch {
			if p.offset%100 == 7 && !heal.Load() {
				failures = append(failures, event.Failure{Index: i, Verdict: event.Retry, Reason: event.Unavailable})
			}
		}
		return failures, nil
	}
	o := b.options(s)
	o.MaxBatchRecords, o.Window, o.Budget = 100, 2, NewBudget(8<<20)
	l := start(t, o)
	eventually(t, "all others written", func() bool { n, _ := s.count(); return n == 4950 })
	eventually(t, "their memory is given back", func() bool { return o.Budget.holds.Usage().Used < 50*(300+parkedCost) })
	heal.Store(true)
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 5000 })
	l.stop()
	s.wantOnce(t, 5000)
	if left := o.Budget.InUse(); left != 0 {
		t.Errorf("%d bytes in use at the end", left)
	}
}

func TestBatchesKeepTheirBounds(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(100, 0)
	b.send(&kgo.Record{Topic: topic, Value: []byte(`{"n":100}`), Key: make([]byte, 3000)}) // alone larger than MaxBatchBytes
	b.produce(100, 0)
	s := newStore()
	largest := 0
	s.decide = func(_ int, batch []place) ([]event.Failure, error) {
		largest = max(largest, len(batch))
		return nil, nil
	}
	o := b.options(s)
	o.MaxBatchRecords, o.MaxBatchBytes = 7, 2000
	l := start(t, o)
	eventually(t, "all settled", func() bool { return b.committedOffset(0) == 201 })
	l.stop()
	if largest > 7 {
		t.Errorf("a batch of %d records, expected 7 at most", largest)
	}
}

// The decoded form of a record is many times its size, and no budget counts it: while the store is away, nothing keeps it.
func TestNothingDecodedIsKeptThroughAnOutage(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(1000, 0)
		s, down := newDownStore()
		w := &weakly{Writer: s}
		o := b.defaults(w)
		o.MaxBatchRecords = 100
		l := start(t, o)
		time.Sleep(time.Minute) // pauses last seconds by now
		runtime.GC()
		if again, kept := w.batches(); again < 50 || kept > 1 { // the stream reuses one for first attempts
			t.Errorf("of %d batches that were submitted %d are kept", again, kept)
		}
		down.Store(false)
		time.Sleep(time.Minute)
		b.wantCommitted(b.sent)
		l.stop()
		s.wantOnce(t, 1000)
	})
}

// weakly is a Writer that knows which of the batches that it received are still in memory.
type weakly struct {
	event.Writer
	mu    sync.Mutex
	given []weak.Pointer[event.Batch]
}

func (w *weakly) Submit(ctx context.Context, b *event.Batch) event.Flight {
	w.mu.Lock()
	w.given = append(w.given, weak.Make(b))
	w.mu.Unlock()
	return w.Writer.Submit(ctx, b)
}

func (w *weakly) batches() (given, kept int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	alive := map[*event.Batch]bool{}
	for _, b := range w.given {
		if b := b.Value(); b != nil {
			alive[b] = true
		}
	}
	return len(w.given), len(alive)
}
