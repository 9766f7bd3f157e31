package verify_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/indexer"
	bleve "brine/indexer/embedded"
	"brine/ingest"
	"brine/internal/testenv"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
	"brine/verify"
)

const partitions = 3

// base is the time of all records, and what their versions are counted from.
var base = time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC)

// orders is the schema of changes of orders.
var orders = event.Schema{Fields: []event.Field{
	{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "status", Type: event.Text}, {Name: "note", Type: event.Text},
	{Name: "total", Type: event.Int}, {Name: "until", Type: event.TimeMS},
}, Version: 1}

func key(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	fields := []rowkey.Field{{Name: "word", Type: rowkey.Text}}
	for _, f := range orders.Fields {
		fields = append(fields, rowkey.Field{Name: f.Name, Type: eventkey.Type(f.Type)})
	}
	k, err := rowkey.Parse(expr, fields)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// world is a topic, a cluster with a table, and what fills the one from the other.
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
	sent    [partitions]int64
	now     time.Time
}

// cluster is where a test's HBase is.
type cluster func(t *testing.T) (connect string)

func embeddedHBase(t *testing.T) string {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return "rpc://" + server.Addr()
}

func realHBase(t *testing.T) string { return testenv.HBase(t) }

// newWorld makes a table with the families f and g, of changes of orders under their id, in entries of the columns
// f:status, f:total and g:note.
func newWorld(t *testing.T, hbaseOf cluster) *world {
	t.Helper()
	name := testenv.Name(t)
	w := &world{t: t, topic: name, table: name, brokers: testenv.KafkaFake(t, partitions, name).ListenAddrs(), now: base.Add(time.Hour)}
	w.connect(hbaseOf(t))
	var err error
	if w.kafka, err = kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.AllowAutoTopicCreation()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kafka.Close)
	w.rows = &sink.Options{Schema: orders, Rows: []sink.Rows{{
		Table:   sink.Table{Name: w.table, Row: sink.RowEntity, Key: key(t, "id")},
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
	engine, err := bleve.Open(bleve.Options{Dir: filepath.Join(w.t.TempDir(), "index")})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { engine.Close() })
	w.engine = engine
	w.docs = &indexer.Options{Schema: orders, Documents: []indexer.Document{{Index: w.table, Key: key(w.t, "id"), Changes: changes,
		Set: []indexer.Column{{Name: "status", Field: "status"}, {Name: "note", Field: "note"}, {Name: "total", Field: "total"}}}}}
	mapping := indexer.Mapping{Index: w.table, Fields: []indexer.Field{{Name: "status", Type: indexer.Keyword}, {Name: "note", Type: indexer.Keyword}, {Name: "total", Type: indexer.Long}}}
	if err := engine.EnsureIndex(w.t.Context(), mapping); err != nil {
		w.t.Fatal(err)
	}
}

// change is a record: an order's fields at so many milliseconds after base.
func change(id string, at int64, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return fmt.Sprintf(`{"id":%q,"at":%d%s}`, id, base.UnixMilli()+at, fields)
}

// send appends records to the partitions by turns.
func (w *world) send(records ...string) {
	w.t.Helper()
	for i, value := range records {
		p := i % partitions
		record := &kgo.Record{Topic: w.topic, Partition: int32(p), Value: []byte(value), Timestamp: base}
		if err := w.kafka.ProduceSync(w.t.Context(), record).FirstErr(); err != nil {
			w.t.Fatal(err)
		}
		w.sent[p]++
	}
}

// ingestOptions are the options of a loop.
func (w *world) ingestOptions(half string, schema event.Schema) ingest.Options {
	return ingest.Options{Kafka: ingest.Kafka{Brokers: w.brokers}, Topic: w.topic, Group: w.topic + "." + half, Schema: schema}
}

// write writes the whole topic.
func (w *world) write() {
	w.t.Helper()
	mutator, err := w.client.Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		w.t.Fatal(err)
	}
	rows, err := sink.New(sink.HBase(mutator), *w.rows)
	if err != nil {
		w.t.Fatal(err)
	}
	w.run("rows", rows)
	if w.docs != nil {
		docs, err := indexer.New(w.engine, *w.docs)
		if err != nil {
			w.t.Fatal(err)
		}
		defer docs.Close()
		w.run("documents", docs)
	}
}

func (w *world) run(half string, to ingest.Writer) {
	w.t.Helper()
	o := ingest.ReplayOptions{Options: w.ingestOptions(half, orders), Untracked: true}
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

// options are those of a verification of everything.
func (w *world) options() verify.Options {
	tables := map[string]bool{}
	o := verify.Options{Full: true, Now: func() time.Time { return w.now }, Dir: w.t.TempDir(), Workers: 2,
		Sources: []verify.Source{{Name: "rows", Ingest: w.ingestOptions("rows", orders), Rows: w.rows, Letters: w.letters("rows")}}}
	for _, r := range w.rows.Rows {
		if !tables[r.Table.Name] {
			o.Tables = append(o.Tables, verify.Table{Name: r.Table.Name, Store: verify.HBase(w.client, r.Table.Name), Events: r.Table.Row == sink.RowEvent, TTL: r.Table.TTL})
		}
		tables[r.Table.Name] = true
	}
	if w.docs != nil {
		o.Sources = append(o.Sources, verify.Source{Name: "documents", Ingest: w.ingestOptions("documents", orders), Documents: w.docs, Letters: w.letters("documents")})
		o.Tables = append(o.Tables, verify.Table{Name: w.table, Store: verify.Index(w.engine, w.table), Documents: true, Whole: w.docs.Documents[0].Changes == indexer.Whole})
	}
	return o
}

// letters are the open dead letters of a half.
func (w *world) letters(half string) func(context.Context) iter.Seq2[verify.Letter, error] {
	o := w.ingestOptions(half, orders)
	return verify.DeadLetters(o)
}

// check verifies with options, and gives the report.
func (w *world) check(o verify.Options) *verify.Report {
	w.t.Helper()
	c, err := verify.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// found is the findings as text, a line each: versions are counted from base.
func found(r *verify.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		where := "row"
		if f.Document {
			where = "document"
		}
		fmt.Fprintf(&b, "%s %s %s %s", f.Kind, where, f.Key, f.Column)
		for _, v := range []struct {
			name string
			at   int64
		}{{"expected", f.Expected}, {"found", f.Found}} {
			if v.at >= 0 {
				fmt.Fprintf(&b, " %s %d", v.name, v.at-base.UnixMilli())
			}
		}
		for _, rec := range f.Records {
			fmt.Fprintf(&b, " %d@%d", rec.Partition, rec.Offset)
		}
		fmt.Fprintf(&b, ": %s\n", f.Reason)
	}
	return b.String()
}
