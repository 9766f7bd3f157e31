package ingest

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// An unanswered commit arrives after the next one and moves the group back: that is corrected even if no record arrives.
func TestCommitThatArrivesLateIsFixed(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		var late *kmsg.OffsetCommitRequest
		b.ControlKey(int16(kmsg.OffsetCommit), func(q kmsg.Request) (kmsg.Response, error, bool) {
			if q := q.(*kmsg.OffsetCommitRequest); late == nil && q.Topics[0].Partitions[0].Offset == 10 {
				late = q
				return nil, errors.New("dropped"), true
			}
			return nil, nil, false
		})
		s := newStore()
		l := start(t, b.defaults(s))
		time.Sleep(10 * time.Second)
		b.produce(10, 0)
		time.Sleep(1500 * time.Millisecond)
		b.produce(10, 0)
		time.Sleep(5 * time.Second)
		b.wantCommitted(b.sent)
		if late == nil {
			t.Fatal("no commit was dropped")
		}
		if _, err := late.RequestWith(t.Context(), b.newClient(kgo.MaxVersions(kversion.V3_0_0()))); err != nil {
			t.Fatal(err)
		}
		if got := b.committedOffset(0); got != 10 {
			t.Fatalf("committed %d after the late commit; the test means it to go back to 10", got)
		}
		time.Sleep(2 * time.Second)
		b.wantCommitted(b.sent)
		l.stop()
		b.wantCommitted(b.sent)
		s.wantOnce(t, 20)
	})
}
