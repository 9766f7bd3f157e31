package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"brine/event"
	"brine/ingest"
	"brine/internal/sample"
)

// schemaRegistry is a registry in this process that can be taken away.
type schemaRegistry struct {
	*srfake.Registry
	subject    string               // of all versions
	seen       map[int]*avro.Schema // by id
	inProtobuf map[int]bool         // likewise
	away       atomic.Bool
	asked      atomic.Int64
}

func newSchemaRegistry(t *testing.T) *schemaRegistry {
	t.Helper()
	r := &schemaRegistry{Registry: srfake.New(), subject: "courier.scans-value", seen: map[int]*avro.Schema{},
		inProtobuf: map[int]bool{}}
	t.Cleanup(r.Close)
	r.Intercept(func(w http.ResponseWriter, q *http.Request) bool {
		r.asked.Add(1)
		switch {
		case r.away.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case q.URL.Path == "/schemas/types": // unknown to srfake
			fmt.Fprint(w, `["AVRO","JSON","PROTOBUF"]`)
		default:
			return false
		}
		return true
	})
	return r
}

// widths are the types of the weight, each wider than the one before.
var widths = [...]string{"int", "long", "float", "double"}

// widthOf returns the type that the weight has in the nth version. In 500 versions it is widened to the widest.
func widthOf(n int) string { return widths[n/125%len(widths)] }

// weightOf returns the weight of the nth version's scans, which no narrower type could hold.
func weightOf(n int) any {
	switch widthOf(n) {
	case "int":
		return int32(n)
	case "long":
		return int64(n) + 1<<40
	case "float":
		return float32(n) + 0.5
	}
	return float64(n) + 0.1
}

// courierless reports whether the nth version has no courier: it is removed and added back again and again.
func courierless(n int) bool { return n%10 == 4 || n%10 == 5 }

// version returns the nth version of the schema. It has the fields of a scan, in varying order and at times without the courier, with
// varying other fields, a weight that is widened now and then, and an `at` in milliseconds or microseconds.
func (r *schemaRegistry) version(t *testing.T, n int) (id int, s *avro.Schema) {
	t.Helper()
	fields := []string{
		`{"name":"waybill","type":"string"}`, `{"name":"action","type":{"type":"enum","name":"Action","symbols":["DEPART","ARRIVE","CANCEL"]}}`,
		`{"name":"station","type":["null","string"]}`,
		[]string{`{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}}`,
			`{"name":"at","type":{"type":"long","logicalType":"timestamp-micros"}}`}[n%2],
	}
	if n%3 == 0 {
		fields = append(fields, fmt.Sprintf(`{"name":"added%d","type":{"type":"array","items":"int"},"default":[]}`, n))
	}
	if !courierless(n) {
		fields = append(fields, `{"name":"courier","type":["null","string"],"default":null}`)
	}
	fields = append(fields, fmt.Sprintf(`{"name":"weight","type":%q,"doc":"version %d"}`, widthOf(n), n))
	shift := n % len(fields)
	fields = slices.Concat(fields[shift:], fields[:shift])
	text := `{"type":"record","name":"Scan","namespace":"courier","fields":[` + strings.Join(fields, ",") + `]}`
	id = n + 1
	if r.seen[id] == nil {
		r.SeedSchema(r.subject, id, id, sr.Schema{Schema: text})
		r.seen[id] = avro.MustParse(text)
	}
	return id, r.seen[id]
}

// scanOf is a scan with what the nth version of the schema says of it.
type scanOf struct {
	Waybill string  `json:"waybill"`
	Action  string  `json:"action"`
	At      int64   `json:"at"`
	Station *string `json:"station,omitempty"`
	Courier *string `json:"courier,omitempty"`
	Weight  any     `json:"weight"`
}

func newScanOf(t *testing.T, n int, scan []byte) (v scanOf) {
	t.Helper()
	if err := json.Unmarshal(scan, &v); err != nil {
		t.Fatal(err)
	}
	if v.Weight = weightOf(n); courierless(n) {
		v.Courier = nil
	}
	return v
}

