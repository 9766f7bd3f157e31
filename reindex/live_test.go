package reindex

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/internal/backoff"
	"brine/sink"
)

// committed returns the offsets of a live group.
func (w *world) committed(half string) func(context.Context) (map[int]int64, error) {
	return func(ctx context.Context) (map[int]int64, error) {
		asked := map[string][]int{w.name: {0, 1, 2}}
		resp, err := w.offsets.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: w.name + "." + half, Topics: asked})
		if err != nil {
			return nil, err
		}
		at := map[int]int64{0: 0, 1: 0, 2: 0}
		for _, p := range resp.Topics[w.name] {
			at[p.Partition] = max(0, p.CommittedOffset)
		}
		return at, nil
	}
}

// live runs the pipeline until the function that it returns is called.
func (w *world) live() (stop func()) {
	w.t.Helper()
	mutator, err := w.client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		w.t.Fatal(err)
	}
	rows, err1 := sink.New(sink.HBase(mutator), w.source.Rows)
	docs, err2 := indexer.New(w.engine, w.source.Documents)
	if err := errors.Join(err1, err2); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for half, writer := range map[string]event.Writer{"rows": rows, "documents": docs} {
		o := w.ingestOptions(half)
		o.Writer = writer
		loop, err := ingest.New(o)
		if err != nil {
			w.t.Fatal(err)
		}
		running.Go(func() {
			if err := loop.Run(ctx); err != nil {
				w.t.Errorf("%s: %v", half, err)
			}
		})
	}
	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
		docs.Close()
	})
}

// filled returns a world with an index in this process, into which the live loops have written some changes and continue to write.
func filled(t *testing.T, changes indexer.Changes, n int) *world {
	t.Helper()
	w := newWorld(t, embeddedIndex, changes)
	t.Cleanup(w.live())
	w.publish(rand.New(rand.NewPCG(1, 1)), n)
	w.settled()
	return w
}

// publish appends changes of some orders: most carry some fields, some are late, some delete.
func (w *world) publish(r *rand.Rand, n int) {
	w.t.Helper()
	var out []*kgo.Record
	for range n {
		w.at++
		id := fmt.Sprintf("o%03d", r.IntN(700))
		text := fmt.Sprintf(`{"id":%q,"at":%d`, id, w.at-int64(r.IntN(2))*int64(r.IntN(500))*1000)
		if r.IntN(3) > 0 {
			text += fmt.Sprintf(`,"status":"s%d"`, r.IntN(5))
		}
		if r.IntN(2) > 0 {
			text += fmt.Sprintf(`,"note":"some words %d"`, r.IntN(100))
		}
		if r.IntN(2) > 0 {
			text += fmt.Sprintf(`,"total":%d`, r.IntN(1e6))
		}
		if r.IntN(10) == 0 {
			text += fmt.Sprintf(`,"gone":%v`, r.IntN(2) > 0)
		}
		h := fnv.New32a()
		h.Write([]byte(id))
		out = append(out, &kgo.Record{Topic: w.name, Partition: int32(h.Sum32() % partitions), Value: []byte(text + "}"), Timestamp: time.UnixMilli(w.at)})
	}
	if err := w.kafka.ProduceSync(context.Background(), out...).FirstErr(); err != nil {
		w.t.Error(err)
	}
}

// behind returns the number of records that the slower of the live loops has not yet committed.
func (w *world) behind(ctx context.Context) (int64, error) {
	asked := []kafka.OffsetRequest{kafka.LastOffsetOf(0), kafka.LastOffsetOf(1), kafka.LastOffsetOf(2)}
	ends, err := w.offsets.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{w.name: asked}})
	if err != nil {
		return 0, err
	}
	rows, err1 := w.source.RowsDone(ctx)
	docs, err2 := w.committed("documents")(ctx)
	var lack, lackDocs int64
	for _, p := range ends.Topics[w.name] {
		lack += p.LastOffset - rows[p.Partition]
		lackDocs += p.LastOffset - docs[p.Partition]
	}
	return max(lack, lackDocs), errors.Join(err1, err2)
}

// settled waits until the live loops have committed everything.
func (w *world) settled() {
	w.t.Helper()
	if err := w.keptUp(w.t.Context(), 0); err != nil {
		w.t.Fatal(err)
	}
}

// keptUp waits until at most but records are not yet committed by the live loops.
func (w *world) keptUp(ctx context.Context, but int64) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		n, err := w.behind(ctx)
		if err == nil && n <= but {
			return nil
		}
		if wait := backoff.Wait(ctx, 20*time.Millisecond); wait != nil {
			return fmt.Errorf("%d records are not committed: %w", n, errors.Join(err, wait))
		}
	}
}
