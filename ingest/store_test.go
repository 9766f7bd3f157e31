package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"brine/event"
	"brine/ingest/deadletter"
)

// place is the position of a record in Kafka.
type place struct {
	partition int
	offset    int64
}

// store is a Writer in memory. decide, if set, decides the outcome of a batch; it is called before Wait returns.
type store struct {
	mu      sync.Mutex
	written map[place]int // how often
	calls   int
	out     int // flights not settled
	decide  func(call int, b []place) ([]event.Failure, error)
	gate    func(call int) <-chan struct{} // Wait returns when it is closed; nil: at once
}

func newStore() *store { return &store{written: map[place]int{}} }

func (s *store) Submit(ctx context.Context, b *event.Batch) event.Flight {
	f := &storeFlight{store: s}
	for _, e := range b.Events {
		if want := fmt.Sprintf(`{"n":%d}`, e.Values[0].Int()); want != string(e.Record.Value) {
			panic(fmt.Sprintf("the event at offset %d does not match its record: %s, %s", e.Record.Offset, want, e.Record.Value))
		}
		f.places = append(f.places, place{e.Record.Partition, e.Record.Offset})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.call = s.calls
	s.calls++
	s.out++
	if s.gate != nil {
		f.gate = s.gate(f.call)
	}
	return f
}

type storeFlight struct {
	store  *store
	call   int
	places []place
	gate   <-chan struct{}
}

// Release implements event.Writer: nothing is held back.
func (s *store) Release() {}

// Hurry implements event.Writer: nothing waits.
func (s *store) Hurry() {}

func (f *storeFlight) Wait(ctx context.Context, _ event.Until) (event.Outcome, error) {
	if f.gate != nil {
		select {
		case <-f.gate:
		case <-ctx.Done():
			return event.Outcome{}, ctx.Err()
		}
	}
	s := f.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out--
	var failures []event.Failure
	if s.decide != nil {
		var err error
		if failures, err = s.decide(f.call, f.places); err != nil {
			return event.Outcome{}, err
		}
	}
	failed := map[int]bool{}
	for _, x := range failures {
		failed[x.Index] = true
	}
	for i, p := range f.places {
		if !failed[i] {
			s.written[p]++
		}
	}
	return event.Outcome{Failures: failures}, nil
}

func (s *store) count() (places, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.written {
		times += n
	}
	return len(s.written), times
}

// submits returns the number of calls of Submit.
func (s *store) submits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// holds reports whether every record of partition below offset is written.
func (s *store) holds(partition int, below int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for o := range below {
		if s.written[place{partition, o}] == 0 {
			return false
		}
	}
	return true
}

// all makes every event of a batch fail the same way.
func all(b []place, v event.Verdict, reason event.Reason) []event.Failure {
	var failures []event.Failure
	for i := range b {
		failures = append(failures, event.Failure{Index: i, Verdict: v, Reason: reason, Err: errors.New("as the test wants it")})
	}
	return failures
}

// newDownStore returns a store that is down until down is cleared.
func newDownStore() (s *store, down *atomic.Bool) {
	s, down = newStore(), new(atomic.Bool)
	down.Store(true)
	s.decide = unavailableWhile(down)
	return s, down
}

// unavailableWhile makes every event be retried while the store is down.
func unavailableWhile(down *atomic.Bool) func(int, []place) ([]event.Failure, error) {
	return func(_ int, b []place) ([]event.Failure, error) {
		if down.Load() {
			return all(b, event.Retry, event.Unavailable), nil
		}
		return nil, nil
	}
}

// wantOnce checks that n records were written, each once.
func (s *store) wantOnce(t testing.TB, n int) {
	t.Helper()
	if places, times := s.count(); places != n || times != n {
		t.Errorf("%d records written %d times, expected %d once", places, times, n)
	}
}

// letters is DeadLetters in memory.
type letters struct {
	mu   sync.Mutex
	got  map[place]deadletter.Letter
	fail func(call int) error
	n    int
}

func (l *letters) Write(_ context.Context, batch []deadletter.Letter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	if l.fail != nil {
		if err := l.fail(l.n - 1); err != nil {
			return err
		}
	}
	if l.got == nil {
		l.got = map[place]deadletter.Letter{}
	}
	for _, x := range batch {
		rec := *x.Record
		rec.Value = []byte(strings.Clone(string(rec.Value)))
		x.Record = &rec
		l.got[place{rec.Partition, rec.Offset}] = x
	}
	return nil
}

func (l *letters) has(p place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.got[p]
	return ok
}
