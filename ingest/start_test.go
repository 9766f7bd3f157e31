package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestLatestBeginsAtTheEndAndRemembersIt(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(10, 0)
	s := newStore()
	o := b.options(s)
	o.Start = Latest
	l := start(t, o)
	eventually(t, "the start is committed", func() bool { return b.committedOffset(0) == 10 })
	l.kill() // before a single record
	b.evict()
	b.produce(5, 0)
	l = start(t, o)
	eventually(t, "the five are committed", func() bool { return b.committedOffset(0) == 15 })
	l.stop()
	s.wantOnce(t, 5)
}

func TestStartAtATime(t *testing.T) {
	b := newBroker(t, 2)
	for i := range 10 {
		b.send(&kgo.Record{Topic: topic, Timestamp: time.UnixMilli(1_700_000_000_000 + int64(i)*1000), Value: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	s := newStore()
	o := b.options(s)
	o.Start = At(time.UnixMilli(1_700_000_000_000 + 6500))
	l := start(t, o)
	eventually(t, "all committed", func() bool { return b.committedOffset(0) == 10 && b.committedOffset(1) == 0 })
	l.stop()
	s.wantOnce(t, 3)
}

func TestNewPartitionIsReadFromItsFirstRecord(t *testing.T) {
	b := newBroker(t, 1)
	b.produce(10, 0)
	s := newStore()
	o := b.options(s)
	o.Start = Latest
	l := start(t, o)
	eventually(t, "the start is committed", func() bool { return b.committedOffset(0) == 10 })
	l.stop()
	more := kmsg.NewCreatePartitionsRequest()
	more.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: topic, Count: 2}}
	if _, err := more.RequestWith(context.Background(), b.client); err != nil {
		t.Fatal(err)
	}
	b.client = b.newClient()
	b.produce(7, 1) // before any member knows of the partition
	l = start(t, o)
	eventually(t, "all of it is written", func() bool { return s.holds(1, 7) })
	l.stop()
	s.wantOnce(t, 7)
}

func TestPartitionAddedInMidStreamIsTakenUp(t *testing.T) {
	b := newBroker(t, 1)
	s := newStore()
	l := start(t, b.options(s))
	eventually(t, "joined", func() bool { return l.Status().Joined })
	more := kmsg.NewCreatePartitionsRequest()
	more.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: topic, Count: 2}}
	if _, err := more.RequestWith(context.Background(), b.client); err != nil {
		t.Fatal(err)
	}
	b.client = b.newClient()
	b.produce(7, 1)
	eventually(t, "all of it is written", func() bool { return s.holds(1, 7) })
	l.stop()
}
