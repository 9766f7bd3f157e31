package ingest

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
	"brine/ingest/internal/note"
)

// rejectsFrom rejects every record from an offset on, as long as while is set.
func rejectsFrom(offset int64, while *atomic.Bool) func(int, []place) ([]event.Failure, error) {
	return func(_ int, b []place) (failures []event.Failure, _ error) {
		for i, p := range b {
			if while.Load() && p.offset >= offset {
				failures = append(failures, event.Failure{Index: i, Verdict: event.Reject, Reason: event.BadKey})
			}
		}
		return failures, nil
	}
}

func (s *store) times(p place) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written[p]
}

func (l *letters) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.got)
}

// TestManyRejectsInARowHalt: after a number of consecutive rejects, none is buried or committed, however often the process restarts; once
// something is written, it goes on by itself.
func TestManyRejectsInARowHalt(t *testing.T) {
	for name, by := range map[string]struct {
		poison bool // rejected by the decoder, otherwise by the writer
		kill   bool
	}{"by the writer": {}, "by the decoder": {poison: true}, "killed": {kill: true}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
				for range 250 {
					for p := range 2 {
						if by.poison {
							b.poison(p)
						} else {
							b.produce(1, p)
						}
					}
				}
				var wrong atomic.Bool
				wrong.Store(true)
				s, dead := newStore(), &letters{}
				s.decide = rejectsFrom(0, &wrong)
				o := b.options(s)
				o.DeadLetters, o.MaxBatchRecords, o.HaltAfterRejects, o.HaltPause = dead, 10, 100, 10*time.Second
				var l *running
				for range 4 {
					l = start(t, o)
					eventually(t, "it halts", func() bool { return l.Status().AllRejected != "" })
					time.Sleep(time.Minute)
					status := l.Status()
					problems := status.Problems(time.Now(), time.Hour)
					if len(problems) == 0 || !strings.Contains(problems[0], "all_rejected") || !strings.Contains(status.AllRejected, "halt_after_rejects") {
						t.Errorf("problems %q, %q", problems, status.AllRejected)
					}
					if by.kill {
						l.kill()
					} else {
						l.stop()
					}
					if n := dead.count(); n >= 100 {
						t.Fatalf("%d dead letters, expected fewer than 100", n)
					}
					for p := range 2 {
						for at := range b.committedOffset(p) {
							if !dead.has(place{p, at}) {
								t.Fatalf("partition %d is committed to %d, and offset %d is no dead letter", p, b.committedOffset(p), at)
							}
						}
					}
				}
				if n := dead.count(); n < 50 {
					t.Errorf("%d dead letters, expected some before the halt", n)
				}
				if by.poison {
					return
				}
				wrong.Store(false)
				l = start(t, o)
				eventually(t, "all settled", func() bool { return b.committedOffset(0) == 250 && b.committedOffset(1) == 250 })
				if status := l.Status(); status.AllRejected != "" {
					t.Errorf("it says %q though it writes", status.AllRejected)
				}
				l.stop()
				for p := range 2 {
					for at := range int64(250) {
						if s.times(place{p, at}) == 0 && !dead.has(place{p, at}) {
							t.Errorf("offset %d of partition %d is neither written nor a dead letter", at, p)
						}
					}
				}
			})
		})
	}
}

// TestRejectsAmongOthersDoNotHalt: what is written at the same time counts, even if the store takes long, and in another partition.
func TestRejectsAmongOthersDoNotHalt(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		for range 50 {
			for range 30 {
				b.poison(0)
			}
			b.produce(30, 0)
			b.produce(1, 1)
		}
		s, dead, slow := newStore(), &letters{}, make(chan struct{})
		s.gate = func(int) <-chan struct{} { return slow }
		o := b.options(s)
		o.DeadLetters, o.MaxBatchRecords, o.HaltAfterRejects = dead, 10, 35
		var halts atomic.Int64
		o.Hooks.Halted = func(HaltedInfo) { halts.Add(1) }
		l := start(t, o)
		time.Sleep(10 * time.Minute) // longer than any pause
		close(slow)
		eventually(t, "all settled", func() bool { return b.committedOffset(0) == 3000 && b.committedOffset(1) == 50 })
		l.stop()
		if halts.Load() != 0 || dead.count() != 1500 {
			t.Errorf("%d halts, %d dead letters", halts.Load(), dead.count())
		}
		s.wantOnce(t, 1550)
	})
}

// TestCountOfRejectsIsForgottenOnceOneIsWritten: the limit is on consecutive rejects. A record that is written late resets the committed
// count, and a restart begins at zero.
func TestCountOfRejectsIsForgottenOnceOneIsWritten(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		o := b.options(newStore())
		dead := &letters{}
		o.DeadLetters, o.HaltAfterRejects, o.InstanceID = dead, 100, "one"
		for range 5 {
			l := start(t, o)
			for range 99 {
				b.poison(0)
			}
			eventually(t, "settled", func() bool { return b.committedOffset(0) == b.sent[0] })
			if text := b.GroupInfo(group).Commits[topic][0].Metadata; note.Read(text).Rejected != 99 {
				t.Errorf("committed %q after 99 rejects", text)
			}
			b.produce(1, 0)
			eventually(t, "settled", func() bool { return b.committedOffset(0) == b.sent[0] })
			l.stop()
			if text := b.GroupInfo(group).Commits[topic][0].Metadata; note.Read(text).Rejected != 0 {
				t.Errorf("committed %q after a record was written", text)
			}
		}
		if dead.count() != 5*99 {
			t.Errorf("%d dead letters", dead.count())
		}
	})
}

func TestRejectsHaltNeverIfAskedTo(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		for range 300 {
			b.poison(0)
		}
		dead := &letters{}
		o := b.options(newStore())
		var passed, written, rejected atomic.Int64
		o.Hooks.Wrote = func(i WroteInfo) { written.Add(int64(i.Records)); passed.Add(int64(i.LeftOut)) }
		o.Hooks.DeadLettered = func(i DeadLetteredInfo) { rejected.Add(int64(i.Records)) }
		o.DeadLetters = dead
		l := start(t, o)
		b.produce(7, 0)
		b.send(&kgo.Record{Topic: topic, Key: []byte("k")}) // a tombstone
		eventually(t, "all settled", func() bool { return b.committedOffset(0) == 308 })
		l.stop()
		if got := []int64{written.Load(), rejected.Load(), passed.Load()}; !slices.Equal(got, []int64{7, 301, 0}) {
			t.Errorf("written, rejected, left out: %v", got)
		}
	})
}

// TestRejectsThatLandLateAreNotInARow: flights land in any order. Rejects that took off before a record that is written do not count, even
// if they land after it.
func TestRejectsThatLandLateAreNotInARow(t *testing.T) {
	r := newRejects(35)
	late, good, next := r.takeOff(false), r.takeOff(true), r.takeOff(false)
	r.decided(good, true)
	if !r.tryAdmit(0, late, 30) || r.of(0) != 0 {
		t.Errorf("%d counted of what took off before a record that is written", r.of(0))
	}
	if !r.tryAdmit(0, next, 30) || r.of(0) != 30 {
		t.Errorf("%d counted of 30 that took off behind it", r.of(0))
	}
	if r.tryAdmit(0, next, 5) {
		t.Error("35 in a row have room")
	}
}
