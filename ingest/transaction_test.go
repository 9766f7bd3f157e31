package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// transaction produces n records to partition 0 and ends the transaction as specified.
func (b *fakeKafka) transaction(id string, n int, end kgo.TransactionEndTry) {
	b.t.Helper()
	client := b.newClient(kgo.TransactionalID(id))
	if err := client.BeginTransaction(); err != nil {
		b.t.Fatal(err)
	}
	for range n {
		r := &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, `{"n":%d}`, b.sent[0])}
		if err := client.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			b.t.Fatal(err)
		}
		b.sent[0]++
	}
	if err := client.EndTransaction(context.Background(), end); err != nil {
		b.t.Fatal(err)
	}
	b.sent[0]++ // the marker
}

func TestAbortedTransactionIsLeftOut(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(3, 0)                      // 0–2
	b.transaction("a", 4, kgo.TryAbort)  // 3–6, marker 7
	b.transaction("b", 5, kgo.TryCommit) // 8–12, marker 13
	b.transaction("a", 2, kgo.TryAbort)  // 14–15, marker 16
	b.transaction("a", 2, kgo.TryCommit) // 17–18, marker 19: the same producer, committed
	b.produce(1, 0)                      // 20
	b.transaction("c", 1, kgo.TryAbort)  // 21, marker 22: nothing follows
	want := []int64{0, 1, 2, 8, 9, 10, 11, 12, 17, 18, 20}
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "all committed, the markers too", func() bool { return b.committedOffset(0) == 23 })
	l.stop()
	s.wantOnce(t, len(want))
	for _, o := range want {
		if s.written[place{0, o}] != 1 {
			t.Errorf("offset %d is missing", o)
		}
	}
}

func TestRestartInsideAnAbortedTransaction(t *testing.T) {
	b := newBroker(t, 1)
	b.transaction("a", 6, kgo.TryAbort) // 0–5, marker 6
	b.produce(2, 0)                     // 7–8
	b.commit(0, 3)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 9 })
	l.stop()
	s.wantOnce(t, 2)
}

// Records of a transaction that is still open are not read, and what follows them waits, but that is not lag.
func TestOpenTransactionIsWaitedForAndIsNoLag(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(2, 0)
		client := b.newClient(kgo.TransactionalID("open"))
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(context.Background(), &kgo.Record{Topic: topic, Value: []byte(`{"n":2}`)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		s := newStore()
		l := start(t, b.options(s))
		eventually(t, "the first two committed", func() bool { return b.committedOffset(0) == 2 })
		b.neverCommits(t, 0, 3, 50*time.Millisecond)
		if p := l.Status().Partitions[0]; p.Lag() != 0 {
			t.Errorf("lag %d before an open transaction, expected 0", p.Lag())
		}
		if err := client.EndTransaction(context.Background(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the transaction is read", func() bool { return b.committedOffset(0) == 4 })
		l.stop()
		s.wantOnce(t, 3)
	})
}
