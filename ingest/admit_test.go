package ingest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"brine/event"
)

// admissions records what Admit was asked, and holds one partition for as long as there is hold.
type admissions struct {
	note string
	hold chan struct{} // closed: no longer; nil: never

	mu    sync.Mutex
	asked map[int]Taken
}

func (a *admissions) admit(ctx context.Context, t Taken) (string, error) {
	a.mu.Lock()
	a.asked[t.Partition] = t
	a.mu.Unlock()
	if t.Partition == 1 && a.hold != nil {
		t.Held(OtherConfiguration, errors.New("another has read it"))
		select {
		case <-a.hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return a.note, nil
}

// wantAsked checks with which offset and note each partition came.
func (a *admissions) wantAsked(t *testing.T, offset int64, note string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range 2 {
		if got := a.asked[id]; got.Topic != topic || got.Offset != offset || got.Reader != note {
			t.Errorf("partition %d was asked for at %d of %q with %q, want %d and %q", id, got.Offset, got.Topic, got.Reader, offset, note)
		}
	}
}

// TestAdmit checks that what a loop notes about who reads its partitions reaches the next loop, even without a new record, and that a
// partition which is not admitted is neither read nor committed, while the others go on.
func TestAdmit(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			b.produce(10, 0, 1)
			first := newStore()
			run := func(a *admissions, s event.Writer) *running {
				a.asked = map[int]Taken{}
				o := b.defaults(s)
				o.Admit = a.admit
				return start(t, o)
			}
			nobody := &admissions{}
			l := run(nobody, first)
			time.Sleep(10 * time.Second)
			l.stop()
			nobody.wantAsked(t, 0, "")

			one := &admissions{note: "one@1"}
			l = run(one, first)
			time.Sleep(10 * time.Second)
			l.stop()
			one.wantAsked(t, 10, "")

			second := newStore()
			two := &admissions{note: "two", hold: make(chan struct{})}
			b.produce(5, 0, 1)
			l = run(two, second)
			time.Sleep(10 * time.Second)
			two.wantAsked(t, 10, "one@1") // though nothing was written under that note
			b.wantCommitted(map[int]int64{0: 15, 1: 10})
			p := l.Status().Partitions[1]
			if p.State != Waiting || p.Reason != OtherConfiguration || !p.Held || p.Watermark != 10 || p.Lag() != 5 {
				t.Errorf("what is held shows as %+v, want the 5 records that nobody reads", p)
			}
			if age := p.Age(time.Now()); age < 9*time.Second || age > 11*time.Second {
				t.Errorf("the oldest record that nobody reads is %v old, want 10 s", age)
			}
			b.produce(3, 1)
			time.Sleep(20 * time.Second)
			if p := l.Status().Partitions[1]; p.State != Waiting || p.Reason != OtherConfiguration || p.Lag() != 8 {
				t.Errorf("once more has come, what is held shows as %+v", p)
			}
			if problems := l.Status().Problems(time.Now(), 5*time.Second); len(problems) != 1 {
				t.Errorf("problems are %q, want the partition that is held", problems)
			}
			began := time.Now()
			l.stop()
			if took := time.Since(began); took > time.Second {
				t.Errorf("a stop took %v while a partition was held", took)
			}

			three := &admissions{note: "three", hold: make(chan struct{})}
			l = run(three, second)
			time.Sleep(10 * time.Second)
			close(three.hold)
			time.Sleep(10 * time.Second)
			l.stop()
			want := maps.Clone(b.sent)
			b.wantCommitted(want)
			if got := []string{three.asked[0].Reader, three.asked[1].Reader}; got[0] != "two" || got[1] != "one@1" {
				t.Errorf("the partitions came with %q, want the notes of who last read them", got)
			}
			first.wantOnce(t, 20)
			second.wantOnce(t, 13)
		})
	})
}
