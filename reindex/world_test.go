package reindex

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/indexer"
	"brine/ingest"
	"brine/internal/backoff"
	"brine/internal/testenv"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/search"
	"brine/sink"
)

const partitions = 3

// orders is the schema of changes of orders.
var orders = event.Schema{Fields: []event.Field{
	{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "status", Type: event.Text}, {Name: "note", Type: event.Text},
	{Name: "total", Type: event.Int}, {Name: "gone", Type: event.Bool},
}, Version: 1}

func key(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	k, err := eventkey.Parse(expr, orders)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// world is a topic, a table and an index, and live loops that fill them.
type world struct {
	t       *testing.T
	name    string // of the topic, the table and the index
	brokers []string
	kafka   *kgo.Client   // to publish with
	offsets *kafka.Client // to ask groups with
	client  *hbase.Client
	engine  indexer.Engine
	server  string // the engine's; empty: it is in this process
	source  Source
	at      int64 // ms of the last change
}

func newWorld(t *testing.T, open func(*testing.T) (engine indexer.Engine, server string), changes indexer.Changes) *world {
	t.Helper()
	name := testenv.Name(t)
	engine, search := open(t)
	w := &world{t: t, name: name, server: search, brokers: testenv.KafkaFake(t, partitions, name).ListenAddrs(), engine: engine, at: time.Now().Add(-time.Hour).UnixMilli()}
	var err error
	if w.kafka, err = kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kafka.Close)
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w.offsets = &kafka.Client{Addr: kafka.TCP(w.brokers...), Transport: transport}
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	if w.client, err = hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + server.Addr()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.client.Close() })
	values := map[string]string{"VERSIONS": "1"}
	table := hbase.Table{Name: name, Families: []hbase.Family{{Name: "f", Values: values}, {Name: "g", Values: values}}}
	if err := w.client.CreateTable(t.Context(), table, [][]byte{[]byte("o2"), []byte("o5")}); err != nil {
		t.Fatal(err)
	}
	w.source = Source{Pipeline: "orders", Ingest: w.ingestOptions("documents"), Table: name,
		Documents: indexer.Options{Schema: orders, Pause: 10 * time.Millisecond, Documents: []indexer.Document{{
			Index: name, Key: key(t, "id"), Changes: changes, Deleted: "gone",
			Set: []indexer.Column{{Name: "order", Field: "id"}, {Name: "at", Field: "at"}, {Name: "status", Field: "status"}, {Name: "note", Field: "note", Type: indexer.Text}, {Name: "total", Field: "total"}}}}},
		Rows: sink.Options{Schema: orders, Rows: []sink.Rows{{Table: sink.Table{Name: name, Row: sink.RowEntity, Keys: rowkey.One(key(t, "id"))}, Columns: []sink.Column{
			{Family: "f", Qualifier: "a", Field: "at"}, {Family: "f", Qualifier: "s", Field: "status"}, {Family: "f", Qualifier: "d", Field: "gone"},
			{Family: "f", Qualifier: "t", Field: "total"}, {Family: "g", Qualifier: "n", Field: "note"}}}}},
		RowsDone: w.committed("rows"),
	}
	if err := engine.EnsureIndex(t.Context(), w.source.Documents.Mappings()[0]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.takeAway)
	return w
}

// takeAway drops what was made on a search server.
func (w *world) takeAway() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if w.server == "" {
		return // it goes with its folder
	}
	for _, index := range []string{w.name, indexer.Beside(w.name), w.name + "-expected"} {
		names, _ := w.engine.(indexer.Rebuilder).Behind(ctx, index) // none of some
		for _, name := range names {
			req, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.server+"/"+name, nil)
			if err != nil {
				w.t.Fatal(err)
			}
			if resp, err := http.DefaultClient.Do(req); err != nil {
				w.t.Error(err)
			} else {
				resp.Body.Close()
			}
		}
	}
}

func (w *world) ingestOptions(half string) ingest.Options {
	return ingest.Options{Kafka: ingest.Kafka{Brokers: w.brokers}, Topic: w.name, Group: w.name + "." + half, Schema: orders, CommitInterval: 50 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler)}
}

// committed gives the offsets of a live group.
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

// live runs the pipeline until the function that it gives is called.
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
	for half, writer := range map[string]ingest.Writer{"rows": rows, "documents": docs} {
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

// publish appends changes of some orders: most carry some fields, some come late, some delete.
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

// behind is how many records one of the live loops, the slower one, has not yet committed.
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

// settled waits until the live loops have committed all.
func (w *world) settled() {
	w.t.Helper()
	if err := w.keptUp(w.t.Context(), 0); err != nil {
		w.t.Fatal(err)
	}
}

// keptUp waits until the live loops have committed all but some records.
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

// documents are the sources of an index, by id.
func (w *world) documents(index string) map[string]string {
	w.t.Helper()
	if err := w.engine.Refresh(w.t.Context(), index); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for q := (search.Query{Index: index, Size: 1000, Deleted: true}); ; {
		page, err := w.engine.Search(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		refs, docs := make([]indexer.Ref, len(page.Hits)), make([]indexer.Stored, len(page.Hits))
		for i := range page.Hits {
			refs[i] = indexer.Ref{Index: index, ID: indexer.AppendID(nil, page.Hits[i].Row)}
		}
		if len(refs) > 0 {
			if err := w.engine.Get(w.t.Context(), refs, docs); err != nil {
				w.t.Fatal(err)
			}
		}
		for i := range docs {
			out[string(refs[i].ID)] = string(docs[i].Source)
		}
		if q.After = page.Next; page.Next == "" {
			return out
		}
	}
}

// expected are the documents that one calm reading of the topic makes.
func (w *world) expected() map[string]string {
	w.t.Helper()
	o := w.source.writing(w.name + "-expected")
	if err := w.engine.EnsureIndex(w.t.Context(), o.Mappings()[0]); err != nil {
		w.t.Fatal(err)
	}
	docs, err := indexer.New(w.engine, o)
	if err != nil {
		w.t.Fatal(err)
	}
	defer docs.Close()
	r := ingest.ReplayOptions{Options: w.ingestOptions("expected"), Untracked: true}
	r.Writer = docs
	replay, err := ingest.NewReplay(r)
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := replay.Plan(w.t.Context())
	if err == nil {
		err = replay.Run(w.t.Context(), plan)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return w.documents(w.name + "-expected")
}

// same fails the test for the first documents that differ.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	shown := 0
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] != want[id] && shown < 3 {
			t.Errorf("document %s\n got %s\nwant %s", id, got[id], want[id])
			shown++
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%d documents, want %d", len(got), len(want))
	}
}

func (w *world) options(from From) Options {
	lease := 100 * time.Millisecond
	if w.server != "" {
		lease = time.Second // a server may be slow
	}
	return Options{Index: w.name, From: from, Engine: w.engine, Client: w.client, Sources: []Source{w.source}, Workers: 2,
		Lease: lease, Logger: slog.New(slog.DiscardHandler)}
}
