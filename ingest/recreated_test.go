package ingest

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// recreate deletes the topic, creates it again, and appends n records to partition 0.
func (b *fakeKafka) recreate(n int) {
	b.t.Helper()
	if err := b.DeleteTopic(topic); err != nil {
		b.t.Fatal(err)
	}
	if err := b.CreateTopic(topic, 1, nil); err != nil {
		b.t.Fatal(err)
	}
	b.client = b.newClient()
	b.sent[0] = 0
	b.produce(n, 0)
}

// commitAs sets the group's offset with the metadata of an earlier commit: brokers drop a group's offsets with the topic at a time of their
// choosing, and a commit in progress meanwhile survives.
func (b *fakeKafka) commitAs(offset int64, metadata string) {
	b.t.Helper()
	b.commitWith(0, offset, &metadata)
}

// The new log has grown past what was committed of the old one: only the topic's id tells them apart.
func TestLongerRecreatedTopicIsKnownByItsID(t *testing.T) {
	for _, c := range []struct {
		policy  Policy
		written int // records of the new topic
	}{{StopAndSay, 0}, {FromEarliest, 50}, {FromLatest, 0}} {
		t.Run(string(c.policy), func(t *testing.T) {
			inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
				b.produce(10, 0)
				l := start(t, b.options(newStore()))
				eventually(t, "committed", func() bool { return b.committedOffset(0) == 10 })
				metadata := b.GroupInfo(group).Commits[topic][0].Metadata
				l.stop()
				b.recreate(50)
				b.commitAs(10, metadata)
				s := newStore()
				o := b.options(s)
				o.OutOfRange = c.policy
				l = start(t, o)
				if c.policy == StopAndSay {
					eventually(t, "it halts and says why", func() bool {
						problems := l.Status().Problems(time.Now(), time.Minute)
						return len(problems) == 1 && strings.Contains(problems[0], "is halted") && strings.Contains(problems[0], "topic_anew: the topic was deleted and recreated since offset 10 was committed (topic-id=")
					})
					b.neverCommits(t, 0, 11, 50*time.Millisecond)
				} else {
					eventually(t, "all of the new topic is committed", func() bool { return b.committedOffset(0) == 50 })
				}
				l.stop()
				s.wantOnce(t, c.written)
			})
		})
	}
}

// TestTopicRecreatedAfterItsOffsetsWereSet checks that an offset that was set counts for the topic of that time only, and that one that is
// set for the new topic says nothing of how far the former one was written.
func TestTopicRecreatedAfterItsOffsetsWereSet(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		r := &reaching{t: t, b: b}
		r.note, r.asked = "one", map[int]Taken{}
		o := b.defaults(newStore())
		o.Admit = r.admit
		l := start(t, o)
		time.Sleep(time.Minute)
		l.stop()
		r.set(4)
		metadata := b.GroupInfo(group).Commits[topic][0].Metadata
		b.recreate(50)
		b.commitAs(4, metadata)
		l = start(t, o)
		time.Sleep(time.Minute)
		if problems := l.Status().Problems(time.Now(), time.Minute); len(problems) != 1 || !strings.Contains(problems[0], "topic_anew") {
			t.Errorf("with an offset of the former topic it reports %q", problems)
		}
		l.stop()
		r.set(7)
		l = start(t, o)
		time.Sleep(time.Minute)
		l.stop()
		if got := r.asked[0]; got.Offset != 7 || got.Reader != "one" || got.Reach != 50 || !got.Moved {
			t.Errorf("the new topic is taken as %+v, want all of it as if it may be written", got)
		}
	})
}

// The same while the loop runs: what it reads before it learns of the change does not determine where it resumes.
func TestTopicRecreatedWhileRunning(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		b.produce(10, 0)
		s := newStore()
		o := b.defaults(s)
		o.OutOfRange = FromEarliest
		var down atomic.Bool // so that it does not see the topic while it is missing or short
		o.Kafka.Dial = unless(&down, o.Kafka.Dial)
		l := start(t, o)
		time.Sleep(10 * time.Second)
		b.wantCommitted(b.sent)
		down.Store(true)
		l.cluster.Cut()
		b.recreate(50)
		down.Store(false)
		time.Sleep(time.Minute)
		if first, tenth := s.times(place{0, 0}), s.times(place{0, 9}); first != 2 || tenth != 2 || !s.holds(0, 50) {
			t.Errorf("offset 0 was written %d times and offset 9 %d times, expected both topics' records", first, tenth)
		}
		l.stop()
		b.wantCommitted(b.sent)
	})
}

// A missing topic is waited for, and looking for it does not create it.
func TestTopicGoneIsWaitedForAndNotMade(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, b *fakeKafka) {
		var mu sync.Mutex
		makes := 0
		b.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
			b.KeepControl()
			if r.(*kmsg.MetadataRequest).AllowAutoTopicCreation {
				mu.Lock()
				makes++
				mu.Unlock()
			}
			return nil, nil, false
		})
		s := newStore()
		o := b.defaults(s)
		o.OutOfRange = FromEarliest
		l := start(t, o)
		time.Sleep(10 * time.Second)
		if err := b.DeleteTopic(topic); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if problems := l.Status().Problems(time.Now(), time.Minute); len(problems) != 1 || !strings.Contains(problems[0], "partition 0 is waiting") {
			t.Errorf("problems %q without the topic, expected partition 0", problems)
		}
		mu.Lock()
		if makes > 0 || b.TopicInfo(topic) != nil {
			t.Errorf("%d look-ups would have made the topic", makes)
		}
		mu.Unlock()
		if err := b.CreateTopic(topic, 1, nil); err != nil {
			t.Fatal(err)
		}
		b.client = b.newClient()
		b.produce(10, 0)
		time.Sleep(time.Minute)
		l.stop()
		b.wantCommitted(b.sent)
		if n := s.times(place{0, 0}); !s.holds(0, 10) || n > 2 { // twice if it was read before it was known to be another topic
			t.Errorf("the first record of the new topic was written %d times, expected all of them once or twice", n)
		}
	})
}
