package reindex

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/indexer"
	"brine/ingest"
	"brine/internal/testenv"
	"brine/rowkey"
	"brine/rowkey/eventkey"
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

// world is a topic, a table and an index, and the live loops that fill them.
type world struct {
	t       *testing.T
	name    string // of the topic, the table and the index
	brokers []string
	kafka   *kgo.Client   // for publishing
	offsets *kafka.Client // for asking groups
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

// takeAway drops what was created on a search server.
func (w *world) takeAway() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if w.server == "" {
		return // it is removed with its folder
	}
	for _, index := range []string{w.name, indexer.Beside(w.name), w.name + "-expected"} {
		names, _ := w.engine.(indexer.Rebuilder).Behind(ctx, index) // some do not exist
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

func (w *world) options(from From) Options {
	lease := 100 * time.Millisecond
	if w.server != "" {
		lease = time.Second // a server may be slow
	}
	return Options{Index: w.name, From: from, Engine: w.engine, Client: w.client, Sources: []Source{w.source}, Workers: 2,
		Lease: lease, Logger: slog.New(slog.DiscardHandler)}
}

// reindex returns a Run that has not started yet.
func (w *world) reindex(o Options) *Run {
	w.t.Helper()
	r, err := New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}
