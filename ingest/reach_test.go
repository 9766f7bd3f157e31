package ingest

import (
	"testing"
	"time"

	"brine/event"
	"brine/ingest/offsets"
)

// reaching records how far the partitions that a loop takes may be written.
type reaching struct {
	t *testing.T
	b *fakeKafka
	s *store
	*running
	admissions
}

// begin starts a loop that commits only when it must, and checks how far it believes that each partition is written.
func (r *reaching) begin(reader string, reach int64) {
	r.t.Helper()
	r.note, r.asked = reader, map[int]Taken{}
	o := r.b.defaults(event.Writer(r.s))
	o.CommitInterval, o.Admit = time.Hour, r.admit
	r.running = start(r.t, o)
	time.Sleep(20 * time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range 2 {
		if got := r.asked[id].Reach; got != reach {
			r.t.Errorf("partition %d is taken at %d as written before %d, want %d", id, r.asked[id].Offset, got, reach)
		}
	}
}

// die kills the loop, and waits until the group has noticed.
func (r *reaching) die() {
	r.kill()
	time.Sleep(2 * time.Minute)
}

// TestReach checks that what was submitted behind the last commit, by whoever and however its process ended, is known to those who take the
// partition, and that nothing counts as submitted after a stop that has settled all.
func TestReach(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			r := &reaching{t: t, b: b, s: newStore()}
			b.produce(10, 0, 1)
			r.begin("one", 0)
			r.stop()
			b.produce(5, 0, 1) // nobody reads them meanwhile
			r.begin("one", 10)
			b.produce(5, 0, 1)
			time.Sleep(10 * time.Second)
			r.die()
			for id := range 2 { // that one begins to be read is committed together with what has been read of the other
				if got := b.committedOffset(id); got >= 20 {
					t.Errorf("partition %d: committed %d, of what was submitted last", id, got)
				}
			}
			b.produce(5, 0, 1)
			r.begin("one", 25)
			r.stop()
			b.wantCommitted(b.sent)
			r.begin("one", 25)
			r.stop()
		})
	})
}

// TestReachOutlivesAStop checks that what a killed process may have written is still known after one that followed it has stopped before it
// has come that far, and that a process which only begins to read notes who it is, so that the next one knows.
func TestReachOutlivesAStop(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			r := &reaching{t: t, b: b, s: newStore()}
			r.begin("one", 0)
			r.stop()
			r.begin("one", 0)
			b.produce(20, 0, 1)
			time.Sleep(10 * time.Second)
			r.die()
			stuck := make(chan struct{})
			r.s.gate = func(int) <-chan struct{} { return stuck }
			r.begin("two", 20)
			r.cancel()
			time.Sleep(time.Minute)
			close(stuck)
			<-r.done
			b.produce(5, 0, 1)
			r.s.gate = nil
			r.begin("three", 20)
			if got := r.asked[0].Reader; got != "two" {
				t.Errorf("the partition was read by %q, want the one that has not committed anything more", got)
			}
			r.die()
			r.begin("four", 25)
			if got := r.asked[0].Reader; got != "three" {
				t.Errorf("the partition was read by %q, want the one that was killed", got)
			}
			r.stop()
			b.wantCommitted(b.sent)
		})
	})
}

// set sets the offsets of all partitions, as brine offsets set does.
func (r *reaching) set(offset int64) {
	r.t.Helper()
	o := r.b.defaults(nil)
	c := offsets.Open(o.Kafka, time.Minute)
	defer c.Close()
	g, err := c.Group(r.t.Context(), group, topic)
	if err != nil {
		r.t.Fatal(err)
	}
	to := map[int]int64{}
	for id := range g.Ends {
		to[id] = offset
	}
	moves, err := g.Moves(to, nil)
	if err != nil || len(moves) != len(to) {
		r.t.Fatalf("moves %+v, %v", moves, err)
	}
	if err := c.Set(r.t.Context(), g, moves); err != nil {
		r.t.Fatal(err)
	}
}

// taken checks what the partitions of the loop that began last came with.
func (r *reaching) taken(offset int64, reader string, moved bool) {
	r.t.Helper()
	r.wantAsked(r.t, offset, reader)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range 2 {
		if r.asked[id].Moved != moved {
			r.t.Errorf("partition %d: its offset was set: %v, want %v", id, !moved, moved)
		}
	}
}

// TestOffsetsThatAreSetKeepWhoHasRead checks that after offsets were set, forward, back, or one after the other, the next loop learns who has
// read before and how far, that they were set, and learns the latter only until it has read on. After a commit of another program it
// learns that nothing is known.
func TestOffsetsThatAreSetKeepWhoHasRead(t *testing.T) {
	eachProtocol(t, func(t *testing.T, protocol GroupProtocol) {
		inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
			b.protocol = protocol
			r := &reaching{t: t, b: b, s: newStore()}
			b.produce(10, 0, 1)
			r.begin("one", 0)
			r.taken(0, "", false) // nothing was committed
			r.stop()
			b.produce(10, 0, 1)
			r.set(15) // forward
			r.begin("one", 15)
			r.taken(15, "one", true)
			r.stop()
			r.begin("one", 20)
			r.taken(20, "one", false)
			r.stop()
			r.set(4) // back
			r.set(2)
			r.set(6)
			r.begin("two", 20)
			r.taken(6, "one", true)
			b.produce(5, 0, 1)
			time.Sleep(10 * time.Second)
			r.die()
			b.produce(5, 0, 1)
			r.set(3) // nobody has said how far it has read
			r.begin("three", 30)
			r.taken(3, "two", true)
			r.stop()
			for id := range 2 {
				text := "committed by another program"
				b.commitWith(int32(id), 8, &text)
			}
			r.begin("three", 30)
			r.taken(8, "", true)
			r.stop()
			b.wantCommitted(b.sent)
		})
	})
}