// framed encodes a scan as a registry's serializer does.
func framed(t *testing.T, id int, s *avro.Schema, n int, scan []byte) []byte {
	t.Helper()
	v := newScanOf(t, n, scan)
	orNil := func(s *string) any {
		if s == nil {
			return nil
		}
		return *s
	}
	at := v.At
	if n%2 == 1 {
		at = at*1000 + 7
	}
	value, err := s.AppendEncode([]byte{0, 0, 0, byte(id >> 8), byte(id)}, map[string]any{"waybill": v.Waybill, "action": v.Action,
		"station": orNil(v.Station), "courier": orNil(v.Courier), "at": at, "weight": v.Weight, fmt.Sprintf("added%d", n): []int{n}})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// weighed declares the weight of scans, and writes it.
func (j *job) weighed() {
	j.t.Helper()
	j.replace("      courier: text\n", "      courier: text\n      weight: float\n")
	j.replace(`"e:c": courier }`, `"e:c": courier, "e:w": weight }`)
}

// weighedScans returns the table that a calm run makes of the scans in JSON, the ith of the version that versionOf returns.
func weighedScans(t *testing.T, scans [][]byte, versionOf func(i int) int) contents {
	t.Helper()
	var texts [][]byte
	cells := 0
	for i, scan := range scans {
		v := newScanOf(t, versionOf(i), scan)
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
		for _, has := range []bool{true, v.Station != nil, v.Courier != nil, true} {
			if has {
				cells++
			}
		}
	}
	j := newJob(t, embeddedStack(t))
	j.weighed()
	j.publish(slices.Values(texts))
	j.must("run", "-q", "-c", j.file, "--until-end")
	table := scanTable(t, j.hbase, j.table)
	if table.rows != len(scans) || table.cells != cells {
		t.Fatalf("a calm run of %d scans, with values for %d cells, made %v", len(scans), cells, table)
	}
	return table
}

// neverStopped checks that no partition has waited or halted, and that there are no dead letters.
func (p *process) neverStopped(after string) {
	p.t.Helper()
	for _, name := range []string{"brine_ingest_waits_total", "brine_ingest_halts_total", "brine_ingest_dead_letters_total"} {
		if n := p.metric(name); n != 0 {
			p.t.Errorf("after %s, %s is %v:\n%s", after, name, n, &p.log)
		}
	}
}

// changing is a format whose schemas change.
type changing struct {
	format string
	// record encodes a scan in the nth version of its schema, which it registers.
	record func(t *testing.T, r *schemaRegistry, n int, scan []byte) []byte
	// breaking is a schema that does not fit the fields: at is a bool, which complaint says, and the courier lacks, as lacking says.
	breaking           sr.Schema
	complaint, lacking string
}

var changingAvro = changing{
	"avro",
	func(t *testing.T, r *schemaRegistry, n int, scan []byte) []byte {
		id, schema := r.version(t, n)
		return framed(t, id, schema, n, scan)
	},
	sr.Schema{Schema: `{"type":"record","name":"Scan","namespace":"courier","fields":[
		{"name":"waybill","type":"string"},{"name":"at","type":"boolean"},{"name":"station","type":"string"}]}`},
	"it is boolean in the schema, but declared time_ms",
	"the schema has nothing at courier",
}

// TestAvroSchemasChange runs a thousand versions of a schema while events flow, and nothing stops. Then the registry is away while there are
// more of them, and again while brine starts. Only what must wait stops, nothing is lost, and the table is cell for cell what a calm run
// makes of JSON: of the courier, which is removed and added back, and of the weight, which is widened, too.
func TestAvroSchemasChange(t *testing.T) {
	t.Parallel()
	testSchemasChange(t, changingAvro)
}

func testSchemasChange(t *testing.T, x changing) {
	const calm, versions, each = 1000, 1100, 2
	scans := slices.Collect(first(sample.Scans(), (versions+1)*each))
	want := weighedScans(t, scans, func(i int) int {
		if i >= versions*each {
			return i - versions*each // those after the restart
		}
		return i / each
	})

	registry := newSchemaRegistry(t)
	j := newJob(t, embeddedStack(t))
	registry.subject = j.topic + "-value"
	cache := filepath.Join(t.TempDir(), "schemas")
	j.weighed()
	j.replace("format: json", "format: "+x.format)
	j.replace("hbase:\n", fmt.Sprintf("registry: { url: %q, cache: %q }\nhbase:\n", registry.URL(), cache))
	j.replace("    write: {", "    read: { max_pause: 200ms }\n    write: {")
	j.must("check", "-c", j.file)
	sent := 0
	send := func(from, to int) {
		t.Helper()
		var records []sentScan
		for n := from; n < to; n++ {
			for _, scan := range scans[n*each : (n+1)*each] {
				records = append(records, sentScan{n % devPartitions, x.record(t, registry, n, scan)})
			}
		}
		j.sendScans(records)
		sent += len(records)
	}
	p := j.begin()
	for n := 0; n < calm; n += 50 {
		send(n, n+50)
	}
	p.until("scans.rows", sent)
	p.neverStopped(fmt.Sprintf("%d versions", calm))

	registry.away.Store(true)
	send(calm, versions)
	p.untilWaiting("scans.rows")
	if status, body := p.get("/healthz"); !strings.Contains(body, "schema registry") {
		t.Errorf("health says %d, and not why records wait: %.500s", status, body)
	}
	settled := p.settled("scans.rows")
	registry.away.Store(false)
	p.until("scans.rows", sent)
	if waits, halts := p.metric("brine_ingest_waits_total"), p.metric("brine_ingest_halts_total"); waits == 0 || halts != 0 {
		t.Errorf("because of the outage, partitions waited %v times and halted %v times", waits, halts)
	}
	t.Logf("%d events of %d versions; %d were settled while the registry was away; it was asked %d times", sent, versions, settled, registry.asked.Load())
	p.stop()
	for n := range versions {
		if line := fmt.Sprintf("records arrive with id %d (%s v%d), a schema not seen before", n+1, registry.subject, n+1); !strings.Contains(p.log.String(), line) {
			t.Fatalf("the log does not say %q", line)
		}
	}
	if out := j.must("check", "--connect", j.file); strings.Contains(out, "newest-schema") || strings.Contains(out, "no subject") {
		t.Errorf("check --connect says of the newest schema:\n%s", out)
	}
	registry.SeedSchema(registry.subject, versions+1, versions+1, x.breaking)
	out, _ := j.exit("check", "--connect", j.file)
	for _, want := range []string{"fields.at", fmt.Sprintf("%s; according to id %d (%s v%d), the newest schema", x.complaint, versions+1, registry.subject, versions+1),
		x.lacking} {
		if !strings.Contains(out, want) {
			t.Errorf("check --connect does not say %q:\n%s", want, out)
		}
	}

	// A restart while the registry is away reads schemas seen before from the cache.
	registry.away.Store(true)
	asked := registry.asked.Load()
	var again []sentScan
	for i := range each {
		again = append(again, sentScan{i, x.record(t, registry, i, scans[versions*each+i])})
	}
	j.sendScans(again)
	sent += len(again)
	p = j.begin()
	p.until("scans.rows", sent)
	p.stop()
	if n := registry.asked.Load() - asked; n != 0 {
		t.Errorf("the registry was asked %d times for schemas that the cache has", n)
	}
	if letters := j.deadLetters(); len(letters) > 0 {
		t.Errorf("%d dead letters, the first: %s %s", len(letters), letters[0].Reason, letters[0].Detail)
	}
	if got := scanTable(t, j.hbase, j.table); got != want {
		t.Errorf("the table is %v, want %v", got, want)
	}
	if files, err := os.ReadDir(cache); err != nil || len(files) != 1 {
		t.Errorf("the cache holds %d folders, %v", len(files), err)
	}
}

type sentScan struct {
	partition int
	value     []byte
}

// sendScans sends the records of each partition together.
func (j *job) sendScans(records []sentScan) {
	j.t.Helper()
	for partition := range devPartitions {
		var values [][]byte
		for _, r := range records {
			if r.partition == partition {
				values = append(values, r.value)
			}
		}
		j.produce(partition, values)
	}
}

// untilWaiting waits until a partition of the half waits for a schema.
func (p *process) untilWaiting(half string) {
	p.t.Helper()
	for start := time.Now(); ; wait(p.t, 20*time.Millisecond) {
		status := p.half(half)
		if slices.ContainsFunc(status.Partitions, func(s ingest.PartitionStatus) bool {
			return s.State == ingest.Waiting && s.Reason == event.Unavailable
		}) {
			return
		}
		if time.Since(start) > standstill {
			p.t.Fatalf("no partition is waiting for a schema: %+v", status)
		}
	}
}

// TestAvroRecordsThatCannotBeRead checks that unreadable records, and no others, become dead letters with their reasons.
func TestAvroRecordsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	registry := newSchemaRegistry(t)
	j := newJob(t, embeddedStack(t))
	j.replace("format: json", "format: avro")
	j.replace("hbase:\n", fmt.Sprintf("registry: { url: %q, unknown_after: 100ms }\nhbase:\n", registry.URL()))
	id, schema := registry.version(t, 0)
	registry.SeedSchema("other-value", 1, 500, sr.Schema{Schema: `{"type":"record","name":"Other","fields":[{"name":"x","type":"string"}]}`})
	scan := slices.Collect(first(sample.Scans(), 1))[0]
	good := framed(t, id, schema, 0, scan)
	j.sendScans([]sentScan{{0, good}, {0, good[:len(good)-1]}, {0, append(slices.Clone(good), 0)}, {0, scan},
		{0, []byte{0, 0, 0, 3, 231, 2}}, {0, []byte{0, 0, 0, 1, 244, 2, 'x'}}})
	j.must("run", "-q", "-c", j.file, "--until-end")
	var reasons []event.Reason
	for _, l := range j.deadLetters() {
		reasons = append(reasons, l.Reason)
		t.Logf("%s, field %q: %s", l.Reason, l.Field, l.Detail)
	}
	want := []event.Reason{event.Undecodable, event.Undecodable, event.Undecodable, event.UnknownSchema, event.MissingField}
	if slices.Sort(reasons); fmt.Sprint(reasons) != fmt.Sprint(slices.Sorted(slices.Values(want))) {
		t.Errorf("dead letters for %v, want %v", reasons, want)
	}
	sums := j.output("deadletters", "ls", "-c", j.file, "--by", "schema", "--json")
	for _, line := range []string{`"schema":"id 1 (courier.scans-value v1)","letters":2,`, `"schema":"id 500 (other-value v1)","letters":1,`, `"schema":"id 999","letters":1,`, `{"pipeline":"scans.rows","letters":1,`} {
		if !strings.Contains(sums, line) {
			t.Errorf("the summary by schemas lacks %s:\n%s", line, sums)
		}
	}
	if got := scanTable(t, j.hbase, j.table); got.rows != 1 {
		t.Errorf("%d rows", got.rows)
	}
}

// produce puts values into a partition of the job's topic.
func (j *job) produce(partition int, values [][]byte) {
	j.t.Helper()
	if len(values) == 0 {
		return
	}
	records := make([]kafka.Record, len(values))
	for i, v := range values {
		records[i] = kafka.Record{Value: kafka.NewBytes(v), Time: time.Now()}
	}
	resp, err := j.client().Produce(j.t.Context(), &kafka.ProduceRequest{Topic: j.topic, Partition: partition, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(records...)})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		j.t.Fatal(err)
	}
}
