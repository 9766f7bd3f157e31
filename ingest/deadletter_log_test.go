package ingest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
)

// log opens the test's topic of dead letters.
func (b *broker) log(t *testing.T) *DeadLetterLog {
	t.Helper()
	l, err := OpenDeadLetters(t.Context(), b.options(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// kept are all letters of the test's topic.
func (b *broker) kept(t *testing.T) []KeptLetter {
	t.Helper()
	var out []KeptLetter
	for letter, err := range b.log(t).Letters(t.Context(), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, letter.Clone())
	}
	return out
}

// words are the letters in short: place, reason, and whether they are closed.
func words(letters []KeptLetter) string {
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

func bad(partition int, offset int64, value string) DeadLetter {
	return DeadLetter{Record: &event.Record{Topic: topic, Partition: partition, Offset: offset, Timestamp: 7, Value: []byte(value)},
		Reason: event.Undecodable, Group: group, Time: time.UnixMilli(1_800_000_000_000 + offset)}
}

func TestRepeatedDeadLettersAreReadOnce(t *testing.T) {
	b := newBroker(t, 2)
	d := openDead(t, b)
	other := bad(0, 5, "x")
	other.Group = "brine.scans.documents"
	last := bad(0, 5, "x")
	last.Reason = event.WrongType
	for _, letters := range [][]DeadLetter{{bad(0, 5, "x"), bad(1, 5, "x")}, {bad(0, 5, "x"), bad(0, 6, "x")}, {other, last}} {
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
	if n, repeats, foreign := l.Scanned(); n != 6 || repeats != 2 || foreign != 1 {
		t.Errorf("%d letters scanned, %d repeats, %d foreign records", n, repeats, foreign)
	}
	if n := len(slices.Collect(seqOf(t, l.Letters(t.Context(), 1, 0)))); n != 1 {
		t.Errorf("%d letters from partition 1 on, expected 1", n)
	}
}

func seqOf(t *testing.T, in func(func(KeptLetter, error) bool)) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for l, err := range in {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(l.Offset) {
				return
			}
		}
	}
}

// TestReplayedDeadLettersAreMarked replays letters some of which can be written now: those are written as they were, and closed.
func TestReplayedDeadLettersAreMarked(t *testing.T) {
	b := newBroker(t, 2)
	d := openDead(t, b)
	if err := d.Write(t.Context(), []DeadLetter{bad(0, 1, `{"n":1}`), bad(0, 2, `{"n":"x"}`), bad(0, 3, `no`), bad(1, 4, `{"n":4}`), bad(1, 5, `{"n":5}`)}); err != nil {
		t.Fatal(err)
	}
	s := newStore()
	s.decide = func(call int, batch []place) ([]event.Failure, error) {
		switch call {
		case 0: // nothing is known of any
			return all(batch, event.Retry, event.Unavailable), nil
		case 1: // the store refuses one of them
			return []event.Failure{{Index: 2, Verdict: event.Reject, Reason: event.Refused, Err: errors.New("too hot")}}, nil
		}
		return nil, nil
	}
	l := b.log(t)
	got, err := l.Replay(t.Context(), b.options(s), b.kept(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Written != 2 || got.Rejected[event.WrongType] != 1 || got.Rejected[event.Undecodable] != 1 || got.Rejected[event.Refused] != 1 {
		t.Errorf("outcome %+v", got)
	}
	if !s.holds(0, 0) || s.offsets(0)[0] != 1 || s.offsets(1)[0] != 4 {
		t.Errorf("written: %v and %v", s.offsets(0), s.offsets(1))
	}
	want := "0:1 undecodable replayed, 0:3 undecodable, 0:2 wrong_type, 1:4 undecodable replayed, 1:5 refused"
	if now := words(b.kept(t)); now != want {
		t.Errorf("letters %s, expected %s", now, want)
	}
	if err := d.Write(t.Context(), []DeadLetter{bad(0, 1, `{"n":1}`)}); err != nil { // rejected once more, after it was written
		t.Fatal(err)
	}
	if now := words(b.kept(t)); !strings.HasSuffix(now, "0:1 undecodable, 1:4 undecodable replayed, 1:5 refused") {
		t.Errorf("a letter behind its mark is open again; letters %s", now)
	}
}

// TestHaltWhileDeadLettersAreReplayedMarksOnlyWhatIsDurable: the rest stays open, for the next time.
func TestHaltWhileDeadLettersAreReplayedMarksOnlyWhatIsDurable(t *testing.T) {
	b := newBroker(t, 2)
	if err := openDead(t, b).Write(t.Context(), []DeadLetter{bad(0, 1, `{"n":1}`), bad(0, 2, `{"n":2}`), bad(0, 3, `{"n":3}`)}); err != nil {
		t.Fatal(err)
	}
	s := newStore()
	s.decide = func(int, []place) ([]event.Failure, error) {
		return []event.Failure{{Index: 0, Verdict: event.Retry, Reason: event.Unavailable}, {Index: 2, Verdict: event.Halt, Reason: event.NoTable, Err: errors.New("gone")}}, nil
	}
	if _, err := b.log(t).Replay(t.Context(), b.options(s), b.kept(t)); err == nil || !strings.Contains(err.Error(), "no_table: gone") {
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
	if _, err := b.log(t).Replay(stopped, b.options(s), b.kept(t)[2:]); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a stop", err)
	}
	if got := words(b.kept(t)); strings.Count(got, "replayed") != 1 {
		t.Errorf("letters %s after a stop that came before anything was written", got)
	}
}

// TestDeadLetterTooLargeForItsTopicHoldsThePartition: the partition waits, says the fix, and goes on once the topic takes the letter.
func TestDeadLetterTooLargeForItsTopicHoldsThePartition(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *broker) {
		openDead(t, b)
		resize := func(bytes string) {
			t.Helper()
			transport := &kafka.Transport{Dial: b.dial}
			defer transport.CloseIdleConnections()
			client := &kafka.Client{Addr: kafka.TCP(b.ListenAddrs()...), Transport: transport}
			if _, err := client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{{
				ResourceType: kafka.ResourceTypeTopic, ResourceName: topic + ".dead",
				Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: "max.message.bytes", Value: bytes, ConfigOperation: kafka.ConfigOperationSet}},
			}}}); err != nil {
				t.Fatal(err)
			}
		}
		resize("20000")
		large := make([]byte, 64<<10)
		_, _ = rand.NewChaCha8([32]byte{}).Read(large) // never fails; random bytes cannot be compressed
		b.send(&kgo.Record{Topic: topic, Key: []byte("k"), Value: large})
		for range 30 { // together larger than the topic takes, each by itself not
			b.send(&kgo.Record{Topic: topic, Value: large[:3000]})
		}
		l := start(t, b.options(newStore()))
		eventually(t, "it says the fix", func() bool {
			problems := l.Status().Problems(time.Now(), time.Millisecond)
			return len(problems) == 1 && strings.Contains(problems[0], "partition 0, offset 0 is too large") && strings.Contains(problems[0], "--add-config max.message.bytes=131")
		})
		b.neverCommits(t, 0, 1, 50*time.Millisecond)
		resize("80000")
		eventually(t, "settled", func() bool { return b.committedOffset(0) == 31 })
		l.stop()
		if n := len(b.kept(t)); n != 31 {
			t.Errorf("%d letters, expected 31", n)
		}
	})
}
