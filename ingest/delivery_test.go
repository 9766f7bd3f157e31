package ingest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
)

// However many records pass, one commit per interval is sent, for all partitions together.
func TestCommitsComeByTheIntervalNotByTheRecord(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, b *fakeKafka) {
		var commits atomic.Int64
		b.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
			b.KeepControl()
			commits.Add(1)
			return nil, nil, false
		})
		s := newStore()
		o := b.defaults(s)
		o.MaxBatchRecords, o.CommitInterval = 10, 2*time.Second
		l := start(t, o)
		for range 100 {
			b.produce(30, 0, 1, 2)
			time.Sleep(200 * time.Millisecond)
		}
		l.stop()
		b.wantCommitted(b.sent)
		if n := commits.Load(); n < 10 || n > 12 {
			t.Errorf("%d commits in 20 s at one in 2 s", n)
		}
	})
}

// What was submitted but not committed when the partition was taken away arrives again, and is counted.
func TestRedeliveredRecordsAreCounted(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(30, 0)
		s := newStore()
		hung := make(chan struct{})
		defer close(hung)
		s.gate = func(call int) <-chan struct{} {
			if call == 1 {
				return hung
			}
			return nil
		}
		o := b.defaults(s)
		o.MaxBatchRecords = 10
		var again, abandoned atomic.Int64
		o.Hooks.Redelivered = func(i RedeliveredInfo) { again.Add(int64(i.Records)) }
		o.Hooks.Revoked = func(i RevokedInfo) { abandoned.Add(int64(i.Abandoned)) }
		l := start(t, o)
		time.Sleep(10 * time.Second)
		b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Err: kerr.RebalanceInProgress})
		time.Sleep(time.Minute)
		l.stop()
		b.wantCommitted(b.sent)
		if again.Load() != 20 || abandoned.Load() != 1 {
			t.Errorf("%d records came again and %d flights were abandoned; expected the 20 past the watermark, and 1", again.Load(), abandoned.Load())
		}
	})
}

// A writer that returns none of the three verdicts does not know: that is retried.
func TestUnknownVerdictIsRetried(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(10, 0)
	s := newStore()
	s.decide = func(call int, batch []place) ([]event.Failure, error) {
		if call < 3 {
			return all(batch, event.Verdict(call*50), "unheard_of"), nil
		}
		return nil, nil
	}
	l := start(t, b.options(s))
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 10 })
	l.stop()
	s.wantOnce(t, 10)
}
