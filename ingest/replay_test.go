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

func (b *fakeKafka) replay(s event.Writer, name string, from, to Position) ReplayOptions {
	return ReplayOptions{Options: b.options(s), Name: name, From: from, To: to}
}

func (b *fakeKafka) runReplay(t *testing.T, o ReplayOptions) Plan {
	t.Helper()
	r, err := NewReplay(o)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if left := r.Progress().Left(); left != 0 {
		t.Errorf("%d offsets are left after the end", left)
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
	plan := b.runReplay(t, o)
	s.wantOnce(t, 60)
	if got := s.offsets(0); len(got) != 10 || got[0] != 10 || got[9] != 19 {
		t.Errorf("partition 0: offsets %v, expected 10 to 19", got)
	}
	if want := []string{"partition 1: offsets 100 to 499 have not been written yet"}; !slices.Equal(plan.Missing(), want) {
		t.Errorf("missing %q, expected %q", plan.Missing(), want)
	}
	if left := plan.Left(); left != 60 {
		t.Errorf("%d offsets are planned, expected 60", left)
	}
	if got, want := plan.Partitions[0].Bytes, int64(len("k10")+len(`{"n":10}`))*10; got != want {
		t.Errorf("partition 0 is estimated at %d bytes, expected %d", got, want)
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
	if got := plan.Missing(); len(got) != 1 || !strings.Contains(got[0], "offsets before 8 are no longer in the log; they may have been") {
		t.Errorf("missing %q", got)
	}
	plan = b.runReplay(t, b.replay(newStore(), "c", Offsets(map[int]int64{0: 3}), Latest))
	if got, want := plan.Missing(), []string{"partition 0: offsets 3 to 7 are no longer in the log"}; !slices.Equal(got, want) {
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
		o.RecordsPerSecond = 5000        // so that no run ends before its kill is noticed
		o.StopTimeout = time.Millisecond // a kill allows no time
		var n atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		r, err := NewReplay(o)
		if err != nil {
			t.Fatal(err)
		}
		r.Hooks.Settled = func(i SettledInfo) {
			if n.Add(int64(i.Records)) > 200 {
				r.cluster.Close()
				cancel()
			}
		}
		plan, err := r.Plan(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(ctx, plan); !errors.Is(err, context.Canceled) {
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
	if _, err := r.Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "it was started for earliest to latest, not for earliest to 20") {
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
	o := b.replay(nil, "dry", Earliest, Latest)
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
	if err := r.Run(t.Context(), plan); err == nil {
		t.Error("a replay without a writer runs")
	}
}

func TestReplayAgainStartsOver(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(10, 0)
	o := b.replay(newStore(), "again", Earliest, Latest)
	b.runReplay(t, o)
	b.produce(5, 0)
	s := newStore()
	o.Writer, o.Again = s, true
	if plan := b.runReplay(t, o); plan.Resumed || plan.Left() != 15 {
		t.Errorf("plan %+v, expected all 15 again", plan)
	}
	s.wantOnce(t, 15)
}

func TestReplayRefusesWhatCannotBe(t *testing.T) {
	b := newBroker(t, 2)
	b.produce(10, 0, 1)
	at := time.UnixMilli(1_700_000_000_000)
	for want, o := range map[string]ReplayOptions{
		"Name is empty":                               b.replay(nil, "", Earliest, Latest),
		"its end must be later":                       b.replay(nil, "x", At(at), At(at)),
		"partition 1: the range is from 5 to 5":       b.replay(nil, "x", Offsets(map[int]int64{1: 5}), Offsets(map[int]int64{1: 5})),
		"partition 1 has a start offset but no":       b.replay(nil, "x", Offsets(map[int]int64{1: 5}), Offsets(map[int]int64{0: 5})),
		"partition 0: no offset given":                b.replay(nil, "x", Offsets(map[int]int64{1: 5}), Latest),
		"no such partition 7; it has 2":               {Options: b.options(nil), Name: "x", Partitions: []int{0, 7}},
		`started for earliest to 0:5 of partitions [`: {Options: b.options(nil), Name: "taken", Partitions: []int{0}},
	} {
		if o.Name == "taken" {
			first := o
			first.Writer, first.To = newStore(), Offsets(map[int]int64{0: 5})
			b.runReplay(t, first)
		}
		r, err := NewReplay(o)
		if err == nil {
			_, err = r.Plan(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// TestLongRangesAreKeptShort: brokers refuse commits with more than 4 KiB of metadata.
func TestLongRangesAreKeptShort(t *testing.T) {
	text := func(last int64) string {
		offsets := map[int]int64{}
		for p := range 1000 {
			offsets[p] = 1_000_000_000_000
		}
		offsets[999] = last
		r, err := NewReplay(ReplayOptions{Options: Options{Kafka: Kafka{Brokers: []string{"x:1"}}, Topic: topic, Group: group, Schema: schema}, Name: "x", From: Offsets(offsets)})
		if err != nil {
			t.Fatal(err)
		}
		return r.rangeText()
	}
	if a, b := text(1), text(2); len(a) > maxRangeText || a == b || a != text(1) {
		t.Errorf("ranges are kept as %q and %q", a, b)
	}
}
