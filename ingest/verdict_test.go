package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
	"brine/ingest/deadletter"
)

func TestWriterFailingCallIsRetried(t *testing.T) {
	for failing := 0; ; failing++ {
		b := newBroker(t, 1)
		b.produce(50, 0)
		s := newStore()
		met := false
		s.decide = func(call int, batch []place) ([]event.Failure, error) {
			if call == failing {
				met = true
				return all(batch, event.Retry, event.Unavailable), nil
			}
			return nil, nil
		}
		o := b.options(s)
		o.MaxBatchRecords = 10
		l := start(t, o)
		eventually(t, "all written", func() bool { return s.holds(0, 50) })
		l.stop()
		s.wantOnce(t, 50)
		b.wantCommitted(b.sent)
		if !met {
			return
		}
	}
}

func TestOnlyTheFailedEventsAreRetried(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(10, 0)
	s := newStore()
	var calls [][]place
	s.decide = func(call int, batch []place) ([]event.Failure, error) {
		calls = append(calls, slices.Clone(batch))
		switch call {
		case 0:
			return []event.Failure{{Index: 2, Verdict: event.Retry}, {Index: 5, Verdict: event.Retry}, {Index: 9, Verdict: event.Retry}}, nil
		case 1:
			return []event.Failure{{Index: 1, Verdict: event.Retry}, {Index: 2, Verdict: event.Reject, Reason: event.TooLarge}}, nil
		}
		return nil, nil
	}
	o, d := b.options(s), &letters{}
	o.DeadLetters = d
	l := start(t, o)
	eventually(t, "all settled", func() bool { return b.committedOffset(0) == 10 })
	l.stop()
	s.wantOnce(t, 9)
	if want := [][]place{calls[0], {{0, 2}, {0, 5}, {0, 9}}, {{0, 5}}}; fmt.Sprint(calls) != fmt.Sprint(want) {
		t.Errorf("calls %v, expected %v", calls, want)
	}
	if !d.has(place{0, 9}) || len(d.got) != 1 {
		t.Errorf("dead letters %v, expected offset 9", d.got)
	}
}

func TestLaterSuccessDoesNotHideAnEarlierFailure(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(100, 0)
		s := newStore()
		var heal atomic.Bool
		s.decide = func(_ int, batch []place) ([]event.Failure, error) {
			if slices.Contains(batch, place{0, 15}) && !heal.Load() {
				return []event.Failure{{Index: slices.Index(batch, place{0, 15}), Verdict: event.Retry, Reason: event.Unavailable}}, nil
			}
			return nil, nil
		}
		o := b.options(s)
		o.MaxBatchRecords, o.Window = 10, 100
		l := start(t, o)
		eventually(t, "all others written", func() bool { n, _ := s.count(); return n == 99 })
		b.neverCommits(t, 0, 11, 100*time.Millisecond)
		if p := l.Status().Partitions[0]; p.State != Retrying || p.Reason != event.Unavailable || p.Watermark != 10 {
			t.Errorf("status %+v, expected retrying at 10", p)
		}
		heal.Store(true)
		eventually(t, "all committed", func() bool { return b.committedOffset(0) == 100 })
		l.stop()
		s.wantOnce(t, 100)
	})
}

func TestPoisonRecordIsDeadLetteredAmongGoodOnes(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(5, 0)
	b.poison(0)
	b.produce(5, 0)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "all settled", func() bool { return b.committedOffset(0) == 11 })
	l.stop()
	s.wantOnce(t, 10)

	reader := b.newClient(kgo.ConsumeTopics(topic + ".dead"))
	fetches := reader.PollFetches(context.Background())
	if fetches.NumRecords() != 1 {
		t.Fatalf("%d dead letters, expected 1", fetches.NumRecords())
	}
	rec := fromKgo(fetches.Records()[0])
	got, err := deadletter.Read(rec)
	if err != nil {
		t.Fatal(err)
	}
	if o := got.Record; o.Topic != topic || o.Partition != 0 || o.Offset != 5 || string(o.Key) != "poison" || string(o.Value) != "not json" ||
		len(o.Headers) != 1 || o.Headers[0].Key != "trace" || string(o.Headers[0].Value) != "abc" || o.Timestamp == 0 {
		t.Errorf("original record %+v", o)
	}
	if got.Reason != event.Undecodable || got.Group != group || got.Detail == "" || time.Since(got.Time) > time.Minute {
		t.Errorf("dead letter %+v", got)
	}
}

