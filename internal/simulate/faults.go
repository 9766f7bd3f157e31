package simulate

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"brine/hbase/embedded"
	"brine/internal/memnet"
)

// trouble is a fault in progress: what it acts on, its random numbers, and its length.
type trouble struct {
	*World
	rng    *rand.Rand
	length time.Duration
}

// faults are the possible faults, by name. Each returns when it is over, with everything that it broke repaired.
var faults map[string]func(*trouble)

func init() {
	faults = map[string]func(*trouble){
		"kill process":     func(t *trouble) { s := t.slot(); s.kill(); t.last(); s.start() },
		"stop process":     func(t *trouble) { s := t.slot(); s.stop(); t.last(); s.start() },
		"freeze process":   func(t *trouble) { t.process((*memnet.Place).Freeze, (*memnet.Place).Thaw) },
		"delay process":    func(t *trouble) { t.process(t.delayed(), undelayed) },
		"cut process":      func(t *trouble) { t.repeatedly(5, func() { t.process((*memnet.Place).Cut, nil) }) },
		"rebalance storm":  (*trouble).storm,
		"leader move":      func(t *trouble) { t.repeatedly(4, t.kafka.ShufflePartitionLeaders) },
		"coordinator move": func(t *trouble) { t.repeatedly(2, t.kafka.RehashCoordinators) },
		"broker down":      func(t *trouble) { t.broker((*memnet.Place).Down, (*memnet.Place).Up) },
		"no broker":        func(t *trouble) { t.everywhere(t.kafka.places) },
		"no store":         func(t *trouble) { t.everywhere(t.store.all()) },
		"broker frozen":    func(t *trouble) { t.broker((*memnet.Place).Freeze, (*memnet.Place).Thaw) },
		"broker slow":      func(t *trouble) { t.broker(t.delayed(), undelayed) },
		"broker mute":      func(t *trouble) { t.repeatedly(6, func() { t.broker(t.losing(), nil) }) },
		"group errors": func(t *trouble) {
			t.answering(group, "", groupErrors, kmsg.Heartbeat, kmsg.OffsetCommit, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetFetch)
		},
		"fetch errors":     func(t *trouble) { t.answering("", topic, fetchErrors, kmsg.Fetch, kmsg.ListOffsets) },
		"no dead letters":  func(t *trouble) { t.answering("", deadTopic, produceErrors, kmsg.Produce) },
		"split":            func(t *trouble) { t.repeatedly(2, t.split) },
		"merge":            func(t *trouble) { t.repeatedly(2, t.merge) },
		"move":             func(t *trouble) { t.repeatedly(6, t.move) },
		"kill server":      func(t *trouble) { t.server((*embedded.Node).Kill) },
		"stop server":      func(t *trouble) { t.server((*embedded.Node).Stop) },
		"kill all servers": (*trouble).killAll,
		"kill master":      (*trouble).killMaster,
		"master waits":     func(t *trouble) { release := t.store.HoldMaster(); t.last(); release() },
		"no meta":          func(t *trouble) { fix := t.store.CutMeta(); t.last(); fix() },
		"server frozen":    func(t *trouble) { t.serverNet((*memnet.Place).Freeze, (*memnet.Place).Thaw) },
		"server slow":      func(t *trouble) { t.serverNet(t.narrow(), func(p *memnet.Place) { p.Narrow(0) }) },
		"server delayed":   func(t *trouble) { t.serverNet(t.delayed(), undelayed) },
		"server mute":      func(t *trouble) { t.repeatedly(8, func() { t.serverNet(t.losing(), nil) }) },
		"answers twice": func(t *trouble) {
			t.serverNet(func(p *memnet.Place) { p.Repeat(0.5) }, func(p *memnet.Place) { p.Repeat(0) })
		},
		"server's clock": (*trouble).clock,
		"too busy": func(t *trouble) {
			t.multi(t.excepting("CallQueueTooBigException", "CallDroppedException", "RegionTooBusyException"))
		},
		"regions not there": func(t *trouble) {
			t.multi(t.regions("NotServingRegionException", "RegionOpeningException", "RegionTooBusyException"))
		},
		"applied, no answer": func(t *trouble) {
			t.multi(func() *embedded.Outcome {
				return &embedded.Outcome{Apply: true, Drop: t.rng.IntN(2) == 0, Silent: true}
			})
		},
		"slow store": func(t *trouble) {
			t.multi(func() *embedded.Outcome { return &embedded.Outcome{Delay: t.upTo(10 * time.Second)} })
		},
		"table disabled": func(t *trouble) { t.multi(t.excepting("TableNotEnabledException")) },

		ofConsumers + " take over": (*trouble).takeOver,
		ofConsumers + " are refused": func(t *trouble) {
			t.answering(group, "", consumerErrors, kmsg.ConsumerGroupHeartbeat, kmsg.OffsetCommit)
		},

		ofAsked + " pause":     (*trouble).pause,
		ofAsked + " slow down": (*trouble).slowDown,

		ofReload + " live":    (*trouble).reloadLive,
		ofReload + " drain":   (*trouble).reloadDrain,
		ofReload + " filter":  (*trouble).reloadFilter,
		ofReload + " refused": (*trouble).reloadRefused,

		ofRegistry + " away":    func(t *trouble) { t.schemas(answerAway) },
		ofRegistry + " hangs":   func(t *trouble) { t.schemas(answerNever) },
		ofRegistry + " garbage": func(t *trouble) { t.schemas(answerGarbage) },
		ofRegistry + " refuses": func(t *trouble) { t.schemas(answerRefusal) },
		ofRegistry + " forgets": func(t *trouble) {
			t.length = min(t.length, unknownAfter/2) // any longer, and a forgotten id is rightly taken for unknown
			t.schemas(answerUnknown)
		},
	}
}

