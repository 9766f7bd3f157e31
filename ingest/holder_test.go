package ingest

import (
	"sync"
	"testing"

	"brine/event"
)

// holder is a store that holds everything back until it is released.
type holder struct {
	*store
	mu   sync.Mutex
	gate chan struct{}
}

func newHolder() *holder {
	h := &holder{store: newStore(), gate: make(chan struct{})}
	h.store.gate = func(int) <-chan struct{} {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.gate
	}
	return h
}

func (h *holder) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.gate)
	h.gate = make(chan struct{})
}

// A stop settles and commits what the writer holds back, without waiting until the writer sends it by itself.
func TestStopReleasesWhatIsHeldBack(t *testing.T) {
	h := newHolder()
	wantSettledByStop(t, h, h)
}

// wantSettledByStop checks that a stop writes and commits what w makes h hold back.
func wantSettledByStop(t *testing.T, h *holder, w event.Writer) {
	t.Helper()
	b := newBroker(t, 2)
	b.produce(50, 0, 1)
	o := b.options(w)
	o.MaxBatchRecords = 10
	l := start(t, o)
	eventually(t, "all submitted", func() bool { return h.submits() == 10 })
	if n, _ := h.count(); n != 0 {
		t.Fatalf("%d written before the stop", n)
	}
	l.stop()
	h.wantOnce(t, 100)
	b.wantCommitted(b.sent)
}

// What is resubmitted has waited long enough.
func TestRetriedFlightIsReleased(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(10, 0)
	h := newHolder()
	h.decide = func(call int, batch []place) ([]event.Failure, error) {
		if call == 0 {
			return all(batch, event.Retry, event.Unavailable), nil
		}
		return nil, nil
	}
	l := start(t, b.options(h))
	eventually(t, "submitted", func() bool { return h.submits() == 1 })
	h.Release()
	eventually(t, "committed", func() bool { return b.committedOffset(0) == 10 })
	l.stop()
	h.wantOnce(t, 10)
}