func TestDeadLettersDownHoldsThePartition(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(5, 0)
		b.poison(0)
		b.produce(5, 0)
		s, d := newStore(), &letters{}
		var up atomic.Bool
		d.fail = func(int) error {
			if !up.Load() {
				return errors.New("no room")
			}
			return nil
		}
		o := b.options(s)
		o.DeadLetters, o.MaxBatchRecords = d, 3
		l := start(t, o)
		eventually(t, "the others written", func() bool { n, _ := s.count(); return n >= 8 })
		b.neverCommits(t, 0, 4, 100*time.Millisecond)
		eventually(t, "it says so", func() bool {
			p := l.Status().Partitions[0]
			return p.State == Waiting && p.Reason == DeadLettersDown && p.Detail == "no room"
		})
		up.Store(true)
		eventually(t, "all settled", func() bool { return b.committedOffset(0) == 11 })
		l.stop()
		s.wantOnce(t, 10)
	})
}

func TestStopWhileDeadLettersAreDownCommitsNothingPastThem(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(3, 0)
	b.poison(0)
	b.produce(3, 0)
	o := b.options(newStore())
	o.MaxBatchRecords, o.StopTimeout = 2, time.Second
	o.DeadLetters = &letters{fail: func(int) error { return errors.New("no room") }}
	l := start(t, o)
	eventually(t, "what is before is committed", func() bool { return b.committedOffset(0) == 2 })
	l.stop()
	b.wantCommitted(map[int]int64{0: 2})
}

func TestDeadLetterTopicDownHoldsThePartition(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.poison(0)
		down := b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic + ".dead", Err: kerr.NotEnoughReplicas, Count: -1})
		l := start(t, b.options(newStore()))
		if err := down.Wait(context.Background(), 2); err != nil {
			t.Fatal(err)
		}
		b.neverCommits(t, 0, 1, 50*time.Millisecond)
		down.Remove()
		eventually(t, "settled", func() bool { return b.committedOffset(0) == 1 })
		l.stop()
	})
}

func TestHaltedPartitionCommitsNothingPastItAndKeepsItsAssignment(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(40, 0, 1)
		s := newStore()
		var heal atomic.Bool
		s.decide = func(_ int, batch []place) ([]event.Failure, error) {
			if slices.Contains(batch, place{0, 10}) && !heal.Load() {
				return all(batch, event.Halt, event.NoTable), nil
			}
			return nil, nil
		}
		var generations, halts atomic.Int64
		o := b.options(s)
		o.MaxBatchRecords = 10
		o.Hooks.Assigned = func(AssignedInfo) { generations.Add(1) }
		o.Hooks.Halted = func(i HaltedInfo) {
			if i.Partition == 0 && i.Reason == event.NoTable {
				halts.Add(1)
			}
		}
		l := start(t, o)
		eventually(t, "several halts", func() bool { return halts.Load() >= 3 })
		eventually(t, "the other partition goes on", func() bool { return b.committedOffset(1) == 40 })
		b.neverCommits(t, 0, 11, 20*time.Millisecond)
		eventually(t, "it says so", func() bool {
			problems := l.Status().Problems(time.Now(), time.Minute)
			return len(problems) == 1 && strings.HasPrefix(problems[0], "partition 0 is halted at offset 10") && strings.Contains(problems[0], "no_table: as the test wants it")
		})
		if generations.Load() != 1 {
			t.Errorf("%d generations, expected 1: a halt must not make the group rebalance", generations.Load())
		}
		heal.Store(true)
		eventually(t, "all committed", func() bool { return b.committedOffset(0) == 40 })
		l.stop()
		if !s.holds(0, 40) {
			t.Error("not all of partition 0 is written")
		}
	})
}
