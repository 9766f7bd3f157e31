package ingest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/event"
)

// restStore is a Writer of events that make several writes each. An event fails with each Rest of fails in turn, and then is written.
type restStore struct {
	mu    sync.Mutex
	fails map[int64][]event.Rest // by the event's id
	asked map[int64][]event.Rest // with which each event was submitted
}

func (*restStore) Release() {}
func (*restStore) Hurry()   {}

func (s *restStore) Submit(_ context.Context, b *event.Batch) event.Flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures event.Done
	for i := range b.Events {
		id, rest := b.Events[i].Values[0].Int(), b.Events[i].Rest
		s.asked[id] = append(s.asked[id], rest)
		if fails := s.fails[id]; len(fails) > 0 {
			s.fails[id] = fails[1:]
			failures = append(failures, event.Failure{Index: i, Verdict: event.Retry, Reason: event.Unavailable, Rest: fails[0],
				Err: errors.New("as the test wants it")})
		}
	}
	return failures
}

// TestOnlyWhatFailedOfAnEventIsSubmittedAgain checks that an event is submitted again with the Rest of its own last failure, and with the
// one before if the failure has none, whichever events of its flight fail at the same time.
func TestOnlyWhatFailedOfAnEventIsSubmittedAgain(t *testing.T) {
	for _, rows := range []int{1, 3} { // events of a record
		inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
			for i := range 12 {
				b.sendRows(rows*i, rows)
			}
			s := &restStore{fails: map[int64][]event.Rest{2: {6}, 4: {6, 0, 2}, 5: {0, 8}, 7: {12, 4, 4}, 8: {0}}, asked: map[int64][]event.Rest{}}
			o := b.defaults(s)
			o.Schema, o.DeadLetters = several, &letters{}
			l := start(t, o)
			time.Sleep(5 * time.Minute)
			l.stop()
			b.wantCommitted(b.sent)
			want := map[int64][]event.Rest{}
			for id := range int64(12 * rows) {
				want[id] = []event.Rest{0}
			}
			want[2], want[4], want[5], want[7], want[8] = []event.Rest{0, 6}, []event.Rest{0, 6, 6, 2}, []event.Rest{0, 0, 8},
				[]event.Rest{0, 12, 4, 4}, []event.Rest{0, 0}
			if diff := cmp.Diff(want, s.asked); diff != "" {
				t.Errorf("%d events of a record: what was submitted of each (- wanted, + got)\n%s", rows, diff)
			}
		})
	}
}
