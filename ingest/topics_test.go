package ingest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/event"
)

// topicStore is a Writer in memory that knows the topics of records.
type topicStore struct {
	mu      sync.Mutex
	written map[string]int // topic/partition:offset, how often
}

func newTopicStore() *topicStore { return &topicStore{written: map[string]int{}} }

func (s *topicStore) Release() {}
func (s *topicStore) Hurry()   {}

func (s *topicStore) Submit(_ context.Context, b *event.Batch) event.Flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range b.Events {
		s.written[fmt.Sprintf("%s/%d:%d", e.Record.Topic, e.Record.Partition, e.Record.Offset)]++
	}
	return durableFlight{}
}

type durableFlight struct{}

func (durableFlight) Wait(context.Context, event.Until) (event.Outcome, error) {
	return event.Outcome{}, nil
}

// of returns the number of a topic's records, each counted once.
func (s *topicStore) of(topic string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := range s.written {
		if strings.HasPrefix(at, topic+"/") {
			n++
		}
	}
	return n
}

// create creates a topic and appends n records to each of its partitions.
func (b *fakeKafka) create(name string, partitions, n int) {
	b.t.Helper()
	if err := b.CreateTopic(name, int32(partitions), nil); err != nil {
		b.t.Fatal(err)
	}
	b.appendTo(name, partitions, n)
}

func (b *fakeKafka) appendTo(name string, partitions, n int) {
	b.t.Helper()
	client := b.newClient()
	for p := range partitions {
		for i := range n {
			r := &kgo.Record{Topic: name, Partition: int32(p), Value: fmt.Appendf(nil, `{"n":%d}`, i)}
			if err := client.ProduceSync(context.Background(), r).FirstErr(); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// committedOf returns how many records of a topic are committed, over all partitions.
func (b *fakeKafka) committedOf(name string) (n int64) {
	if info := b.GroupInfo(group); info != nil {
		for _, c := range info.Commits[name] {
			n += c.Offset
		}
	}
	return n
}

// several returns options for these topics.
func (b *fakeKafka) several(w event.Writer, t Topics) Options {
	o := b.defaults(w)
	o.Topic, o.Topics, o.Window = "", &t, 4
	return o
}

// shop matches shop.… but no dead-letter topics.
func shop(name string) bool {
	return regexp.MustCompile(`^shop\..*$`).MatchString(name) && !strings.HasSuffix(name, DeadLetterSuffix)
}

func TestNamedTopicsAreRead(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.create("shop.a", 3, 10)
		b.create("shop.b", 1, 20)
		b.create("shop.c", 1, 5) // read by nobody
		s := newTopicStore()
		o := b.several(s, Topics{Names: []string{"shop.b", "shop.a"}})
		var revoked atomic.Int64
		o.Hooks.Revoked = func(i RevokedInfo) { revoked.Add(int64(len(i.Partitions))) }
		l := start(t, o)
		time.Sleep(20 * time.Second)
		var names []string
		status := l.Status()
		for _, p := range status.Partitions {
			names = append(names, status.Name(p))
		}
		if want := []string{"topic shop.a, partition 0", "topic shop.a, partition 1", "topic shop.a, partition 2", "topic shop.b, partition 0"}; !slices.Equal(names, want) {
			t.Errorf("partitions %q, expected %q", names, want)
		}
		l.stop()
		if s.of("shop.a") != 30 || s.of("shop.b") != 20 || s.of("shop.c") != 0 || b.committedOf("shop.a") != 30 || b.committedOf("shop.b") != 20 || revoked.Load() != 4 {
			t.Errorf("written %v, committed %d and %d, revoked %d", len(s.written), b.committedOf("shop.a"), b.committedOf("shop.b"), revoked.Load())
		}
		if b.TopicInfo("shop.a.dead") == nil || b.TopicInfo("shop.b.dead") == nil {
			t.Error("a topic of dead letters is missing")
		}
	})
}

// A topic created while the loop runs is found; what was written to it before and in between is not lost, although the group begins at the
// latest record. Dead letters, Kafka's own topics and others are not read. Committed offsets survive a restart.
func TestNewTopicIsReadFromItsFirstRecord(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.create("shop.a", 2, 10)
		b.create("shop.a.dead", 1, 3)
		b.create("__shop.own", 1, 3)
		s := newTopicStore()
		o := b.several(s, Topics{Match: shop})
		o.Start = Latest
		l := start(t, o)
		time.Sleep(20 * time.Second)
		if n := s.of("shop.a"); n != 0 || b.committedOf("shop.a") != 20 {
			t.Errorf("%d records were read from the latest, %d committed; expected none and 20", n, b.committedOf("shop.a"))
		}
		b.create("shop.b", 3, 10)
		b.appendTo("shop.a", 2, 5)
		time.Sleep(time.Minute)
		if s.of("shop.b") != 30 || s.of("shop.a") != 10 {
			t.Errorf("%d of the new topic and %d of the old are read, expected 30 and 10", s.of("shop.b"), s.of("shop.a"))
		}
		l.kill()
		b.create("shop.c", 1, 7) // while nobody looks
		b.appendTo("shop.b", 3, 5)
		again := newTopicStore()
		o.Writer = again
		l = start(t, o)
		time.Sleep(2 * time.Minute)
		l.stop()
		if again.of("shop.c") != 7 || again.of("shop.b") != 15 || again.of("shop.a") != 0 {
			t.Errorf("after the restart %d, %d and %d records are read, expected 7, 15 and 0", again.of("shop.c"), again.of("shop.b"), again.of("shop.a"))
		}
		for _, name := range []string{"shop.a.dead", "__shop.own", topic} {
			if s.of(name)+again.of(name) > 0 {
				t.Errorf("topic %s was read", name)
			}
		}
	})
}

