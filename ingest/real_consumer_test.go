package ingest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/ingest/internal/broker"
	"brine/internal/testenv"
)

// realLoop returns options for a loop on a real broker with a protocol.
func realLoop(t *testing.T, brokers []string, topic string, s *store, p GroupProtocol) Options {
	return Options{Kafka: Kafka{Brokers: brokers}, Topic: topic, Group: topic, Schema: schema, Writer: s, GroupProtocol: p,
		CommitInterval: 50 * time.Millisecond, Heartbeat: 100 * time.Millisecond, Logger: testLogger(t)}
}

// configure sets brokers' settings of a topic or a group.
func configure(t *testing.T, admin *kgo.Client, kind kmsg.ConfigResourceType, name string, settings map[string]string) {
	t.Helper()
	alter := kmsg.NewIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	for name, value := range settings {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, &value
		r.Configs = append(r.Configs, c)
	}
	alter.Resources = append(alter.Resources, r)
	if answer, err := alter.RequestWith(t.Context(), admin); err != nil || answer.Resources[0].ErrorCode != 0 {
		t.Fatalf("configuring %s: %+v, %v", name, answer, err)
	}
}

// feed writes a record to each partition of a topic repeatedly, until it is stopped.
func feed(t *testing.T, client *kgo.Client, topic string, partitions int) (stop func() (each int)) {
	t.Helper()
	end, done, each := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(done)
		for tick := time.NewTicker(20 * time.Millisecond); ; each++ {
			select {
			case <-end:
				tick.Stop()
				return
			case <-tick.C:
			}
			var records []*kgo.Record
			for p := range partitions {
				records = append(records, &kgo.Record{Topic: topic, Partition: int32(p), Value: fmt.Appendf(nil, `{"n":%d}`, each)})
			}
			if err := client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	return sync.OnceValue(func() int { close(end); <-done; return each })
}

// settledAll waits until a group has committed the end of every partition.
func settledAll(t *testing.T, l *running, topic string, partitions int) {
	t.Helper()
	c := broker.New(l.Kafka, 5*time.Second, topic)
	defer c.Close()
	ids := broker.Topic{Partitions: partitions}.IDs()
	ends, err := c.Offsets(t.Context(), topic, ids, broker.Newest, broker.Committed)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "all committed", func() bool {
		committed, err := c.Commits(t.Context(), topic, topic, ids)
		return err == nil && !slices.ContainsFunc(ids, func(p int) bool { return committed[p].Offset != ends[p] })
	})
}

// A live group moves from the classic to the consumer protocol and back, member by member, without loss; its partitions move while records
// arrive.
func TestRealGroupChangesItsProtocol(t *testing.T) {
	brokers, topic := testenv.Kafka(t), testenv.Name(t)
	admin := realClient(t, brokers)
	const partitions = 6
	createReal(t, admin, topic, partitions)
	t.Cleanup(func() { deleteReal(t, admin, topic, topic+".dead") })
	s := newStore()
	stop := feed(t, realClient(t, brokers), topic, partitions)
	first, second := start(t, realLoop(t, brokers, topic, s, Classic)), start(t, realLoop(t, brokers, topic, s, Classic))
	both := func() bool { return len(first.assigned()) == 3 && len(second.assigned()) == 3 }
	eventually(t, "two classic members share", both)
	for _, to := range []GroupProtocol{Auto, Classic} {
		first.stop()
		first = start(t, realLoop(t, brokers, topic, s, to))
		eventually(t, "members of two protocols share", both)
		second.stop()
		second = start(t, realLoop(t, brokers, topic, s, to))
		eventually(t, "two members of "+string(to)+" share", both)
		c := broker.New(first.Kafka, 5*time.Second, topic)
		if members, err := c.Members(t.Context(), topic, topic); err != nil || len(members) != 2 || len(members[0].Partitions) != 3 {
			t.Errorf("members by %s: %+v, %v", to, members, err)
		}
		c.Close()
	}
	each := stop()
	settledAll(t, first, topic, partitions)
	first.stop()
	second.stop()
	s.wantOnce(t, partitions*each)
}

// ages are how old each partition's records were, by the broker's clock, when they became durable: the maximum since the last take.
type ages struct {
	mu    sync.Mutex
	worst map[int]time.Duration
}

func (a *ages) durable(i DurableInfo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.worst[i.Partition] = max(a.worst[i.Partition], time.Since(time.UnixMilli(i.Times.First)))
}

func (a *ages) take() map[int]time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	worst := a.worst
	a.worst = map[int]time.Duration{}
	return worst
}

// TestRealPauses lets a member join and be killed repeatedly beside one that stays, with each protocol, while records arrive. It prints how
// old the records of partitions became that moved, and of those that did not, and for comparison of all while nothing changes. The group's
// sessions last 6 s, so most of the time for partitions of a dead member is its detection. BRINE_REBALANCES is the number of rounds, and adds
// a quarter as many with the brokers' default heartbeats and sessions; see make bench-rebalance.
func TestRealPauses(t *testing.T) {
	const heartbeat, session = time.Second, 6 * time.Second
	rounds, err := strconv.Atoi(os.Getenv("BRINE_REBALANCES"))
	quick := err != nil
	if quick {
		rounds = 1
	}
	t.Logf("%-10s %-16s %8s %8s %8s %9s", "protocol", "partitions", "median", "p95", "worst", "target")
	for _, protocol := range []GroupProtocol{Classic, Consumer} {
		t.Run(string(protocol), func(t *testing.T) { realPauses(t, protocol, heartbeat, session, rounds) })
	}
	if !quick {
		t.Run("defaults", func(t *testing.T) { realPauses(t, Consumer, 5*time.Second, 45*time.Second, max(1, rounds/4)) })
	}
}

