package ingest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// stopAfter stops a loop that has written records and committed none of them, while the coordinator fails commits. It returns how long the
// stop took.
func stopAfter(t *testing.T, b *fakeKafka, o Options, failing kfake.Fault) time.Duration {
	t.Helper()
	b.produce(10, 0, 1)
	s := newStore()
	o.Writer, o.CommitInterval = s, time.Hour
	l := start(t, o)
	time.Sleep(10 * time.Second)
	failing.Keys = []kmsg.Key{kmsg.OffsetCommit}
	b.Fault(failing)
	began := time.Now()
	l.stop()
	s.wantOnce(t, 20)
	return time.Since(began)
}

// A coordinator that has moved or is starting when a stop makes its last commit leaves nothing to be redelivered.
func TestLastCommitOfAStopIsRepeated(t *testing.T) {
	for _, answer := range []*kerr.Error{kerr.NotCoordinator, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress} {
		t.Run(answer.Message, func(t *testing.T) {
			eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
				inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
					b.protocol = protocol
					if took := stopAfter(t, b, b.defaults(nil), kfake.Fault{Err: answer, Count: 3}); took > 3*time.Second {
						t.Errorf("the stop took %v", took)
					}
					b.wantCommitted(b.sent)
				})
			})
		})
	}
}

// Nor does a coordinator that cannot be reached at that moment.
func TestLastCommitOfAStopWaitsForTheCoordinator(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			b.produce(10, 0, 1)
			s := newStore()
			o := b.defaults(s)
			var down atomic.Bool
			o.CommitInterval, o.Kafka.Dial = time.Hour, unless(&down, o.Kafka.Dial)
			l := start(t, o)
			time.Sleep(10 * time.Second)
			down.Store(true)
			l.cluster.Cut()
			time.AfterFunc(8*time.Second, func() { down.Store(false) })
			l.stop()
			b.wantCommitted(b.sent)
			s.wantOnce(t, 20)
		})
	})
}

// A stop whose commits fail ends in time: after StopTimeout, or at once if the group has dropped us or refuses us.
func TestStopIsBoundedThoughItsCommitsFail(t *testing.T) {
	const long = time.Minute
	for name, c := range map[string]struct {
		answer    *kerr.Error
		protocols []GroupProtocol
		least     time.Duration
	}{
		"no coordinator": {kerr.CoordinatorNotAvailable, []GroupProtocol{Classic, Consumer}, long},
		"no member":      {kerr.UnknownMemberID, []GroupProtocol{Classic}, 0}, // a consumer's heartbeat decides
		"old generation": {kerr.IllegalGeneration, []GroupProtocol{Classic}, 0},
		"refused":        {kerr.GroupAuthorizationFailed, []GroupProtocol{Classic, Consumer}, 0},
	} {
		for _, protocol := range c.protocols {
			t.Run(name+"/"+string(protocol), func(t *testing.T) {
				inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
					b.protocol = protocol
					o := b.defaults(nil)
					o.StopTimeout = long
					took := stopAfter(t, b, o, kfake.Fault{Err: c.answer, Count: -1})
					if took < c.least || took > c.least+time.Second {
						t.Errorf("the stop took %v, expected %v", took, c.least)
					}
					if got := b.committedOffset(0); got > 0 {
						t.Errorf("committed %d", got)
					}
				})
			})
		}
	}
}

// A last commit that fails while the group rebalances is repeated as well, before the group goes on without us.
func TestLastCommitOfARebalanceIsRepeated(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			b.produce(10, 0, 1)
			s := newStore()
			o := b.defaults(s)
			o.CommitInterval = time.Hour
			first := start(t, o)
			time.Sleep(10 * time.Second)
			b.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.CoordinatorLoadInProgress, Count: 3})
			second := start(t, o)
			time.Sleep(30 * time.Second)
			if len(first.assigned()) != 1 || len(second.assigned()) != 1 {
				t.Errorf("the first has %v, and the second %v", first.assigned(), second.assigned())
			}
			first.stop()
			second.stop()
			b.wantCommitted(b.sent)
			s.wantOnce(t, 20)
		})
	})
}