// While no topic matches, the loop is a member and waits.
func TestNothingMatchesYet(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		s := newTopicStore()
		l := start(t, b.several(s, Topics{Match: shop}))
		time.Sleep(20 * time.Second)
		if status := l.Status(); !status.Joined || status.NoTopic || len(status.Partitions) > 0 || len(status.Problems(time.Now(), time.Second)) > 0 {
			t.Errorf("status %+v", status)
		}
		b.create("shop.a", 2, 10)
		time.Sleep(time.Minute)
		if s.of("shop.a") != 20 {
			t.Errorf("%d of 20 records are read", s.of("shop.a"))
		}
		l.stop()
	})
}

// Of two members, one has seen the new topic; the other has not, and leads the group. The topic's records are read at once, and then by
// both.
func TestOnlyOneMemberHasSeenTheNewTopic(t *testing.T) {
	for _, leader := range []string{"blind", "seeing"} {
		t.Run(leader, func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
				b.create("shop.a", 2, 10)
				s := newTopicStore()
				var sees atomic.Bool
				blind := b.several(s, Topics{Match: func(name string) bool { return shop(name) && (sees.Load() || name != "shop.b") }})
				seeing := b.several(s, Topics{Match: shop})
				order := []Options{blind, seeing}
				if leader == "seeing" {
					slices.Reverse(order)
				}
				first := start(t, order[0])
				time.Sleep(10 * time.Second)
				second := start(t, order[1])
				time.Sleep(30 * time.Second)
				b.create("shop.b", 4, 10)
				time.Sleep(time.Minute)
				if s.of("shop.b") != 40 || s.of("shop.a") != 20 {
					t.Errorf("%d and %d of 40 and 20 records are read while one member has seen the topic", s.of("shop.b"), s.of("shop.a"))
				}
				sees.Store(true)
				b.appendTo("shop.b", 4, 10)
				time.Sleep(time.Minute)
				for _, l := range []*running{first, second} {
					if n := len(l.Status().Partitions); n != 3 {
						t.Errorf("a member has %d of 6 partitions, expected 3", n)
					}
				}
				first.stop()
				second.stop()
				if s.of("shop.b") != 80 || b.committedOf("shop.b") != 80 || b.committedOf("shop.a") != 20 {
					t.Errorf("%d read, %d and %d committed", s.of("shop.b"), b.committedOf("shop.b"), b.committedOf("shop.a"))
				}
			})
		})
	}
}

// A deleted topic is dropped and holds up nothing; a later one of the same name begins at its first record.
func TestTopicThatMatchesIsDeleted(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.create("shop.a", 1, 10)
		b.create("shop.b", 1, 10)
		s := newTopicStore()
		o := b.several(s, Topics{Match: shop})
		o.OutOfRange = FromEarliest
		l := start(t, o)
		time.Sleep(20 * time.Second)
		if err := b.DeleteTopic("shop.b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if status := l.Status(); len(status.Partitions) != 1 || len(status.Problems(time.Now(), time.Second)) > 0 {
			t.Errorf("once a topic is deleted: %+v", status)
		}
		b.create("shop.b", 1, 15)
		b.appendTo("shop.a", 1, 5)
		time.Sleep(time.Minute)
		l.stop()
		if s.of("shop.a") != 15 || s.of("shop.b") != 15 {
			t.Errorf("%d and %d of 15 and 15 records are read", s.of("shop.a"), s.of("shop.b"))
		}
	})
}