func realPauses(t *testing.T, protocol GroupProtocol, heartbeat, session time.Duration, rounds int) {
	brokers, topic := testenv.Kafka(t), testenv.Name(t)
	admin := realClient(t, brokers)
	const partitions = 64
	createReal(t, admin, topic, partitions)
	configure(t, admin, kmsg.ConfigResourceTypeTopic, topic, map[string]string{"message.timestamp.type": "LogAppendTime"})
	configure(t, admin, kmsg.ConfigResourceTypeGroupConfig, topic,
		map[string]string{"consumer.heartbeat.interval.ms": strconv.FormatInt(heartbeat.Milliseconds(), 10),
			"consumer.session.timeout.ms": strconv.FormatInt(session.Milliseconds(), 10)})
	t.Cleanup(func() { deleteReal(t, admin, topic, topic+".dead") })
	s, seen := newStore(), &ages{worst: map[int]time.Duration{}}
	options := func() Options {
		o := realLoop(t, brokers, topic, s, protocol)
		o.Heartbeat, o.SessionTimeout = heartbeat, session
		o.Hooks.Durable = seen.durable
		return o
	}
	stop := feed(t, realClient(t, brokers), topic, partitions)
	stays := start(t, options())
	eventually(t, "it has all, and caught up", func() bool {
		lag := int64(0)
		for _, p := range stays.Status().Partitions {
			lag += p.Lag()
		}
		return len(stays.assigned()) == partitions && lag < 10*partitions
	})
	all := map[string][]time.Duration{}
	note := func(change string, moved []int) {
		for p, worst := range seen.take() {
			kind := change
			switch {
			case slices.Contains(moved, p):
				kind += " moved"
			case moved != nil:
				kind += " untouched"
			}
			all[kind] = append(all[kind], worst)
		}
	}
	for range rounds {
		time.Sleep(time.Second) // until what moved has been read
		seen.take()
		time.Sleep(2 * time.Second)
		note("no change", nil)
		comes := start(t, options())
		eventually(t, "two share", func() bool { return len(comes.assigned()) == partitions/2 && len(stays.assigned()) == partitions/2 })
		time.Sleep(time.Second)
		moved := comes.assigned()
		note("joins", moved)
		comes.kill()
		eventually(t, "it has all again", func() bool { return len(stays.assigned()) == partitions })
		time.Sleep(time.Second)
		note("dies", moved)
	}
	each := stop()
	settledAll(t, stays, topic, partitions)
	stays.stop()
	for p := range partitions {
		if !s.holds(p, int64(each)) {
			t.Errorf("partition %d: records are missing", p)
		}
	}
	handover := 3 * time.Second // how long a partition that moves may take once its move is decided
	if heartbeat > time.Second {
		handover = 12 * time.Second
	}
	for _, kind := range []struct {
		name   string
		target time.Duration // of the worst with the consumer protocol
	}{
		{"no change", 0}, {"joins untouched", 100 * time.Millisecond}, {"joins moved", handover},
		{"dies untouched", 100 * time.Millisecond}, {"dies moved", session + handover},
	} {
		d := all[kind.name]
		if len(d) == 0 {
			continue
		}
		slices.Sort(d)
		at := func(share int) time.Duration { return d[min(len(d)-1, len(d)*share/100)].Round(time.Millisecond) }
		target := ""
		if protocol == Consumer && kind.target > 0 {
			if target = fmt.Sprintf("≤ %v ok", kind.target); at(100) > kind.target {
				target = fmt.Sprintf("≤ %v short", kind.target)
				if rounds > 1 { // somebody measures; in a test run others are at work too
					t.Errorf("%s: %v at worst, %v wanted", kind.name, at(100), kind.target)
				}
			}
		}
		t.Logf("%-10s %-16s %8v %8v %8v %9s", protocol, kind.name, at(50), at(95), at(100), target)
	}
}

// A real coordinator gives a static member that left briefly its partitions back, and moves none of the others.
func TestRealStaticConsumer(t *testing.T) {
	brokers, topic := testenv.Kafka(t), testenv.Name(t)
	admin := realClient(t, brokers)
	createReal(t, admin, topic, 4)
	t.Cleanup(func() { deleteReal(t, admin, topic, topic+".dead") })
	s := newStore()
	var other, ours atomic.Int64
	static := func(instance string, n *atomic.Int64) Options {
		o := realMember(t, brokers, topic, instance, s, n)
		o.GroupProtocol = Consumer
		return o
	}
	first, second := start(t, static("pod-0", &other)), start(t, static("pod-1", &ours))
	eventually(t, "both have two", func() bool { return len(first.assigned()) == 2 && len(second.assigned()) == 2 })
	before, all := second.assigned(), other.Load()
	second.stop()
	second = start(t, static("pod-1", &ours))
	eventually(t, "it is back", func() bool { return slices.Equal(second.assigned(), before) })
	if other.Load() != all {
		t.Errorf("the other member was assigned partitions %d times more", other.Load()-all)
	}
}
