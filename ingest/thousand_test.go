package ingest

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// One process reads a topic of 1,000 partitions within 512 MiB, and all of them progress. When a fourth member joins, exactly its share of
// 250 partitions moves; none of the others is taken away or becomes slower. All four members and the Kafka are in this process.
func TestThousandPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector finds what there is with fewer partitions")
	}
	const partitions, most = 1000, 512 << 20
	debug.FreeOSMemory() // left by earlier tests
	inBubble(t, partitions, func(t *testing.T, b *fakeKafka) {
		b.protocol = Consumer
		s, seen := newStore(), &ages{worst: map[int]time.Duration{}}
		stop := b.feed(partitions)
		var members []*thousandth
		join := func() *thousandth {
			m := b.thousandth(s, seen)
			members = append(members, m)
			time.Sleep(40 * time.Second) // eight heartbeats: everything has moved, and the backlog is read
			return m
		}
		alone := join()
		if got := len(alone.assigned()); got != partitions {
			t.Fatalf("a member alone has %d partitions, expected %d", got, partitions)
		}
		for p := range partitions {
			if !s.holds(p, 5) {
				t.Fatalf("partition %d makes no progress beside the others", p)
			}
		}
		if used := memoryInUse(); used > most {
			t.Errorf("%d MiB are in use with one member, at most %d were expected", used>>20, most>>20)
		}
		join()
		join()
		seen.take()
		time.Sleep(20 * time.Second)
		before := worstOf(seen.take(), nil)
		for _, m := range members {
			m.takeRevoked()
		}
		moved := join().assigned()
		var revoked []int
		for _, m := range members {
			revoked = append(revoked, m.takeRevoked()...)
			if got := len(m.assigned()); got != partitions/4 {
				t.Errorf("one of four members has %d partitions, expected %d", got, partitions/4)
			}
		}
		slices.Sort(revoked)
		if len(moved) != partitions/4 || !slices.Equal(moved, revoked) {
			t.Errorf("%d partitions were taken from members and %d are the fourth's; %d were to move, the same", len(revoked), len(moved), partitions/4)
		}
		untouched := worstOf(seen.take(), moved)
		t.Logf("oldest record when durable: %v before the fourth member, %v meanwhile, in partitions that stay", before, untouched)
		if untouched > max(before, time.Second)+time.Second { // two turns of a partition whose member has more than it fetches at once
			t.Errorf("records of partitions that stay were durable after %v as the fourth member came, after %v before", untouched, before)
		}
		used := memoryInUse()
		t.Logf("%d MiB in use with four members", used>>20)
		if used > most {
			t.Errorf("%d MiB are in use with four members, at most %d were expected", used>>20, most>>20)
		}
		each := stop()
		time.Sleep(10 * time.Second)
		for _, m := range members {
			m.stop()
		}
		s.wantOnce(t, partitions*each)
		for p := range partitions {
			b.sent[p] = int64(each)
		}
		b.wantCommitted(b.sent)
	})
}

// thousandth is a member of TestThousandPartitions.
type thousandth struct {
	*running
	mu      sync.Mutex
	revoked []int
}

// thousandth starts a member.
func (b *fakeKafka) thousandth(s *store, seen *ages) *thousandth {
	b.t.Helper()
	m := &thousandth{}
	o := b.defaults(s)
	o.Hooks.Durable = seen.durable
	o.Hooks.Revoked = func(i RevokedInfo) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.revoked = append(m.revoked, i.Partitions...)
	}
	m.running = start(b.t, o)
	return m
}

// takeRevoked returns the partitions that were taken from a member since the last call.
func (m *thousandth) takeRevoked() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	revoked := m.revoked
	m.revoked = nil
	return revoked
}

// feed writes a record to each partition every few seconds, until it is stopped.
func (b *fakeKafka) feed(partitions int) (stop func() (each int)) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done, each := make(chan struct{}), 0
	go func() {
		defer close(done)
		for ; ctx.Err() == nil; each++ {
			records := make([]*kgo.Record, partitions)
			for p := range records {
				records[p] = &kgo.Record{Topic: topic, Partition: int32(p), Value: fmt.Appendf(nil, `{"n":%d}`, each)}
			}
			if err := b.client.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
				b.t.Error(err)
				return
			}
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
			}
		}
	}()
	return sync.OnceValue(func() int { cancel(); <-done; return each })
}

// worstOf returns the maximum of ages, without the partitions in but.
func worstOf(ages map[int]time.Duration, but []int) (worst time.Duration) {
	for p, age := range ages {
		if !slices.Contains(but, p) {
			worst = max(worst, age)
		}
	}
	return worst
}

// memoryInUse returns the bytes of memory that this process has from the system and has not returned, without the program's own pages.
func memoryInUse() uint64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64() - all[1].Value.Uint64()
}
