package verify_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
	"brine/hbase"
	"brine/hbase/hbasetest"
	"brine/indexer"
	bleve "brine/indexer/embedded"
	"brine/ingest"
	"brine/internal/testenv"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

const partitions = 3

// base is the time of all records, to which their versions are relative.
var base = time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC)

// orders is the schema of changes of orders.
var orders = event.Schema{Fields: []event.Field{
	{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "status", Type: event.Text}, {Name: "note", Type: event.Text},
	{Name: "total", Type: event.Int}, {Name: "until", Type: event.TimeMS},
}, Version: 1}

func key(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	k, err := eventkey.Parse(expr, orders, rowkey.Field{Name: "word", Type: rowkey.Text})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// world is a topic, a cluster with a table, and the writers between them.
type world struct {
	t       *testing.T
	topic   string
	table   string
	brokers []string
	kafka   *kgo.Client
	client  *hbase.Client
	engine  indexer.Engine
	rows    *sink.Options
	docs    *indexer.Options
	now     time.Time
	schema  event.Schema
	skip    string // part of the records whose documents are not written
}

// cluster returns the address of a test's HBase.
type cluster func(t *testing.T) (connect string)

func embeddedHBase(t *testing.T) string {
	t.Helper()
	return hbasetest.Run(t).Connect()
}

func realHBase(t *testing.T) string { return testenv.HBase(t) }

// newWorld creates a table with the families f and g, of changes of orders under their id, in entries of the columns f:status, f:total and
// g:note.
func newWorld(t *testing.T, hbaseOf cluster) *world {
	t.Helper()
	name := testenv.Name(t)
	w := &world{t: t, topic: name, table: name, brokers: testenv.KafkaFake(t, partitions, name).ListenAddrs(), now: base.Add(time.Hour), schema: orders}
	w.connect(hbaseOf(t))
	var err error
	if w.kafka, err = kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.AllowAutoTopicCreation()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kafka.Close)
	w.rows = &sink.Options{Schema: orders, Rows: []sink.Rows{{
		Table:   sink.Table{Name: w.table, Row: sink.RowEntity, Keys: rowkey.One(key(t, "id"))},
		Columns: []sink.Column{{Family: "f", Qualifier: "status", Field: "status"}, {Family: "f", Qualifier: "total", Field: "total"}, {Family: "g", Qualifier: "note", Field: "note"}},
	}}}
	return w
}

func (w *world) connect(to string) {
	w.t.Helper()
	client, err := hbase.Open(w.t.Context(), hbase.Options{Connect: to})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { client.Close() })
	w.client = client
	values := map[string]string{"VERSIONS": "1"}
	err = client.CreateTable(w.t.Context(), hbase.Table{Name: w.table, Families: []hbase.Family{{Name: "f", Values: values}, {Name: "g", Values: values}}},
		[][]byte{[]byte("o3"), []byte("o5")})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := errors.Join(client.DisableTable(ctx, w.table), client.DeleteTable(ctx, w.table)); err != nil {
			w.t.Log(err)
		}
	})
}

// indexed gives the world an index of the same changes.
func (w *world) indexed(changes indexer.Changes) {
	w.t.Helper()
	w.openIndex()
	w.declare(changes)
	if err := w.engine.EnsureIndex(w.t.Context(), w.docs.Mappings()[0]); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) openIndex() {
	w.t.Helper()
	engine, err := bleve.Open(bleve.Options{Dir: filepath.Join(w.t.TempDir(), "index")})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { engine.Close() })
	w.engine = engine
}

// declare declares the documents of the world's changes.
func (w *world) declare(changes indexer.Changes) {
	w.docs = &indexer.Options{Schema: orders, Documents: []indexer.Document{{Index: w.table, Key: key(w.t, "id"), Changes: changes,
		Set: []indexer.Column{{Name: "status", Field: "status"}, {Name: "note", Field: "note"}, {Name: "total", Field: "total"}}}}}
}

// change returns a record: an order's fields at at milliseconds after base.
func change(id string, at int64, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return fmt.Sprintf(`{"id":%q,"at":%d%s}`, id, base.UnixMilli()+at, fields)
}

// send appends records to the partitions in turn.
func (w *world) send(records ...string) {
	w.t.Helper()
	w.sendAt(0, records...)
}

// sendAt appends records with a time relative to base.
func (w *world) sendAt(ms int64, records ...string) {
	w.t.Helper()
	var out []*kgo.Record
	for i, value := range records {
		out = append(out, &kgo.Record{Topic: w.topic, Partition: int32(i % partitions), Value: []byte(value), Timestamp: base.Add(time.Duration(ms) * time.Millisecond)})
	}
	if err := w.kafka.ProduceSync(w.t.Context(), out...).FirstErr(); err != nil {
		w.t.Fatal(err)
	}
}

// ingestOptions returns the options of a loop.
func (w *world) ingestOptions(half string) ingest.Options {
	return ingest.Options{Kafka: ingest.Kafka{Brokers: w.brokers}, Topic: w.topic, Group: w.topic + "." + half, Schema: w.schema}
}

// sink returns a writer of the world's rows.
func (w *world) sink() *sink.Sink {
	w.t.Helper()
	mutator, err := w.client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		w.t.Fatal(err)
	}
	rows, err := sink.New(sink.HBase(mutator), *w.rows)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// write writes the whole topic.
func (w *world) write() {
	w.t.Helper()
	w.run("rows", w.sink())
	if w.docs != nil {
		w.indexAll()
	}
}

// indexAll writes the documents of the whole topic. They expire when a test decides, because the writer itself would use today's date.
func (w *world) indexAll() {
	w.t.Helper()
	docs, err := indexer.New(w.engine, w.docs.Endless())
	if err != nil {
		w.t.Fatal(err)
	}
	defer docs.Close()
	w.run("documents", &without{docs, w.skip})
}

func (w *world) run(half string, to event.Writer) {
	w.t.Helper()
	o := ingest.ReplayOptions{Options: w.ingestOptions(half), Untracked: true}
	o.Writer = to
	replay, err := ingest.NewReplay(o)
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
}

// without is a Writer that loses some records.
type without struct {
	event.Writer
	skip string
}

func (w *without) Submit(ctx context.Context, batch *event.Batch) event.Flight {
	var kept event.Batch
	for _, ev := range batch.Events {
		if w.skip == "" || !strings.Contains(string(ev.Record.Value), w.skip) {
			kept.Events = append(kept.Events, ev)
		}
	}
	return w.Writer.Submit(ctx, &kept)
}
