package deadletter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
)

// log opens the test's topic of dead letters.
func (b *fakeKafka) log(t *testing.T) *Log {
	t.Helper()
	l, err := Open(t.Context(), Options{Kafka: b.kafka(), RequestTimeout: time.Minute, Source: topic, Topic: topic + ".dead"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// kept returns all dead letters of the test's topic.
func (b *fakeKafka) kept(t *testing.T) []Kept {
	t.Helper()
	var out []Kept
	for letter, err := range b.log(t).Letters(t.Context(), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, letter.Clone())
	}
	return out
}

// words returns the dead letters in short form: place, reason, and whether they are closed.
func words(letters []Kept) string {
	var s []string
	for _, l := range letters {
		word := fmt.Sprintf("%d:%d %s", l.Record.Partition, l.Record.Offset, l.Reason)
		if !l.Replayed.IsZero() {
			word += " replayed"
		}
		s = append(s, word)
	}
	return strings.Join(s, ", ")
}

func bad(partition int, offset int64, value string) Letter {
	return Letter{Record: &event.Record{Topic: topic, Partition: partition, Offset: offset, Timestamp: 7, Value: []byte(value)},
		Reason: event.Undecodable, Group: group, Time: time.UnixMilli(1_800_000_000_000 + offset)}
}

func TestRepeatedDeadLettersAreReadOnce(t *testing.T) {
	b := newBroker(t, 2)
	d := openDead(t, b)
	other := bad(0, 5, "x")
	other.Group = "brine.scans.documents"
	last := bad(0, 5, "x")
	last.Reason = event.WrongType
	for _, letters := range [][]Letter{{bad(0, 5, "x"), bad(1, 5, "x")}, {bad(0, 5, "x"), bad(0, 6, "x")}, {other, last}} {
		if err := d.Write(t.Context(), letters); err != nil {
			t.Fatal(err)
		}
	}
	b.send(&kgo.Record{Topic: topic + ".dead", Partition: 1, Value: []byte("someone else's")})
	if got, want := words(b.kept(t)), "0:6 undecodable, 0:5 undecodable, 0:5 wrong_type, 1:5 undecodable"; got != want {
		t.Errorf("letters %s, expected %s", got, want)
	}
	l := b.log(t)
	for range l.Letters(t.Context(), 0, 0) {
		continue
	}
	if got, want := l.Scanned, (Counts{Records: 6, Repeats: 2, Foreign: 1}); got != want {
		t.Errorf("scanned %+v, expected %+v", got, want)
	}
	if n := len(slices.Collect(seqOf(t, l.Letters(t.Context(), 1, 0)))); n != 1 {
		t.Errorf("%d letters from partition 1 on, expected 1", n)
	}
}

func seqOf(t *testing.T, in func(func(Kept, error) bool)) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for l, err := range in {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(l.Place.Offset) {
				return
			}
		}
	}
}

// TestReplayedDeadLettersAreMarked replays dead letters, some of which can be written now: those are written unchanged, and closed.
func TestReplayedDeadLettersAreMarked(t *testing.T) {
	b := newBroker(t, 2)
	d := openDead(t, b)
	if err := d.Write(t.Context(), []Letter{bad(0, 1, `{"n":1}`), bad(0, 2, `{"n":"x"}`), bad(0, 3, `no`), bad(1, 4, `{"n":4}`), bad(1, 5, `{"n":5}`)}); err != nil {
		t.Fatal(err)
	}
	s := newStore()
	s.decide = func(call int, batch []place) ([]event.Failure, error) {
		switch call {
		case 0: // the outcome of all is unknown
			return all(batch, event.Retry, event.Unavailable), nil
		case 1: // the store refuses one of them
			return []event.Failure{{Index: 2, Verdict: event.Reject, Reason: event.Refused, Err: errors.New("too hot")}}, nil
		}
		return nil, nil
	}
	l := b.log(t)
	got, err := l.Replay(t.Context(), target(s), b.kept(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Written != 2 || got.Rejected[event.WrongType] != 1 || got.Rejected[event.Undecodable] != 1 || got.Rejected[event.Refused] != 1 {
		t.Errorf("outcome %+v", got)
	}
	if !slices.Equal(s.offsets(0), []int64{1}) || !slices.Equal(s.offsets(1), []int64{4}) {
		t.Errorf("written: %v and %v", s.offsets(0), s.offsets(1))
	}
	want := "0:1 undecodable replayed, 0:3 undecodable, 0:2 wrong_type, 1:4 undecodable replayed, 1:5 refused"
	if now := words(b.kept(t)); now != want {
		t.Errorf("letters %s, expected %s", now, want)
	}
	if err := d.Write(t.Context(), []Letter{bad(0, 1, `{"n":1}`)}); err != nil { // rejected again after it was written
		t.Fatal(err)
	}
	if now := words(b.kept(t)); !strings.HasSuffix(now, "0:1 undecodable, 1:4 undecodable replayed, 1:5 refused") {
		t.Errorf("a letter behind its mark is open again; letters %s", now)
	}
}

// TestHaltWhileDeadLettersAreReplayedMarksOnlyWhatIsDurable checks that the rest stays open, for the next replay.
func TestHaltWhileDeadLettersAreReplayedMarksOnlyWhatIsDurable(t *testing.T) {
	b := newBroker(t, 2)
	if err := openDead(t, b).Write(t.Context(), []Letter{bad(0, 1, `{"n":1}`), bad(0, 2, `{"n":2}`), bad(0, 3, `{"n":3}`)}); err != nil {
		t.Fatal(err)
	}
	s := newStore()
	s.decide = func(int, []place) ([]event.Failure, error) {
		return []event.Failure{{Index: 0, Verdict: event.Retry, Reason: event.Unavailable}, {Index: 2, Verdict: event.Halt, Reason: event.NoTable, Err: errors.New("gone")}}, nil
	}
	if _, err := b.log(t).Replay(t.Context(), target(s), b.kept(t)); err == nil || !strings.Contains(err.Error(), "no_table: gone") {
		t.Errorf("error %v", err)
	}
	if got, want := words(b.kept(t)), "0:1 undecodable, 0:2 undecodable replayed, 0:3 undecodable"; got != want {
		t.Errorf("letters %s, expected %s", got, want)
	}
	stopped, cancel := context.WithCancel(t.Context())
	s.decide = func(_ int, batch []place) ([]event.Failure, error) {
		cancel()
		return all(batch, event.Retry, event.Unavailable), nil
	}
	if _, err := b.log(t).Replay(stopped, target(s), b.kept(t)[2:]); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a stop", err)
	}
	if got := words(b.kept(t)); strings.Count(got, "replayed") != 1 {
		t.Errorf("letters %s after a stop that came before anything was written", got)
	}
}