var (
	groupErrors = []*kerr.Error{kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.RebalanceInProgress,
		kerr.UnknownMemberID, kerr.RequestTimedOut}
	consumerErrors = []*kerr.Error{kerr.FencedMemberEpoch, kerr.UnknownMemberID, kerr.NotCoordinator, kerr.CoordinatorLoadInProgress,
		kerr.CoordinatorNotAvailable}
	fetchErrors = []*kerr.Error{kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.UnknownServerError, kerr.KafkaStorageError,
		kerr.OffsetNotAvailable}
	produceErrors = []*kerr.Error{kerr.NotEnoughReplicasAfterAppend, kerr.NotEnoughReplicas, kerr.NotLeaderForPartition, kerr.RequestTimedOut}
)

func (t *trouble) last() { time.Sleep(t.length) }

func (t *trouble) upTo(d time.Duration) time.Duration {
	return 1 + time.Duration(t.rng.Int64N(int64(d)))
}

func (t *trouble) slot() *slot { return t.slots[t.rng.IntN(len(t.slots))] }

// repeatedly calls f n times within the fault's length.
func (t *trouble) repeatedly(n int, f func()) {
	whole := t.length
	t.length /= time.Duration(n)
	for range n {
		f()
		t.last()
	}
	t.length = whole
}

// on begins something at a place, and ends it when the fault is over; if end is nil, it returns at once.
func (t *trouble) on(p *memnet.Place, begin, end func(*memnet.Place)) {
	begin(p)
	if end != nil {
		t.last()
		end(p)
	}
}

func (t *trouble) process(begin, end func(*memnet.Place)) {
	if p := t.slot().running(); p != nil {
		t.on(p.place, begin, end)
	}
}

// everywhere refuses connections at all places.
func (t *trouble) everywhere(places []*memnet.Place) {
	for _, p := range places {
		p.Down()
	}
	t.last()
	for _, p := range places {
		p.Up()
	}
}

func (t *trouble) broker(begin, end func(*memnet.Place)) {
	t.on(t.kafka.places[t.rng.IntN(len(t.kafka.places))], begin, end)
}

func (t *trouble) node() *embedded.Node {
	nodes := t.store.Nodes()
	return nodes[t.rng.IntN(len(nodes))]
}

func (t *trouble) serverNet(begin, end func(*memnet.Place)) {
	t.on(t.store.place(t.node()), begin, end)
}

func (t *trouble) delayed() func(*memnet.Place) {
	most := t.upTo(4 * time.Second)
	return func(p *memnet.Place) { p.Delay(most) }
}

func undelayed(p *memnet.Place) { p.Delay(0) }

func (t *trouble) narrow() func(*memnet.Place) {
	rate := 2000 + t.rng.IntN(20_000)
	return func(p *memnet.Place) { p.Narrow(rate) }
}

func (t *trouble) losing() func(*memnet.Place) {
	n := 1 + t.rng.IntN(3)
	return func(p *memnet.Place) { p.Lose(n) }
}

// guest is the name prefix of members that join once. By the consumer protocol they are not static, because kfake keeps a static member's
// partitions forever instead of for a session.
const guest = "guest"

// invite makes a guest join the group.
func (w *World) invite(file settings) *slot {
	s := &slot{world: w, file: file}
	w.mu.Lock()
	w.guests = append(w.guests, s)
	s.name = guest + string(rune('A'+len(w.guests)%26))
	w.mu.Unlock()
	s.start()
	return s
}

// storm makes members join the group and leave it, or die.
func (t *trouble) storm() {
	var guests sync.WaitGroup
	n := 2 + t.rng.IntN(5)
	t.repeatedly(n, func() {
		file, stay, dies := t.slot().reads(), t.upTo(20*time.Second), t.rng.IntN(2) == 0
		s := t.invite(file)
		guests.Go(func() {
			time.Sleep(stay)
			if dies {
				s.kill()
			} else {
				s.stop()
			}
		})
	})
	guests.Wait()
}

// answering makes the brokers answer some of the requests about a group or a topic with errors.
func (t *trouble) answering(group, topic string, errs []*kerr.Error, keys ...kmsg.Key) {
	part := 0.1 + 0.9*t.rng.Float64()
	luck := sync.Mutex{}
	var all []kfake.Fault
	for _, err := range errs {
		all = append(all, kfake.Fault{Keys: keys, Group: group, Topic: topic, Err: err, Count: -1, When: func(kmsg.Request) bool {
			luck.Lock()
			defer luck.Unlock()
			return t.rng.Float64() < part/float64(len(errs))
		}})
	}
	h := t.kafka.Fault(all...)
	t.last()
	h.Remove()
}
