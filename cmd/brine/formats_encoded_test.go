package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"

	"brine/event"
	"brine/internal/testenv"
)

// orderOf names an example of a format.
func orderOf(file, name string) example {
	return example{"formats/" + file + ".yaml", name, "shop." + name, "shop:" + name, name, "id"}
}

const orderedAt = 1357034220000 // 2013-01-01T09:57:00Z

// someOrder is an order as its publisher knows it.
type someOrder struct {
	id, status string
	at, cents  int64
}

// someOrders are an order that is paid and sent, and another one.
var someOrders = []someOrder{{"o1", "new", orderedAt, 950}, {"o2", "new", orderedAt, 100}, {"o1", "sent", orderedAt + 1000, 900}}

// encodedFormats are the examples whose records are bytes, or changes of a database.
func encodedFormats(t *testing.T) []published {
	t.Helper()
	read := func(file string) string {
		text, err := os.ReadFile("../../examples/formats/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	avsc, proto := read("orders.avsc"), read("orders.proto")
	orders := published{query: "id=o1", want: "at:2013-01-01T09:57:01.000Z city:Oslo id:o1 status:sent total:9.00", documents: "id:o1 status:sent | id:o2 status:new"}
	made := func(x example, encode func(o someOrder) []byte, schemas map[int]sr.Schema) published {
		out := orders
		out.example, out.schemas = x, schemas
		for _, o := range someOrders {
			out.records = append(out.records, sent{time: time.UnixMilli(o.at), value: encode(o)})
		}
		return out
	}
	byAvro := func(before ...byte) func(o someOrder) []byte {
		schema := avro.MustParse(avsc)
		return func(o someOrder) []byte {
			value, err := schema.AppendEncode(before, map[string]any{"id": o.id, "at": o.at, "status": o.status, "total": big.NewRat(o.cents, 100),
				"to": map[string]any{"street": "Storgata 1", "city": "Oslo"}})
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	byProtobuf := func(before ...byte) func(o someOrder) []byte {
		return func(o someOrder) []byte {
			at := testenv.Protobuf(1, o.at/1000)
			total := fmt.Sprintf("%d.%02d", o.cents/100, o.cents%100)
			return append(before[:len(before):len(before)], testenv.Protobuf(1, o.id, 2, at, 3, o.status, 4, total, 5, testenv.Protobuf(1, "Storgata 1", 2, "Oslo"))...)
		}
	}
	return []published{
		made(orderOf("avro", "avro"), byAvro(), nil),
		made(orderOf("avro-registry", "avro_registry"), byAvro(0, 0, 0, 0, 7), map[int]sr.Schema{7: {Schema: avsc}}),
		made(orderOf("protobuf", "protobuf"), byProtobuf(), nil),
		made(orderOf("protobuf-registry", "protobuf_registry"), byProtobuf(0, 0, 0, 0, 7, 0), map[int]sr.Schema{7: {Schema: proto, Type: sr.TypeProtobuf}}),
		avroKeys(t, byAvro(0, 0, 0, 0, 7), avsc), protobufKeys(byProtobuf(0, 0, 0, 0, 7, 0), proto),
		debeziumInAvro(t), maxwellOrders(), canalOrders(), canalPackets(),
	}
}

// endedOrders are orders, some of which end by a record without a value. Only its key names the order; one key has its schema in a header.
func endedOrders(x example, encode func(someOrder) []byte, key func(id string) []byte, framed int) published {
	out := published{example: x, query: "id=o1", want: "city:Oslo gone:false id:o1 status:sent total:9.00",
		documents: "deleted:false id:o1 status:sent | deleted:true id:o2", dead: []string{"missing_field $key.id", "missing_field id", "undecodable $key"}}
	for _, o := range someOrders {
		out.records = append(out.records, sent{time: time.UnixMilli(o.at), key: key(o.id), value: encode(o)})
	}
	whole := key("o2")
	out.records = append(out.records, sent{time: time.UnixMilli(orderedAt + 2000), key: whole[framed:], headers: []kafka.Header{{Key: "__key_schema_id", Value: whole[:framed]}}},
		sent{time: time.UnixMilli(orderedAt), key: []byte("o1")}, sent{time: time.UnixMilli(orderedAt)})
	return out
}

func avroKeys(t *testing.T, encode func(someOrder) []byte, avsc string) published {
	t.Helper()
	const text = `{"type":"record","name":"Key","fields":[{"name":"id","type":"string"}]}`
	out := endedOrders(orderOf("avro-keys", "avro_keys"), encode, func(id string) []byte {
		key, err := avro.MustParse(text).AppendEncode([]byte{0, 0, 0, 0, 8}, map[string]any{"id": id})
		if err != nil {
			t.Fatal(err)
		}
		return key
	}, 5)
	out.schemas, out.keys = map[int]sr.Schema{7: {Schema: avsc}}, map[int]sr.Schema{8: {Schema: text}}
	return out
}

func protobufKeys(encode func(someOrder) []byte, proto string) published {
	out := endedOrders(orderOf("protobuf-keys", "protobuf_keys"), encode, func(id string) []byte {
		return append([]byte{0, 0, 0, 0, 8, 0}, testenv.Protobuf(3, id)...)
	}, 6)
	out.schemas = map[int]sr.Schema{7: {Schema: proto, Type: sr.TypeProtobuf}}
	out.keys = map[int]sr.Schema{8: {Schema: `syntax = "proto3"; message Key { string id = 3; }`, Type: sr.TypeProtobuf}}
	return out
}

// TestKeysAgainstTheNewestSchema checks that check compares fields in keys with the newest schema of the topic's keys.
func TestKeysAgainstTheNewestSchema(t *testing.T) {
	registry := newSchemaRegistry(t)
	j := newJobOf(t, embeddedStack(t), orderOf("avro-keys", "avro_keys"))
	j.replace("http://localhost:8081", registry.URL())
	if out := j.must("check", "--connect", j.file); !strings.Contains(out, "has no subject "+j.topic+"-key") {
		t.Errorf("check says of keys without a schema:\n%s", out)
	}
	registry.SeedSchema(j.topic+"-key", 1, 8, sr.Schema{Schema: `{"type":"record","name":"Key","fields":[{"name":"id","type":"long"}]}`})
	want := "fields.id: it is long in the schema, but declared text; according to id 8 (" + j.topic + "-key v1), the newest schema"
	if out, code := j.exit("check", "--connect", j.file); code == exitOK || !strings.Contains(out, want) {
		t.Errorf("check exits with %d and does not say %q:\n%s", code, want, out)
	}
}

// TestKeysWaitForTheRegistry checks that a delete whose key names a schema not seen before waits while the registry is away, and that the
// row then ends. A key that no registry knows is a dead letter.
func TestKeysWaitForTheRegistry(t *testing.T) {
	avsc, err := os.ReadFile("../../examples/formats/orders.avsc")
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"type":"record","name":"Key","fields":[{"name":"id","type":"string"}]}`
	value, err := avro.MustParse(string(avsc)).AppendEncode([]byte{0, 0, 0, 0, 7}, map[string]any{"id": "o1", "at": int64(orderedAt), "status": "new",
		"total": big.NewRat(950, 100), "to": map[string]any{"street": "Storgata 1", "city": "Oslo"}})
	if err != nil {
		t.Fatal(err)
	}
	registry := newSchemaRegistry(t)
	j := newJobOf(t, embeddedStack(t), orderOf("avro-keys", "avro_keys"))
	j.replace("url: http://localhost:8081", "url: "+registry.URL()+"\n  unknown_after: 100ms")
	j.replace("    key_format: avro\n", "    key_format: avro\n    read: { max_pause: 200ms }\n")
	registry.SeedSchema(j.topic+"-value", 1, 7, sr.Schema{Schema: string(avsc)})
	registry.SeedSchema(j.topic+"-key", 1, 8, sr.Schema{Schema: text})
	registry.SeedSchema(j.topic+"-key", 2, 9, sr.Schema{Schema: text})
	key := func(id byte) []byte { return append([]byte{0, 0, 0, 0, id, 4}, "o1"...) }
	p := j.begin()
	j.sendAll([]sent{{key: key(8), value: value, time: time.UnixMilli(orderedAt)}})
	p.until("avro_keys.rows", 1)
	registry.away.Store(true)
	j.sendAll([]sent{{key: key(9), time: time.UnixMilli(orderedAt + 1000)}, {key: key(10), time: time.UnixMilli(orderedAt + 1000)}})
	p.untilWaiting("avro_keys.rows")
	if n := p.settled("avro_keys.rows"); n != 1 {
		t.Errorf("%d records are settled while the registry is away", n)
	}
	registry.away.Store(false)
	p.until("avro_keys.rows", 3)
	p.until("avro_keys.documents", 3)
	p.stop()
	if got := j.fieldsOf("id=o1"); got != "" {
		t.Errorf("the row is still %s", got)
	}
	if sums := j.output("deadletters", "ls", "-c", j.file, "--by", "schema", "--json"); !strings.Contains(sums, `"schema":"id 10","letters":1,`) {
		t.Errorf("the summary by schemas is\n%s", sums)
	}
	letters := j.deadLetters()
	if len(letters) != 2 { // of rows and of documents
		t.Errorf("%d dead letters", len(letters))
	}
	for _, l := range letters {
		if l.Reason != event.UnknownSchema || l.Field != "$key" || !bytes.Equal(l.Record.Key, key(10)) {
			t.Errorf("a dead letter for %s, field %s, of key %x: %s", l.Reason, l.Field, l.Record.Key, l.Detail)
		}
	}
}

// logged creates three rows of a table of orders, changes one and deletes one, and returns the rows and documents that are left.
func logged(x example, more string) published {
	return published{example: x, query: "id=1", want: "at:2013-01-01T09:57:01.000Z" + more, documents: "deleted:false id:1 status:sent | deleted:false id:3 status:new | deleted:true id:2 status:new"}
}

func debeziumInAvro(t *testing.T) published {
	t.Helper()
	const text = `{"type":"record","name":"Envelope","namespace":"shop.orders","fields":[
		{"name":"before","type":["null",{"type":"record","name":"Value","fields":[{"name":"id","type":"long"},{"name":"status","type":["null","string"],"default":null},
			{"name":"total","type":{"type":"bytes","scale":2,"precision":10,"connect.name":"org.apache.kafka.connect.data.Decimal","logicalType":"decimal"}},
			{"name":"made","type":{"type":"long","connect.name":"io.debezium.time.MicroTimestamp"}}],"connect.name":"shop.orders.Value"}],"default":null},
		{"name":"after","type":["null","Value"],"default":null},
		{"name":"source","type":{"type":"record","name":"Source","namespace":"io.debezium.connector.mysql","fields":[{"name":"connector","type":"string"},{"name":"ts_ms","type":"long"},
			{"name":"file","type":"string"},{"name":"pos","type":"long"}]}},
		{"name":"op","type":"string"},{"name":"ts_ms","type":["null","long"],"default":null}],"connect.name":"shop.orders.Envelope"}`
	out := logged(orderOf("debezium-avro", "debezium_avro"), " gone:false id:1 made:2013-01-01T09:57:00.000000Z status:sent total:9.00")
	out.schemas = map[int]sr.Schema{9: {Schema: text}}
	schema := avro.MustParse(text)
	row := func(id int64, status string, cents int64) any {
		return map[string]any{"id": id, "status": status, "total": big.NewRat(cents, 100), "made": int64(orderedAt * 1000)}
	}
	change := func(op string, at int64, before, after any) {
		value, err := schema.AppendEncode(binary.BigEndian.AppendUint32([]byte{0}, 9), map[string]any{"before": before, "after": after, "op": op, "ts_ms": at,
			"source": map[string]any{"connector": "mysql", "ts_ms": at, "file": "binlog.000007", "pos": at - orderedAt + 4}})
		if err != nil {
			t.Fatal(err)
		}
		out.records = append(out.records, sent{time: time.UnixMilli(at), value: value})
	}
	for id := int64(1); id <= 3; id++ {
		change("c", orderedAt, nil, row(id, "new", 950))
	}
	change("u", orderedAt+1000, row(1, "new", 950), row(1, "sent", 900))
	change("d", orderedAt+1000, row(2, "new", 950), nil)
	out.records = append(out.records, sent{time: time.UnixMilli(orderedAt + 1000), key: []byte("2")}) // its tombstone
	return out
}

func maxwellOrders() published {
	out := logged(orderOf("maxwell", "maxwell"), " gone:false id:1 status:sent total:9.00")
	change := func(kind string, second, id int64, status, total, old string) {
		out.records = append(out.records, sent{time: time.UnixMilli(orderedAt + second*1000), value: fmt.Appendf(nil,
			`{"database":"shop","table":"orders","type":%q,"ts":%d,"xid":5,"position":"binlog.000007:%d","data":{"id":%d,"status":%q,"total":%s}%s}`,
			kind, orderedAt/1000+second, 100+second, id, status, total, old)})
	}
	for id := int64(1); id <= 3; id++ {
		change("insert", 0, id, "new", "9.50", "")
	}
	change("update", 1, 1, "sent", "9.00", `,"old":{"status":"new","total":9.50}`)
	change("delete", 1, 2, "new", "9.50", "")
	return out
}

func canalOrders() published {
	out := logged(orderOf("canal", "canal"), " gone:false id:1 made:2013-01-01T01:57:00.000Z status:sent total:9.00")
	change := func(kind string, second int64, old string, rows string) {
		out.records = append(out.records, sent{time: time.UnixMilli(orderedAt + second*1000), value: fmt.Appendf(nil,
			`{"id":1,"database":"shop","table":"orders","pkNames":["id"],"isDdl":false,"type":%q,"es":%d,"ts":1,"data":[%s],"old":%s}`, kind, orderedAt+second*1000, rows, old)})
	}
	row := func(id, status, total string) string {
		return fmt.Sprintf(`{"id":%q,"status":%q,"total":%q,"made":"2013-01-01 09:57:00"}`, id, status, total)
	}
	change("INSERT", 0, "null", row("1", "new", "9.50")+","+row("2", "new", "9.50")+","+row("3", "new", "9.50"))
	change("UPDATE", 1, `[{"status":"new","total":"9.50"}]`, row("1", "sent", "9.00"))
	change("DELETE", 1, "null", row("2", "new", "9.50"))
	return out
}

func canalPackets() published {
	out := logged(orderOf("canal-protobuf", "canal_protobuf"), " gone:false id:1 made:2013-01-01T01:57:00.000Z status:sent total:9.00")
	image := func(number int, id, status, total string) (columns []any) {
		for _, c := range [][2]string{{"id", id}, {"status", status}, {"total", total}, {"made", "2013-01-01 09:57:00"}} {
			columns = append(columns, number, testenv.Protobuf(3, c[0], 8, c[1]))
		}
		return columns
	}
	row := func(images ...any) []byte { return testenv.Protobuf(images...) }
	entry := func(pos int64, kind, of int, change ...any) []byte {
		header := testenv.Protobuf(2, "mysql-bin.000007", 3, pos, 6, orderedAt+(pos-120)*50, 8, "shop", 9, "orders", 11, of)
		return testenv.Protobuf(1, header, 2, kind, 3, testenv.Protobuf(append([]any{2, of}, change...)...))
	}
	packet := func(entries ...[]byte) {
		var fields []any
		for _, e := range entries {
			fields = append(fields, 2, e)
		}
		out.records = append(out.records, sent{time: time.UnixMilli(orderedAt), value: testenv.Protobuf(3, 7, 4, 1, 5, testenv.Protobuf(fields...))})
	}
	packet(entry(100, 1, 0), entry(120, 2, 1, 12, row(image(2, "1", "new", "9.50")...), 12, row(image(2, "2", "new", "9.50")...), 12, row(image(2, "3", "new", "9.50")...)),
		entry(130, 3, 0))
	packet(entry(140, 2, 2, 12, row(append(image(1, "1", "new", "9.50"), image(2, "1", "sent", "9.00")...)...)), entry(150, 2, 3, 12, row(image(1, "2", "new", "9.50")...)),
		entry(160, 2, 5, 10, 1, 11, "ALTER TABLE orders"))
	return out
}
