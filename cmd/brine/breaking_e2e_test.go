package main

import (
	"fmt"
	"math/big"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"

	"brine/event"
	"brine/ingest"
)

// breakingOrders is an Avro job with a registry. Its topic holds 20 orders in two partitions; in the first one, at offset 5, is an order
// whose time is a text, according to the schema with id 2. Beside its pipeline there is another one, which is calm.
func breakingOrders(t *testing.T) (j, calm *job) {
	t.Helper()
	text, err := os.ReadFile("../../examples/formats/orders.avsc")
	if err != nil {
		t.Fatal(err)
	}
	schemas := []string{string(text), strings.Replace(string(text), `{ "type": "long", "logicalType": "timestamp-millis" }`, `"string"`, 1)}
	j = newJobOf(t, embeddedStack(t), orderOf("avro-registry", "avro_registry"))
	registry := newSchemaRegistry(t)
	j.replace("http://localhost:8081", registry.URL())
	j.replace("    breaking_schema: halt\n", "    breaking_schema: halt\n    read: { halt_pause: 100ms }\n")
	j.replace("pipelines:\n", fmt.Sprintf("pipelines:\n  calm:\n    topic: %s.calm\n    fields: { id: text, at: time_ms }\n    version: at\n"+
		"    changes: whole\n    rows: [ { table: %q, set: { \"o:at\": at } } ]\n", j.topic, j.table))
	beside := *j
	beside.topic, beside.pipeline = j.topic+".calm", "calm"
	if err := createTopicBy(t.Context(), j.client(), beside.topic, 1); err != nil {
		t.Fatal(err)
	}
	for i, text := range schemas {
		registry.SeedSchema(j.topic+"-value", i+1, i+1, sr.Schema{Schema: text})
	}
	order := func(id, n int, at any) []byte {
		value, err := avro.MustParse(schemas[id-1]).AppendEncode([]byte{0, 0, 0, 0, byte(id)}, map[string]any{"id": fmt.Sprintf("o%02d", n), "at": at,
			"status": "new", "total": big.NewRat(950, 100), "to": map[string]any{"street": "Storgata 1", "city": "Oslo"}})
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	var records []sent
	for n := range 20 {
		if n == 10 {
			records = append(records, sent{time: time.UnixMilli(orderedAt), value: order(2, 99, "2013-01-01T09:57:00Z")})
		}
		records = append(records, sent{partition: n % 2, time: time.UnixMilli(orderedAt), value: order(1, n, int64(orderedAt))})
	}
	j.sendAll(records)
	return j, &beside
}

// breaks is the message about a schema that breaks, wherever it appears.
func (j *job) breaks() string {
	return fmt.Sprintf("it is string in the schema, but declared time_ms; it is the schema of id 2 (%s-value v2)", j.topic)
}

// untilBroken waits until both halves stand before the order whose schema breaks, and everything else is written.
func (p *process) untilBroken(j *job) {
	p.t.Helper()
	for _, half := range []string{"avro_registry.rows", "avro_registry.documents"} {
		p.until(half, 15) // five before it, and ten in the other partition
		for start := time.Now(); ; wait(p.t, 20*time.Millisecond) {
			first := p.half(half).Partitions[0]
			if first.State == ingest.Halted && first.Watermark == 5 && first.Reason == event.BreakingSchema {
				if !strings.Contains(first.Detail, "offset 5: breaking_schema: field at: "+j.breaks()) {
					p.t.Errorf("%s says %s", half, first.Detail)
				}
				break
			}
			if time.Since(start) > standstill {
				p.t.Fatalf("%s has not halted: %+v", half, first)
			}
		}
	}
	p.health("/healthz", http.StatusServiceUnavailable, `partition 0 is halted at offset 5, 6 offsets behind, for \d+s: breaking_schema: `)
	p.health("/readyz", http.StatusServiceUnavailable, "breaking_schema")
	if n := p.metric("brine_ingest_dead_letters_total"); n != 0 {
		p.t.Errorf("%v dead letters", n)
	}
}

// TestBreakingSchemaHaltsItsPipelineAlone: with breaking_schema: halt, both halves of the pipeline stop before the first record whose
// schema cannot be read into the fields, at every start, and name its subject, id and field. Everything before it, the other partitions and
// the other pipelines go on. Once the configuration fits, everything is written and nothing is a dead letter.
func TestBreakingSchemaHaltsItsPipelineAlone(t *testing.T) {
	t.Parallel()
	j, calm := breakingOrders(t)
	for n := range 2 {
		p := j.begin()
		p.untilBroken(j)
		calm.sendAll([]sent{{time: time.UnixMilli(orderedAt), value: fmt.Appendf(nil, `{"id":"calm %d","at":%d}`, n, orderedAt)}})
		p.until("calm.rows", n+1)
		p.stop()
		if j.uncommitted("rows") != 6 || j.uncommitted("documents") != 6 {
			t.Errorf("%d rows and %d documents are not committed, want 6 of each", j.uncommitted("rows"), j.uncommitted("documents"))
		}
	}
	j.replace("      at: time_ms\n      status", "      at: time\n      status")
	if s, out := j.ran(exitOK); s.Dead > 0 {
		t.Errorf("%d dead letters\n%s", s.Dead, out)
	}
	j.allOrders()
}

// TestBreakingSchemaMakesDeadLetters: with breaking_schema: dead_letter, which a halted brine takes up while running, unreadable records
// become dead letters that name subject, id and field, and all others are written. Once the configuration fits, a replay writes them.
func TestBreakingSchemaMakesDeadLetters(t *testing.T) {
	t.Parallel()
	j, _ := breakingOrders(t)
	p := j.begin()
	p.untilBroken(j)
	j.replace("breaking_schema: halt", "breaking_schema: dead_letter")
	if out, code := j.exit("reload", "--http", p.http); code != exitOK {
		t.Fatalf("brine reload: exit %d\n%s", code, out)
	}
	for _, half := range []string{"avro_registry.rows", "avro_registry.documents"} {
		p.until(half, 21)
	}
	p.health("/healthz", http.StatusOK, "")
	if n := p.metric("brine_ingest_dead_letters_total"); n != 2 { // one from the rows, one from the documents
		t.Errorf("%v dead letters are counted, want 2", n)
	}
	p.stop()
	letters := j.deadLetters()
	for _, l := range letters {
		if l.Reason != event.WrongType || l.Field != "at" || !strings.Contains(l.Detail, fmt.Sprintf("it was written with the schema of id 2 (%s-value v2)", j.topic)) {
			t.Errorf("a dead letter for %s, field %q: %s", l.Reason, l.Field, l.Detail)
		}
	}
	if len(letters) != 2 {
		t.Errorf("%d dead letters, want 2", len(letters))
	}
	j.replace("      at: time_ms\n      status", "      at: time\n      status")
	j.must("deadletters", "replay", "-c", j.file, "-q")
	j.allOrders()
}

// allOrders checks that the rows and the documents are those of all records.
func (j *job) allOrders() {
	j.t.Helper()
	for _, id := range []string{"o00", "o08", "o10", "o99", "o19"} {
		if got, want := j.fieldsOf("id="+id), "at:2013-01-01T09:57:00.000Z city:Oslo id:"+id+" status:new total:9.50"; got != want {
			j.t.Errorf("order %s is %s, want %s", id, got, want)
		}
	}
	if n := len(j.documents()); n != 21 {
		j.t.Errorf("%d documents, want 21", n)
	}
	if report, listed := j.verified(exitOK, "--full"); len(listed) > 0 {
		j.t.Errorf("verify: %+v, %v", report, listed)
	}
}
