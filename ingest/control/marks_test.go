package control

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"brine/ingest/internal/broker"
)

// Marks are stored beside what is asked: neither replaces the other, nor one mark another.
func TestMarksAskForNothing(t *testing.T) { onBoth(t, testMarksAskForNothing) }

func testMarksAskForNothing(t *testing.T, topic *Topic) {
	if marks, kept, err := topic.Marks(t.Context()); len(marks) > 0 || len(kept) > 0 || err != nil {
		t.Errorf("without a topic: %v, %v, %v", marks, kept, err)
	}
	at := time.UnixMilli(1_700_000_000_000).UTC()
	paused := Entry{Paused: true, At: at}
	if err := topic.Put(t.Context(), "a", paused); err != nil {
		t.Fatal(err)
	}
	first := Mark{Group: "a", Topic: "t", Partition: 1, Offset: 7, Settings: []string{"pipelines.p.when: - → n > 1"}, Before: "x", After: "y", By: "me", At: at}
	second, other, again := first, first, first
	second.Offset, other.Partition, again.At = 9, 0, at.Add(time.Second) // at the same offset again, with nothing written between
	for _, marks := range [][]Mark{{first, other}, {second}, {again}, {first}} {
		if err := topic.Mark(t.Context(), marks); err != nil {
			t.Fatal(err)
		}
	}
	for _, written := range []string{"before", "as it was written last"} {
		if err := topic.Keep(t.Context(), []Configuration{{Name: "x", Pipeline: "p", Written: written}}); err != nil {
			t.Fatal(err)
		}
	}
	topic.want(t, "beside marks", map[string]Entry{"a": paused})
	marks, kept, err := topic.Marks(t.Context())
	same := func(a, b Mark) bool { return a.compare(b) == 0 && slices.Equal(a.Settings, b.Settings) && a.By == b.By }
	if err != nil || !slices.EqualFunc(marks, []Mark{other, first, again, second}, same) {
		t.Errorf("%+v, %v", marks, err)
	}
	if len(kept) != 1 || kept[0].Name != "x" || kept[0].Pipeline != "p" || kept[0].Written != "as it was written last" {
		t.Errorf("kept %+v", kept)
	}
}

// A thousand partitions that are marked at a time cost a few requests, and each is marked when its caller learns of it.
func TestMarksOfManyPartitionsAreWrittenTogether(t *testing.T) {
	const partitions = 1000
	kafka, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, "t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	topic := Open(Options{Kafka: broker.Kafka{Brokers: kafka.ListenAddrs()}, Topic: "control", Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(topic.Close)
	var writes, looks atomic.Int32
	for key, n := range map[kmsg.Key]*atomic.Int32{kmsg.Produce: &writes, kmsg.Metadata: &looks} {
		kafka.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			kafka.KeepControl()
			n.Add(1)
			return nil, nil, false
		})
	}
	topic.marking.turn <- struct{}{} // as if a write were in progress
	topic.keeping.turn <- struct{}{}
	var g errgroup.Group
	for p := range partitions {
		g.Go(func() error {
			kept := Configuration{Name: "x", Pipeline: "p", Written: "before"}
			mark := Mark{Group: "a", Topic: "t", Partition: p, Offset: 7, Settings: []string{"pipelines.p.when: - → n > 1"}, By: "a start", At: time.UnixMilli(1)}
			return errors.Join(topic.Keep(t.Context(), []Configuration{kept}), topic.Mark(t.Context(), []Mark{mark}))
		})
	}
	waiting := func(is func() int) {
		for is() < partitions {
			runtime.Gosched()
		}
	}
	waiting(topic.keeping.waiting)
	began := time.Now()
	<-topic.keeping.turn
	waiting(topic.marking.waiting)
	<-topic.marking.turn
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d partitions were marked within %v, by %d writes", partitions, time.Since(began), writes.Load())
	if n, m := writes.Load(), looks.Load(); n != 2 || m > 20 {
		t.Errorf("%d writes, want 2; %d look-ups of topics", n, m)
	}
	marks, kept, err := topic.Marks(t.Context())
	if err != nil || len(marks) != partitions || len(kept) != 1 {
		t.Errorf("%d marks, %d configurations, %v", len(marks), len(kept), err)
	}
}

// waiting returns how much the next round has.
func (t *together[T]) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next == nil {
		return 0
	}
	return len(t.next.all)
}

// Who leads a round may leave before it is written: the others write it. An error of the write is everybody's.
func TestARoundIsWrittenByThoseWhoStay(t *testing.T) {
	failed := errors.New("failed")
	for _, want := range []error{nil, failed} {
		var written []int
		write := func(_ context.Context, items []int) error {
			written = append(written, items...)
			return want
		}
		all := newTogether[int]()
		all.turn <- struct{}{}
		leaves, leave := context.WithCancel(t.Context())
		results := make(chan error, 3)
		ask := func(ctx context.Context, item, waiting int) {
			go func() { results <- all.do(ctx, []int{item}, write) }()
			for all.waiting() < waiting {
				runtime.Gosched()
			}
		}
		ask(leaves, 1, 1)
		ask(t.Context(), 2, 2)
		ask(t.Context(), 3, 3)
		leave()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
		for all.waiting() < 2 {
			runtime.Gosched()
		}
		<-all.turn
		for range 2 {
			if err := <-results; !errors.Is(err, want) {
				t.Errorf("who stayed: %v, want %v", err, want)
			}
		}
		if slices.Sort(written); !slices.Equal(written, []int{2, 3}) {
			t.Errorf("written: %v", written)
		}
	}
}
