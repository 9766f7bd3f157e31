package ingest

import (
	"testing"
	"time"

	"brine/ingest/pace"
)

// within checks that the number of records settled in a time is within bounds.
func within(t *testing.T, what string, n, least, most int) {
	t.Helper()
	if n < least || n > most {
		t.Errorf("%s: %d records, expected %d to %d", what, n, least, most)
	}
}

func (s *store) since(before *int) int {
	n, _ := s.count()
	came := n - *before
	*before = n
	return came
}

func TestPausedLoopKeepsItsPartitionsAndIsNoStall(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(100, 0, 1)
		s := newStore()
		o := b.defaults(s)
		o.Pace = new(pace.Pace)
		l := start(t, o)
		time.Sleep(20 * time.Second)
		b.wantCommitted(b.sent)
		generation := l.Status().Generation
		o.Pace.Set(pace.Order{Paused: true})
		time.Sleep(time.Second)
		b.produce(5000, 0, 1)
		time.Sleep(10 * time.Minute)
		before, _ := s.count()
		within(t, "paused", before, 200, 200)
		status := l.Status()
		if p := status.Problems(time.Now(), time.Minute); !status.Paused || len(p) != 0 {
			t.Errorf("paused %v, problems %q", status.Paused, p)
		}
		if status.Generation != generation || len(status.Partitions) != 2 {
			t.Errorf("generation %d with %d partitions, expected %d and 2: heartbeats go on", status.Generation, len(status.Partitions), generation)
		}
		for _, p := range status.Partitions {
			if p.Lag() != 5000 {
				t.Errorf("partition %d: lag %d while paused, expected what has come since", p.Partition, p.Lag())
			}
		}
		o.Pace.Set(pace.Order{})
		if p := l.Status().Problems(time.Now(), time.Minute); len(p) != 0 {
			t.Errorf("problems as it is resumed: %q", p)
		}
		time.Sleep(time.Second)
		within(t, "the first second after the pause", s.since(&before), 500, 2500)
		time.Sleep(time.Minute)
		b.wantCommitted(b.sent)
		l.stop()
		s.wantOnce(t, 10_200)
	})
}

// A pause holds up only what has not been submitted: pending flights settle and are committed.
func TestPauseSettlesWhatIsPending(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s, slow := newStore(), make(chan struct{})
		s.gate = func(int) <-chan struct{} { return slow }
		o := b.defaults(s)
		o.Pace = new(pace.Pace)
		l := start(t, o)
		time.Sleep(10 * time.Second)
		o.Pace.Set(pace.Order{Paused: true})
		time.Sleep(5 * time.Minute)
		if p := l.Status().Problems(time.Now(), time.Minute); len(p) != 1 {
			t.Errorf("problems %q, expected that what is pending does not settle", p)
		}
		b.produce(10, 0)
		close(slow)
		time.Sleep(10 * time.Second)
		b.wantCommitted(map[int]int64{0: 10})
		l.stop()
		s.wantOnce(t, 10)
	})
}

// A process that is killed while paused, with records in memory, loses none.
func TestKillWhilePausedLosesNothing(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(3000, 0, 1)
		s := newStore()
		o := b.defaults(s)
		o.MaxBatchRecords, o.Pace = 100, pace.New(pace.Order{Limit: 1000})
		l := start(t, o)
		time.Sleep(10 * time.Second)
		o.Pace.Set(pace.Order{Paused: true})
		b.produce(1000, 0, 1)
		time.Sleep(time.Minute)
		l.kill()
		time.Sleep(time.Minute)
		o = b.defaults(s)
		o.Pace = pace.New(pace.Order{Paused: true})
		l = start(t, o)
		before, _ := s.count()
		time.Sleep(5 * time.Minute)
		within(t, "paused from the start", s.since(&before), 0, 0)
		o.Pace.Set(pace.Order{})
		time.Sleep(time.Minute)
		b.wantCommitted(b.sent)
		for p := range 2 {
			if !s.holds(p, b.sent[p]) {
				t.Errorf("partition %d is not whole", p)
			}
		}
		l.stop()
	})
}

// A limit applies to the whole group, whichever members own the partitions, and can change while records wait for their turn.
func TestLimitIsOfTheWholeGroup(t *testing.T) {
	inBubble(t, 4, func(t *testing.T, b *fakeKafka) {
		b.produce(50_000, 0, 1, 2, 3)
		s := newStore()
		one, other := b.defaults(s), b.defaults(s)
		one.Pace, other.Pace = pace.New(pace.Order{Limit: 400}), pace.New(pace.Order{Limit: 400})
		first := start(t, one)
		time.Sleep(10 * time.Second)
		before, _ := s.count()
		time.Sleep(60 * time.Second)
		within(t, "one member in a minute at 400/s", s.since(&before), 23_800, 24_200)
		second := start(t, other)
		time.Sleep(30 * time.Second) // until they have met
		if n := len(second.assigned()); n != 2 {
			t.Fatalf("the second member has %d partitions", n)
		}
		s.since(&before)
		time.Sleep(60 * time.Second)
		within(t, "two members in a minute at 400/s", s.since(&before), 23_800, 24_200)
		for _, p := range []*pace.Pace{one.Pace, other.Pace} {
			p.Set(pace.Order{Limit: 4})
		}
		s.since(&before)
		time.Sleep(100 * time.Second)
		within(t, "100 s at 4/s, of which what was cut before", s.since(&before), 350, 400+100)
		if p := append(first.Status().Problems(time.Now(), time.Second), second.Status().Problems(time.Now(), time.Second)...); len(p) != 0 {
			t.Errorf("problems at a low limit: %q", p)
		}
		for _, p := range []*pace.Pace{one.Pace, other.Pace} {
			p.Set(pace.Order{})
		}
		time.Sleep(time.Minute)
		b.wantCommitted(b.sent)
		first.stop()
		second.stop()
		s.wantOnce(t, 200_000)
	})
}

// A pipeline stands still until it is known whether it is paused; if that takes long, it is a problem.
func TestUnreadOrderHoldsTheLoopAndIsAProblem(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(20_000, 0)
		s := newStore()
		o := b.defaults(s)
		o.Pace = pace.New(pace.Order{Paused: true, Unread: true, Why: "the control topic cannot be read"})
		l := start(t, o)
		time.Sleep(5 * time.Minute)
		if n, _ := s.count(); n != 0 {
			t.Errorf("%d records written before it was known", n)
		}
		if p := l.Status().Problems(time.Now(), time.Minute); len(p) != 1 {
			t.Errorf("problems %q, expected one", p)
		}
		o.Pace.Set(pace.Order{})
		time.Sleep(2 * time.Second)
		within(t, "at once, without a ramp", s.since(new(int)), 20_000, 20_000)
		l.stop()
		b.wantCommitted(b.sent)
	})
}
