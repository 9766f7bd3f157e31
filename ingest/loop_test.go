package ingest

import "testing"

func TestEveryRecordIsWrittenOnceAndCommitted(t *testing.T) {
	b := newBroker(t, 3)
	b.produce(1000, 0, 1, 2)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "all written", func() bool { n, _ := s.count(); return n == 3000 })
	b.produce(10, 1)
	eventually(t, "the rest written", func() bool { return s.holds(1, 1010) })
	l.stop()
	for p, want := range b.sent {
		if got := b.committedOffset(p); got != want {
			t.Errorf("partition %d: committed %d, expected %d", p, got, want)
		}
	}
	if n, times := s.count(); n != 3010 || times != 3010 {
		t.Errorf("%d records written %d times, expected 3010 once", n, times)
	}
}
