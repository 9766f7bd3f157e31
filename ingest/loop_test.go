package ingest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestEveryRecordIsWrittenOnceAndCommitted(t *testing.T) {
	b := newBroker(t, 3)
	b.produce(1000, 0, 1, 2)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "all written", func() bool { n, _ := s.count(); return n == 3000 })
	b.produce(10, 1)
	eventually(t, "the rest written", func() bool { return s.holds(1, 1010) })
	l.stop()
	b.wantCommitted(b.sent)
	s.wantOnce(t, 3010)
}

func TestEveryCompressionIsRead(t *testing.T) {
	for name, codec := range map[string]kgo.CompressionCodec{"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()} {
		t.Run(name, func(t *testing.T) {
			b := newBroker(t, 1)
			b.client = b.newClient(kgo.ProducerBatchCompression(codec))
			b.produce(700, 0)
			b.produce(700, 0)
			s := newStore()
			l := start(t, b.options(s))
			eventually(t, "all written", func() bool { return s.holds(0, 1400) })
			l.stop()
			s.wantOnce(t, 1400)
		})
	}
}

// Workers report how long they had nothing to do, and flights that settle report how long the writer had them.
func TestTimesOfAFlight(t *testing.T) {
	b := newBroker(t, 2)
	b.produce(500, 0, 1)
	s := newStore()
	o := b.options(s)
	var awaited, stored, settled atomic.Int64
	o.Hooks.Awaited = func(i AwaitedInfo) {
		if i.Room < 0 || i.Room > i.Duration {
			t.Errorf("of %v without work, %v without room", i.Duration, i.Room)
		}
		awaited.Add(int64(i.Duration))
	}
	o.Hooks.Took = func(i TookInfo) {
		if i.Step != StepSettle {
			return
		}
		if i.Stored <= 0 || i.Stored > i.Duration {
			t.Errorf("of %v until a flight settled, %v in the writer", i.Duration, i.Stored)
		}
		stored.Add(int64(i.Stored))
		settled.Add(1)
	}
	l := start(t, o)
	eventually(t, "all settled", func() bool { return s.holds(0, 500) && s.holds(1, 500) && settled.Load() > 0 })
	l.stop()
	if awaited.Load() <= 0 || stored.Load() <= 0 {
		t.Errorf("workers waited for %v, flights were in the writer for %v", awaited.Load(), stored.Load())
	}
}

func TestEmptyTopicIsWaitedOn(t *testing.T) {
	b := newBroker(t, 2)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "joined", func() bool { return l.Status().Joined })
	eventually(t, "the starts committed", func() bool { return b.committedOffset(0) == 0 && b.committedOffset(1) == 0 })
	b.produce(5, 0, 1)
	eventually(t, "written", func() bool { return s.holds(0, 5) && s.holds(1, 5) })
	l.stop()
	b.wantCommitted(b.sent)
}

func TestGracefulStopRedeliversNothing(t *testing.T) {
	b := newBroker(t, 2)
	s := newStore()
	for round := range 5 {
		b.produce(500, 0, 1)
		l := start(t, b.options(s))
		eventually(t, "some written", func() bool { n, _ := s.count(); return n > round*1000 })
		l.stop() // mostly in mid-stream
	}
	l := start(t, b.options(s))
	eventually(t, "all written", func() bool { return s.holds(0, 2500) && s.holds(1, 2500) })
	l.stop()
	s.wantOnce(t, 5000)
	b.wantCommitted(b.sent)
}

func TestCrashBetweenSettleAndCommitLosesNothing(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(300, 0)
	s := newStore()
	o := b.options(s)
	o.CommitInterval, o.StopTimeout = time.Hour, time.Millisecond // a kill allows no time
	l := start(t, o)
	eventually(t, "all settled", func() bool { return s.holds(0, 300) })
	l.kill()
	b.evict()
	if got := b.committedOffset(0); got > 0 {
		t.Fatalf("committed %d though killed before", got)
	}
	var again atomic.Int64
	o = b.options(s)
	o.Hooks.Settled = func(i SettledInfo) { again.Add(int64(i.Records)) }
	l = start(t, o)
	eventually(t, "settled again", func() bool { return again.Load() == 300 })
	l.stop()
	b.wantCommitted(b.sent)
	if n, times := s.count(); n != 300 || times != 600 {
		t.Errorf("%d records written %d times, expected 300 twice", n, times)
	}
}

func TestKillAtAnyMomentLosesNothing(t *testing.T) {
	b := newBroker(t, 2)
	s := newStore()
	for i := range 10 {
		b.produce(300, 0, 1)
		o := b.options(s)
		o.MaxBatchRecords, o.SessionTimeout, o.Heartbeat = 50, 300*time.Millisecond, 20*time.Millisecond
		o.CommitInterval, o.RecordsPerSecond = 2*time.Millisecond, 20_000
		var settled atomic.Int64
		o.Hooks.Settled = func(i SettledInfo) { settled.Add(int64(i.Records)) }
		l := start(t, o)
		eventually(t, "some settled", func() bool { return settled.Load() > int64(i*50) })
		l.kill()
		for p := range 2 {
			if c := b.committedOffset(p); !s.holds(p, c) {
				t.Fatalf("kill %d: partition %d is committed to %d, but not all before is written", i, p, c)
			}
		}
	}
	l := start(t, b.options(s))
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 3000 && b.committedOffset(1) == 3000 })
	l.stop()
	if !s.holds(0, 3000) || !s.holds(1, 3000) {
		t.Error("records are missing")
	}
}

func TestOutOfOrderSettleCommitsOnlyTheContiguousPart(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(50, 0)
		s, first := newStore(), make(chan struct{})
		s.gate = func(call int) <-chan struct{} {
			if call == 1 {
				return first
			}
			return nil
		}
		o := b.options(s)
		o.MaxBatchRecords = 10
		l := start(t, o)
		eventually(t, "all but the second flight written", func() bool { n, _ := s.count(); return n == 40 })
		eventually(t, "the first is committed", func() bool { return b.committedOffset(0) == 10 })
		b.neverCommits(t, 0, 11, 100*time.Millisecond)
		close(first)
		eventually(t, "all committed", func() bool { return b.committedOffset(0) == 50 })
		l.stop()
		s.wantOnce(t, 50)
	})
}
