package simulate

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
	"brine/ingest"
)

// Builds that are wrong in a known way are found, each by the invariant that it breaks: the checker can fail.
func TestPlantedBugsAreFound(t *testing.T) {
	for _, c := range []struct {
		name, invariant string
		bug             Bug
	}{
		{"commits before settle", "5: ", Bug{Writer: func(w ingest.Writer) ingest.Writer { return hasty{w} }}},
		{"version from the wall clock", "3: ", Bug{Writer: func(w ingest.Writer) ingest.Writer { return clockwork{w} }}},
		{"commits after revoke", "5: ", Bug{Hooks: commitAfterRevoke}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 50; seed++ {
				r := run(t, Draw(seed), c.bug)
				if i := slices.IndexFunc(r.Findings, func(f string) bool { return strings.HasPrefix(f, c.invariant) }); i >= 0 {
					t.Logf("seed %d: %s", seed, r.Findings[i])
					return
				}
			}
			t.Error("50 seeds have not found it")
		})
	}
}

// hasty says that events are durable as soon as they are submitted.
type hasty struct{ ingest.Writer }

func (h hasty) Submit(ctx context.Context, b *event.Batch) event.Flight {
	h.Writer.Submit(ctx, b)
	return landed{}
}

type landed struct{}

func (landed) Wait(context.Context) ([]event.Failure, error) { return nil, nil }

// clockwork writes cells at the time of writing.
type clockwork struct{ ingest.Writer }

func (c clockwork) Submit(ctx context.Context, b *event.Batch) event.Flight {
	for i := range b.Events {
		b.Events[i].Version = time.Now().UnixMilli()
	}
	return c.Writer.Submit(ctx, b)
}

// commitAfterRevoke has a process commit in its next generation what it had of the partitions that it lost, as kafka-go's
// Reader does.
func commitAfterRevoke(w *World, p *Process, o *ingest.Options) {
	var mu sync.Mutex
	reached, lost := map[int]int64{}, map[int]int64{}
	o.Hooks.Position = func(partition int, watermark, _ int64) {
		mu.Lock()
		defer mu.Unlock()
		reached[partition] = watermark
	}
	o.Hooks.Revoked = func(_ int, partitions []int, _ int) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range partitions {
			if offset, ok := reached[id]; ok {
				lost[id] = offset
			}
		}
	}
	o.Hooks.Assigned = func(generation int, partitions []int) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range partitions {
			delete(lost, id)
		}
		q := &kafka.OffsetCommitRequest{GroupID: group, GenerationID: generation, Topics: map[string][]kafka.OffsetCommit{}}
		for id, offset := range lost {
			q.Topics[topic] = append(q.Topics[topic], kafka.OffsetCommit{Partition: id, Offset: offset})
		}
		if len(lost) > 0 && o.Group == group {
			w.lives.Go(func() { commitAs(w, p, q) })
		}
		clear(lost)
	}
}

// commitAs commits as the member that a process is.
func commitAs(w *World, p *Process, q *kafka.OffsetCommitRequest) {
	transport := &kafka.Transport{Dial: p.place.Dial}
	defer transport.CloseIdleConnections()
	if info := w.kafka.GroupInfo(group); info != nil {
		for _, m := range info.Members {
			if m.ClientID == p.Name {
				q.MemberID = m.MemberID
			}
		}
	}
	client := &kafka.Client{Addr: kafka.TCP(w.kafka.ListenAddrs()...), Transport: transport, Timeout: 5 * time.Second}
	_, _ = client.OffsetCommit(context.Background(), q)
}
