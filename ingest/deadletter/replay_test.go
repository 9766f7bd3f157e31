package deadletter

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"brine/event"
)

// TestReplayEndsWhenNothingIsSettledForLong checks that the error has the cause of the last attempt, that every attempt is reported, and
// that what was written before is marked.
func TestReplayEndsWhenNothingIsSettledForLong(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		if err := openDead(t, b).Write(t.Context(), []Letter{bad(0, 1, `{"n":1}`), bad(0, 2, `{"n":2}`)}); err != nil {
			t.Fatal(err)
		}
		s := newStore()
		s.decide = func(call int, batch []place) ([]event.Failure, error) {
			return all(batch[:1], event.Retry, event.Unavailable), nil // the first of them always fails
		}
		to, tries := target(s), 0
		to.Patience = 200 * time.Millisecond
		to.Retried = func(n int, f event.Failure) {
			if tries++; f.Reason != event.Unavailable || n > tries {
				t.Errorf("try %d is reported as %d: %s", tries, n, f.Reason)
			}
		}
		got, err := b.log(t).Replay(t.Context(), to, b.kept(t))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 records are waiting, last because of unavailable: as the test wants it") {
			t.Errorf("error %v", err)
		}
		if got.Written != 1 || tries < 3 {
			t.Errorf("%d written, %d tries", got.Written, tries)
		}
		if got, want := words(b.kept(t)), "0:1 undecodable, 0:2 undecodable replayed"; got != want {
			t.Errorf("letters %s, expected %s", got, want)
		}
	})
}

// TestReplayEndsThoughTheStoreHangs: the store never answers, but is known to fail.
func TestReplayEndsThoughTheStoreHangs(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		if err := openDead(t, b).Write(t.Context(), []Letter{bad(0, 1, `{"n":1}`)}); err != nil {
			t.Fatal(err)
		}
		to := target(newStore())
		to.Writer, to.Patience, to.Cause = hungStore{}, 50*time.Millisecond, func() string { return "10.0.0.1:16020: connection refused" }
		_, err := b.log(t).Replay(t.Context(), to, b.kept(t))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "10.0.0.1:16020: connection refused") {
			t.Errorf("error %v", err)
		}
	})
}

type hungStore struct{}

func (hungStore) Submit(context.Context, *event.Batch) event.Flight { return hungFlight{} }
func (hungStore) Release()                                          {}
func (hungStore) Hurry()                                            {}

type hungFlight struct{}

func (hungFlight) Wait(ctx context.Context, _ event.Until) (event.Outcome, error) {
	<-ctx.Done()
	return event.Outcome{}, ctx.Err()
}