// A topic may have its own start, which applies while nothing of it is committed; a topic added later begins at its first record.
func TestStartOfATopic(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		for _, name := range []string{"shop.a", "shop.b", "shop.c", "shop.d"} {
			b.create(name, 1, 10)
		}
		s := newTopicStore()
		own := map[string]Position{"shop.b": Earliest, "shop.d": Latest}
		o := b.several(s, Topics{Names: []string{"shop.a", "shop.b"}, Start: own})
		o.Start = Latest
		l := start(t, o)
		time.Sleep(20 * time.Second)
		l.stop()
		if s.of("shop.a") != 0 || s.of("shop.b") != 10 {
			t.Errorf("%d and %d records are read, expected 0 and 10", s.of("shop.a"), s.of("shop.b"))
		}
		o.Topics = &Topics{Names: []string{"shop.a", "shop.b", "shop.c", "shop.d"}, Start: own}
		l = start(t, o)
		time.Sleep(20 * time.Second)
		l.stop()
		if s.of("shop.a") != 0 || s.of("shop.b") != 10 || s.of("shop.c") != 10 || s.of("shop.d") != 0 {
			t.Errorf("%d, %d, %d and %d records are read, expected 0, 10, 10 and 0", s.of("shop.a"), s.of("shop.b"), s.of("shop.c"), s.of("shop.d"))
		}
	})
}

// A topic that is missing at startup is awaited, and then begins at its first record whatever the start is.
func TestTopicThatWasMissingBeginsAtItsFirstRecord(t *testing.T) {
	for _, several := range []bool{false, true} {
		inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
			b.create("shop.a", 1, 10)
			s := newTopicStore()
			o := b.several(s, Topics{Names: []string{"shop.a", "shop.late"}, Start: map[string]Position{"shop.late": Latest}})
			if !several {
				o.Topics, o.Topic = nil, "shop.late"
			}
			o.Start = Latest
			o.AwaitTopic = func(_ context.Context, missing error) error {
				if !errors.Is(missing, ErrNoTopic) || !strings.Contains(missing.Error(), `topic "shop.late": no such topic`) {
					t.Errorf("asked about %v", missing)
				}
				b.create("shop.late", 1, 10)
				return nil
			}
			l := start(t, o)
			time.Sleep(20 * time.Second)
			l.stop()
			if s.of("shop.late") != 10 || s.of("shop.a") != 0 {
				t.Errorf("several %t: %d and %d records are read, expected 10 and 0", several, s.of("shop.late"), s.of("shop.a"))
			}
		})
	}
}

// Partitions added while a member has none begin at their first record, although the member has committed nothing.
func TestAddedPartitionsOfAMemberWithNone(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s := newTopicStore()
		o := b.defaults(s)
		o.Start = Latest
		one, two := start(t, o), start(t, o)
		time.Sleep(30 * time.Second)
		more := kmsg.NewCreatePartitionsRequest()
		more.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: topic, Count: 2}}
		if _, err := more.RequestWith(t.Context(), b.client); err != nil {
			t.Fatal(err)
		}
		client := b.newClient()
		for p := range int32(2) {
			if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Partition: p, Value: []byte(`{"n":1}`)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(30 * time.Second)
		one.stop()
		two.stop()
		if s.of(topic) != 2 {
			t.Errorf("%v are read, expected one record of each partition", s.written)
		}
	})
}

// Rejected records of a topic created later go to its own dead-letter topic, which is created with the first of them.
func TestLateTopicHasDeadLetters(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		s := newTopicStore()
		l := start(t, b.several(s, Topics{Match: shop}))
		time.Sleep(10 * time.Second)
		b.create("shop.a", 1, 3)
		client := b.newClient()
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "shop.a", Value: []byte("not json")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l.stop()
		if info := b.PartitionInfo("shop.a.dead", 0); info == nil || info.HighWatermark != 1 || b.committedOf("shop.a") != 4 || s.of("shop.a.dead") != 0 {
			t.Errorf("dead letters %+v, %d committed", info, b.committedOf("shop.a"))
		}
	})
}
