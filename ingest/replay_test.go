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

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
)

func (b *broker) replay(s Writer, name string, from, to Position) ReplayOptions {
	return ReplayOptions{Options: b.options(s), Name: name, From: from, To: to}
}

func (b *broker) runReplay(t *testing.T, o ReplayOptions) Plan {
	t.Helper()
	r, err := NewReplay(o)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func (s *store) offsets(partition int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var o []int64
	for p := range s.written {
		if p.partition == partition {
			o = append(o, p.offset)
		}
	}
	slices.Sort(o)
	return o
}

func TestReplayReadsJustItsRangeAndLeavesTheLiveGroupAlone(t *testing.T) {
	b := newBroker(t, 3)
	b.produce(100, 0, 1, 2)
	b.commit(0, 42)
	s := newStore()
	o := b.replay(s, "again", Offsets(map[int]int64{0: 10, 1: 50}), Offsets(map[int]int64{0: 20, 1: 500}))
	o.Partitions = []int{0, 1}
	var last ReplayProgress
	o.Progress = func(p ReplayProgress) { last = p }
	plan := b.runReplay(t, o)
	s.wantOnce(t, 60)
	if got := s.offsets(0); len(got) != 10 || got[0] != 10 || got[9] != 19 {
		t.Errorf("partition 0: offsets %v, expected 10 to 19", got)
	}
	if want := []string{"partition 1: offsets 100 to 499 are not written yet"}; !slices.Equal(plan.Missing(), want) {
		t.Errorf("missing %q, expected %q", plan.Missing(), want)
	}
	if last.Done != 60 || last.Left != 0 || last.ETA != 0 {
		t.Errorf("progress at the end %+v", last)
	}
	if got := b.committedOffset(0); got != 42 {
		t.Errorf("the live group is at %d, expected 42 as before", got)
	}
}

func TestReplayByTimeSaysWhatMayBeMissing(t *testing.T) {
	b := newBroker(t, 1)
	at := func(i int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(i)*1000) }
	for i := range 20 {
		b.send(&kgo.Record{Topic: topic, Timestamp: at(i), Value: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	s := newStore()
	b.runReplay(t, b.replay(s, "a", At(at(5)), At(at(15))))
	if got := s.offsets(0); len(got) != 10 || got[0] != 5 || got[9] != 14 {
		t.Errorf("offsets %v, expected 5 to 14", got)
	}
	if err := b.DeleteRecords(topic, 0, 8); err != nil {
		t.Fatal(err)
	}
	plan := b.runReplay(t, b.replay(newStore(), "b", At(at(5)), At(at(15))))
	if got := plan.Missing(); len(got) != 1 || !strings.Contains(got[0], "offsets before 8 are not in the log any more; they may have belonged") {
		t.Errorf("missing %q", got)
	}
	plan = b.runReplay(t, b.replay(newStore(), "c", Offsets(map[int]int64{0: 3}), Latest))
	if got, want := plan.Missing(), []string{"partition 0: offsets 3 to 7 are not in the log any more"}; !slices.Equal(got, want) {
		t.Errorf("missing %q, expected %q", got, want)
	}
}

func TestReplayIsResumedAfterAKill(t *testing.T) {
	b := newBroker(t, 2)
	b.produce(1000, 0, 1)
	s := newStore()
	for kill := range 4 {
		o := b.replay(s, "again", Earliest, Latest)
		o.MaxBatchRecords, o.CommitInterval, o.Window = 10, 2*time.Millisecond, 2
		var n atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		r, err := NewReplay(o)
		if err != nil {
			t.Fatal(err)
		}
		r.Hooks.Settled = func(_, settled int) {
			if n.Add(int64(settled)) > 200 {
				r.cluster.close()
				cancel()
			}
		}
		if _, err := r.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("run %d: error %v, expected %v", kill, err, context.Canceled)
		}
	}
	b.produce(50, 0, 1) // after the replay has begun: not part of it
	plan := b.runReplay(t, b.replay(s, "again", Earliest, Latest))
	if !plan.Resumed || plan.Partitions[0].To != 1000 {
		t.Errorf("plan %+v, expected the rest of what was begun", plan)
	}
	if !s.holds(0, 1000) || !s.holds(1, 1000) {
		t.Error("records are missing")
	}
	if n, _ := s.count(); n != 2000 {
		t.Errorf("%d records, expected 2000", n)
	}
	if plan = b.runReplay(t, b.replay(s, "again", Earliest, Latest)); plan.Left() != 0 {
		t.Errorf("plan %+v after the end, expected nothing left", plan)
	}
	r, err := NewReplay(b.replay(s, "again", Earliest, At(time.Now())))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "it was begun for earliest to latest, not for earliest to 20") {
		t.Errorf("error %v for the same name with another range", err)
	}
}

func TestReplayBesideTheLiveLoop(t *testing.T) {
	b := newBroker(t, 2)
	b.produce(500, 0, 1)
	live, again := newStore(), newStore()
	l := start(t, b.options(live))
	again.decide = func(call int, batch []place) ([]event.Failure, error) {
		if call%2 == 0 {
			return all(batch, event.Retry, event.Unavailable), nil
		}
		return nil, nil
	}
	b.poison(1)
	o := b.replay(again, "beside", Earliest, Latest)
	b.runReplay(t, o)
	again.wantOnce(t, 1000)
	eventually(t, "the live loop has all", func() bool { return b.committedOffset(0) == 500 && b.committedOffset(1) == 501 })
	l.stop()
	live.wantOnce(t, 1000)
}

func TestPlanChangesNothing(t *testing.T) {
	b := newBroker(t, 2)
	b.produce(10, 0, 1)
	o := b.replay(newStore(), "dry", Earliest, Latest)
	r, err := NewReplay(o)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.Plan(t.Context())
	if err != nil || plan.Left() != 20 || len(plan.Partitions) != 2 || plan.Resumed {
		t.Fatalf("plan %+v, error %v", plan, err)
	}
	if b.GroupInfo(group+".replay.dry") != nil {
		t.Error("planning has made a group")
	}
}
