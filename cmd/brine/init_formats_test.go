package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"
	"google.golang.org/protobuf/encoding/protowire"

	"brine/internal/testenv"
)

const (
	parcelAvro = `{"type":"record","name":"Parcel","fields":[{"name":"id","type":"string"},
	{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"weight","type":["null","double"],"default":null},
	{"name":"to","type":{"type":"record","name":"To","fields":[{"name":"city","type":"string"},{"name":"zip","type":["null","int"]}]}},
	{"name":"tags","type":{"type":"array","items":"string"}}]}`
	plainAvro = `{"type":"record","name":"Plain","fields":[{"name":"id","type":"string"},{"name":"at","type":"long"},
	{"name":"born_at","type":["null","long"]}]}`
	parcelProto = `syntax = "proto3";
package shop;
message Parcel {
  message To { string city = 1; optional int32 zip = 2; }
  string id = 1;
  int64 at = 2;
  optional double weight = 3;
  To to = 4;
  repeated string tags = 5;
}
message Other { string x = 1; }
`
)

// parcelTime is the time of the first parcel; each is a second later.
var parcelTime = time.UnixMilli(1_700_000_000_000)

// encodedParcels returns records of an encoding: four parcels with three changes each.
func encodedParcels(encode func(id string, at int64, n int) []byte) (out []sent) {
	for n := range 12 {
		at := parcelTime.Add(time.Duration(n) * time.Second)
		out = append(out, sent{partition: n % devPartitions, time: at, value: encode(fmt.Sprintf("p%d", n%4), at.UnixMilli(), n)})
	}
	return out
}

func avroParcel(prefix ...byte) func(string, int64, int) []byte {
	schema := avro.MustParse(parcelAvro)
	return func(id string, at int64, n int) []byte {
		value, err := schema.AppendEncode(append([]byte(nil), prefix...), map[string]any{"id": id, "at": at, "weight": 1.5 * float64(n),
			"to": map[string]any{"city": []string{"Oslo", "Bergen"}[n%2], "zip": nil}, "tags": []string{"a"}})
		if err != nil {
			panic(err)
		}
		return value
	}
}

func protobufParcel(prefix ...byte) func(string, int64, int) []byte {
	return func(id string, at int64, n int) []byte {
		to := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), []string{"Oslo", "Bergen"}[n%2])
		b := protowire.AppendTag(append([]byte(nil), prefix...), 1, protowire.BytesType)
		b = protowire.AppendString(b, id)
		b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), uint64(at))
		b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), to)
		return protowire.AppendString(protowire.AppendTag(b, 5, protowire.BytesType), "a")
	}
}

// debeziumParcels returns changes of rows with a key of two columns: inserts, updates, and a delete with its tombstone. With full, records
// hold the rows before changes, and have no schema.
func debeziumParcels(full bool) (out []sent) {
	wrap := func(fields, payload string) []byte {
		if full {
			return []byte(payload)
		}
		return fmt.Appendf(nil, `{"schema":{"type":"struct","fields":[%s]},"payload":%s}`, fields, payload)
	}
	const columns = `{"field":"shop","type":"int32"},{"field":"id","type":"int64"},{"field":"price","type":"bytes",` +
		`"name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}},` +
		`{"field":"made","type":"int64","name":"io.debezium.time.MicroTimestamp"},{"field":"note","type":"string"}`
	const schema = `{"field":"before","type":"struct","fields":[` + columns + `]},{"field":"after","type":"struct","fields":[` + columns + `]}`
	for n := range 12 {
		at := parcelTime.Add(time.Duration(n) * time.Second)
		row := func(n int) string {
			return fmt.Sprintf(`{"shop":%d,"id":%d,"price":"MDk=","made":%d,"note":"note %d"}`, 1+n%2, n%4, parcelTime.UnixMicro(), n)
		}
		key := fmt.Sprintf(`{"shop":%d,"id":%d}`, 1+n%2, n%4)
		before, after, op := "null", row(n), "c"
		switch {
		case n >= 4 && n < 11:
			before, op = row(n-4), "u"
		case n == 11:
			before, after, op = row(n-4), "null", "d"
		}
		if !full && before != "null" {
			before = key
		}
		value := fmt.Sprintf(`{"before":%s,"after":%s,"source":{"connector":"postgresql","ts_ms":%d,"lsn":%d},"op":%q,"ts_ms":%d}`,
			before, after, at.UnixMilli(), 1000+n, op, at.UnixMilli()+5)
		// The changes of a row share a partition.
		out = append(out, sent{partition: n % 4 % devPartitions, time: at, key: wrap(`{"field":"shop"},{"field":"id"}`, key), value: wrap(schema, value)})
		if op == "d" {
			out = append(out, sent{partition: n % 4 % devPartitions, time: at, key: out[len(out)-1].key})
		}
	}
	return out
}

// canalParcels returns changes of twelve rows as Canal writes them, two rows per record: all are inserted, some are changed, and one is
// deleted.
func canalParcels() (out []sent) {
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	row := func(id, n int) string {
		return fmt.Sprintf(`{"id":"%d","city":"Oslo","price":"%d.50","made":"2024-05-01 08:00:%02d"}`, id, n, id)
	}
	record := func(second int, kind, data, old string) {
		at := at.Add(time.Duration(second) * time.Second)
		out = append(out, sent{time: at, value: fmt.Appendf(nil, `{"id":%d,"database":"shop","table":"parcels","pkNames":["id"],"isDdl":false,"type":%q,"es":%d,"ts":%d,`+
			`"mysqlType":{"id":"bigint(20) unsigned","city":"varchar(32)","price":"decimal(10,2)","made":"datetime"},"data":[%s],"old":%s,"gtid":""}`,
			second, kind, at.UnixMilli(), at.UnixMilli()+5, data, old)})
	}
	for id := 1; id <= 12; id += 2 {
		record(id, "INSERT", row(id, 1)+","+row(id+1, 1), "null")
	}
	record(20, "UPDATE", row(1, 2)+","+row(2, 2), `[{"price":"1.50"},{"price":"1.50"}]`)
	record(21, "DELETE", row(3, 1), "null")
	out = append(out, sent{time: at, value: fmt.Appendf(nil, `{"id":99,"database":"shop","table":"parcels","isDdl":true,"type":"ALTER","es":%d,"ts":1,"data":null,"old":null,"sql":"alter"}`, at.UnixMilli())})
	return out
}

// packetParcels returns the same changes in Canal's Protobuf, with the types of columns or without.
func packetParcels(types bool) (out []sent) {
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	row := func(number, id, n int) (fields []any) {
		for i, c := range [][2]string{{"id", fmt.Sprint(id)}, {"city", "Oslo"}, {"price", fmt.Sprintf("%d.50", n)}, {"made", fmt.Sprintf("2024-05-01 08:00:%02d", id)}} {
			column := []any{3, c[0], 4, map[bool]int{true: 1}[i == 0], 8, c[1]}
			if types {
				column = append(column, 10, []string{"bigint(20) unsigned", "varchar(32)", "decimal(10,2)", "datetime"}[i])
			}
			fields = append(fields, number, testenv.Protobuf(column...))
		}
		return fields
	}
	packet := func(second, kind int, rows ...[]any) {
		at := at.Add(time.Duration(second) * time.Second)
		change := []any{2, kind}
		for _, r := range rows {
			change = append(change, 12, testenv.Protobuf(r...))
		}
		header := testenv.Protobuf(2, "mysql-bin.000007", 3, 100*second, 6, at.UnixMilli(), 8, "shop", 9, "parcels", 11, kind)
		begins := testenv.Protobuf(1, header, 2, 1)
		entry := testenv.Protobuf(1, header, 2, 2, 3, testenv.Protobuf(change...))
		out = append(out, sent{time: at, value: testenv.Protobuf(3, 7, 4, 1, 5, testenv.Protobuf(2, begins, 2, entry))})
	}
	for id := 1; id <= 12; id += 2 {
		packet(id, 1, row(2, id, 1), row(2, id+1, 1))
	}
	packet(20, 2, append(row(1, 1, 1), row(2, 1, 2)...), append(row(1, 2, 1), row(2, 2, 2)...))
	packet(21, 3, row(1, 3, 1))
	return out
}

// maxwellParcels returns the same changes as Maxwell writes them.
func maxwellParcels() (out []sent) {
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	record := func(second, id, n int, kind, old string) {
		at := at.Add(time.Duration(second) * time.Second)
		out = append(out, sent{partition: id % devPartitions, time: at, key: fmt.Appendf(nil, `{"database":"shop","table":"parcels","pk.id":%d}`, id),
			value: fmt.Appendf(nil, `{"database":"shop","table":"parcels","type":%q,"ts":%d,"xid":%d,"xoffset":0,"data":{"id":%d,"city":"Oslo","n":%d}%s}`,
				kind, at.Unix(), second, id, n, old)})
	}
	for id := 1; id <= 12; id++ {
		record(id, id, 1, "insert", "")
	}
	record(20, 1, 2, "update", `,"old":{"n":1}`)
	record(21, 3, 1, "delete", "")
	return append(out, sent{time: at, value: fmt.Appendf(nil, `{"database":"shop","table":"parcels","type":"table-alter","ts":%d,"sql":"alter"}`, at.UnixMilli())})
}

// withPositions returns Maxwell's records as it writes them with output_binlog_position.
func withPositions(records []sent) []sent {
	for i := range records {
		position := fmt.Appendf(nil, `"position":"binlog.000007:%d","xid"`, 100*(i+1))
		records[i].value = bytes.Replace(records[i].value, []byte(`"xid"`), position, 1)
	}
	return records
}

// bareParcels returns changes of four rows as Debezium's ExtractNewRecordState writes them, with these add.fields; the last is a delete, as
// delete.handling.mode: rewrite writes it.
func bareParcels(added func(at time.Time, n int) string) (out []sent) {
	for n := range 12 {
		at := parcelTime.Add(time.Duration(n) * time.Second)
		op := "c"
		switch {
		case n == 11:
			op = "d"
		case n >= 4:
			op = "u"
		}
		value := fmt.Sprintf(`{"id":%d,"city":"Oslo","n":%d,"__deleted":"%t","__op":%q%s}`, n%4, n, op == "d", op, added(at, n))
		key := fmt.Appendf(nil, `{"id":%d}`, n%4)
		out = append(out, sent{partition: n % 4 % devPartitions, time: at, key: key, value: []byte(value)})
		if op == "d" {
			out = append(out, sent{partition: n % 4 % devPartitions, time: at, key: key})
		}
	}
	return out
}

// compactedParcels returns records of a compacted topic, with keys of a form: twelve parcels, of which four are deleted.
func compactedParcels(key string) (out []sent) {
	for n := range 40 {
		r := sent{partition: n % 12 % devPartitions, time: parcelTime.Add(time.Duration(n) * time.Second), key: fmt.Appendf(nil, key, fmt.Sprint("p", n%12))}
		if n < 36 {
			r.value = fmt.Appendf(nil, `{"name":"name %d","phone":"+47 %d"}`, n, n)
		}
		out = append(out, r)
	}
	return out
}

// withOperations returns records as ExtractNewRecordState writes them that adds the operation and leaves deletes without a value.
func withOperations(records []sent) []sent {
	for i := range records {
		records[i].value = bytes.Replace(records[i].value, []byte("{"), []byte(`{"__op":"u",`), 1)
		if len(records[i].value) == 0 {
			records[i].value = nil
		}
	}
	return records
}

// endedParcels returns changes of four rows as ExtractNewRecordState writes them by default: deletes have no value, or null in its place, and
// all records the place in the log in a header. Without keyed, some keys are not objects.
func endedParcels(keyed bool) (out []sent) {
	for n := range 16 {
		r := sent{partition: n % 4 % devPartitions, time: parcelTime.Add(time.Duration(n) * time.Second), headers: []kafka.Header{{Key: "__source_lsn",
			Value: fmt.Append(nil, 1000+n)}}, key: fmt.Appendf(nil, `{"schema":{"type":"struct"},"payload":{"id":%d}}`, n%4)}
		switch {
		case n < 12:
			r.value = fmt.Appendf(nil, `{"id":%d,"city":"Oslo","n":%d,"__op":"u"}`, n%4, n)
		case n == 13:
			r.value = []byte("null")
		case n == 14:
			r.value = []byte(`{"schema":{"type":"struct","optional":true},"payload":null}`)
		}
		if !keyed && n > 0 {
			r.key = fmt.Append(nil, n%4)
		}
		out = append(out, r)
	}
	return out
}

// textParcels returns twelve texts of four parcels; those from a number on have no value.
func textParcels(ended int) (out []sent) {
	for n := range 12 {
		r := sent{partition: n % 4 % devPartitions, time: parcelTime.Add(time.Duration(n) * time.Second), key: fmt.Append(nil, "p", n%4)}
		if n < ended {
			r.value = fmt.Append(nil, "note ", n, "\nof a parcel")
		}
		out = append(out, r)
	}
	return out
}

// withHeader returns records with a header.
func withHeader(records []sent, name string, value ...byte) []sent {
	for i := range records {
		records[i].headers = []kafka.Header{{Key: name, Value: value}}
	}
	return records
}

// keyedParcels returns parcels in Avro with keys of a form, the last of which ends by a record without a value.
func keyedParcels(key string) []sent {
	out := encodedParcels(avroParcel(0, 0, 0, 0, 1))
	for n := range out {
		out[n].key, out[n].partition = fmt.Appendf(nil, key, fmt.Sprint("p", n%4)), n%4%devPartitions
	}
	return append(out, sent{partition: out[3].partition, time: out[11].time.Add(time.Second), key: out[3].key})
}

// uuidParcels are inserts whose primary keys are UUIDs, and an update that has only the key of the row before it.
func uuidParcels(n int) (out []sent) {
	change := func(id, op, before string) {
		at := time.UnixMilli(1700000000000 + int64(len(out)))
		out = append(out, sent{time: at, key: fmt.Appendf(nil, `{"id":%q}`, id), value: fmt.Appendf(nil, `{"before":%s,"after":{"id":%q,"city":"Oslo"},"op":%q,`+
			`"source":{"connector":"postgresql","ts_ms":%d,"lsn":%d},"ts_ms":1}`, before, id, op, at.UnixMilli(), 100+len(out))})
	}
	id := func(n int) string {
		hash := md5.Sum(fmt.Append(nil, n))
		return fmt.Sprintf("%x-%x-%x-%x-%x", hash[:4], hash[4:6], hash[6:8], hash[8:10], hash[10:])
	}
	for i := range n {
		change(id(i), "c", "null")
	}
	change(id(0), "u", fmt.Sprintf(`{"id":%q}`, id(0)))
	return out
}

// TestInitOfFormats: for a topic of each format init writes a configuration that check accepts, and with which run and verify run.
func TestInitOfFormats(t *testing.T) {
	t.Parallel()
	s := embeddedStack(t)
	registry := newSchemaRegistry(t)
	registry.SeedSchema("avro-value", 1, 1, sr.Schema{Schema: parcelAvro})
	registry.SeedSchema("protobuf-value", 1, 2, sr.Schema{Schema: parcelProto, Type: sr.TypeProtobuf})
	registry.SeedSchema("json-value", 1, 3, sr.Schema{Schema: `{"type":"object"}`, Type: sr.TypeJSON})
	changes := debeziumInAvro(t)
	for id, schema := range changes.schemas {
		registry.SeedSchema("debezium-value", 1, id, schema)
	}
	registry.SeedSchema("debezium-key", 1, 10, sr.Schema{Schema: `{"type":"record","name":"Key","fields":[{"name":"id","type":"long"}]}`})
	for i := range changes.records {
		changes.records[i].key = []byte{0, 0, 0, 0, 10, 2} // which row it belongs to does not matter here
	}
	registry.SeedSchema("record-key", 1, 4, sr.Schema{Schema: `{"type":"record","name":"Key","fields":[{"name":"id","type":"string"}]}`})
	registry.SeedSchema("single-key", 1, 5, sr.Schema{Schema: `"string"`})
	registry.SeedSchema("message-key", 1, 6, sr.Schema{Schema: `syntax = "proto3"; message Key { string id = 3; }`, Type: sr.TypeProtobuf})
	dir := t.TempDir()
	schemas := map[string]string{"p.avsc": parcelAvro, "plain.avsc": plainAvro, "p.proto": parcelProto}
	for name, text := range schemas {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	jsonParcel := func(id string, at int64, n int) string {
		return fmt.Sprintf(`{"id":%q,"at":%d,"to":{"city":"Oslo"},"n":%d}`, id, at, n)
	}
	for name, c := range map[string]struct {
		flags   []string
		records []sent
		want    []string // lines of the configuration
		rows    int      // expected afterwards
	}{
		"debezium": {nil, debeziumParcels(true), []string{"envelope: debezium ", "images: { deleted: gone }", "changed_at: { type: time_ms, path: [\"$source\", ts_ms] }",
			"version: lsn(lsn)", "row: entity", "key: md5(shop, 4) + asc(shop) + asc(id)"}, 4},
		"debezium with schemas": {nil, debeziumParcels(false), []string{"envelope: { form: debezium, before: key, key: [shop, id] }",
			"price: decimal", "made: time_us"}, 4},
		"debezium, another column first": {[]string{"--key", "2"}, debeziumParcels(false), []string{"key: md5(id, 4) + asc(id) + asc(shop)\n"}, 4},
		"debezium in buckets":            {[]string{"--key", "3"}, debeziumParcels(false), []string{"key: salt(16, shop) + asc(shop) + asc(id)\n"}, 4},
		"canal, backwards":               {[]string{"--key", "2"}, canalParcels(), []string{"key: reverse(id)\n"}, 12},
		"uuids":                          {[]string{"--key", "2"}, uuidParcels(200), []string{"key: id\n", `splits: ["1", "2", `}, 200},
		"debezium in avro": {[]string{"--registry", registry.URL()}, changes.records, []string{"format: avro", "envelope: { form: debezium, before: key, key: [id] }", "total: decimal", "made: time_us",
			"version: binlog(file, pos)", "key: md5(id, 4) + asc(id)"}, 3},
		"debezium without an envelope": {nil, bareParcels(func(at time.Time, n int) string {
			return fmt.Sprintf(`,"__lsn":%d,"__source_ts_ms":%d`, 1000+n, at.UnixMilli())
		}), []string{"envelope: { form: debezium, unwrapped: true, key: [id] }", `lsn: { type: int, path: ["$lsn"] }`, "version: lsn(lsn)",
			"key: md5(id, 4) + asc(id)", "deletes: marked ", "images: { deleted: gone }"}, 4},
		"debezium without an envelope or places": {nil, bareParcels(func(at time.Time, _ int) string {
			return fmt.Sprintf(`,"__source_ts_ms":%d`, at.UnixMilli())
		}), []string{"envelope: { form: debezium, unwrapped: true, key: [id], ties: accept }", "version: changed_at"}, 4},
		"debezium without an envelope of mysql": {nil, bareParcels(func(_ time.Time, n int) string {
			return fmt.Sprintf(`,"__source_file":"bin.000003","__source_pos":%d`, 1000+n)
		}), []string{`pos: { type: int, path: ["$source", pos] }`, "version: binlog(file, pos)"}, 4},
		"canal": {nil, canalParcels(), []string{"envelope: { form: canal, ties: accept }", "price: decimal", `made: { type: time, format: "%Y-%m-%d %H:%M:%S" }`,
			"version: changed_at", "key: md5(id, 4) + asc(id)"}, 12},
		"canal in protobuf": {nil, packetParcels(true), []string{"envelope: { form: canal_protobuf, ties: accept }", "price: decimal",
			`made: { type: time, format: "%Y-%m-%d %H:%M:%S" }`, "version: changed_at", "key: md5(id, 4) + asc(id)"}, 12},
		"canal in protobuf without types": {nil, packetParcels(false), []string{"envelope: { form: canal_protobuf, ties: accept }", "price: ", "version: changed_at",
			"key: md5(id, 4) + asc(id)"}, 12},
		"maxwell": {nil, maxwellParcels(), []string{"envelope: { form: maxwell, ties: accept }", `changed_at: { type: time_s, path: ["$ts"] }`, "version: changed_at",
			"key: md5(id, 4) + asc(id)"}, 12},
		"maxwell with positions": {nil, withPositions(maxwellParcels()), []string{"envelope: maxwell", `position: { type: text, path: ["$position"] }`,
			"version: binlog(position)", "key: md5(id, 4) + asc(id)"}, 12},
		"avro by a registry": {[]string{"--registry", registry.URL()}, encodedParcels(avroParcel(0, 0, 0, 0, 1)), []string{"format: avro", "url: ", "at: time_ms",
			"weight: float", "city: { type: text, path: [to, city] }", "tags: json", "version: at"}, 12},
		"avro without logical types": {[]string{"--schema", filepath.Join(dir, "plain.avsc")}, encodedParcels(func(id string, at int64, _ int) []byte {
			value, err := avro.MustParse(plainAvro).AppendEncode(nil, map[string]any{"id": id, "at": at, "born_at": at * 1000})
			if err != nil {
				panic(err)
			}
			return value
		}), []string{"format: avro", "at: time_ms", "born_at: time_us", "version: at", "key: md5(id, 4) + id + \"|\" + desc(at, ms)"}, 12},
		"avro by a file": {[]string{"--schema", filepath.Join(dir, "p.avsc")}, encodedParcels(avroParcel()), []string{"format: avro", "schema: p.avsc"}, 12},
		"avro behind ids of eight bytes": {[]string{"--registry", registry.URL()}, encodedParcels(avroParcel(0, 0, 0, 0, 0, 0, 0, 0, 1)),
			[]string{"format: avro", "  framing: apicurio8 ", "weight: float"}, 12},
		"avro with ids in headers of apicurio": {[]string{"--registry", registry.URL()}, withHeader(encodedParcels(avroParcel()), "apicurio.value.contentId", 0, 0, 0, 0, 0, 0, 0, 1),
			[]string{"format: avro", "  framing: apicurio\n", "weight: float"}, 12},
		"protobuf with names of apicurio": {[]string{"--registry", registry.URL()}, withHeader(encodedParcels(protobufParcel()), "apicurio.value.contentId", 0, 0, 0, 0, 0, 0, 0, 2),
			[]string{"format: protobuf", "  framing: apicurio\n"}, 12},
		"compacted with keys in avro": {[]string{"--registry", registry.URL()}, keyedParcels("\x00\x00\x00\x00\x04\x04%s"),
			[]string{"format: avro", "key_format: avro", "deletes: tombstone ", `id: { type: text, path: ["$key", id] }`, "key: md5(id, 4) + id\n"}, 4},
		"compacted with single values in avro as keys": {[]string{"--registry", registry.URL()}, keyedParcels("\x00\x00\x00\x00\x05\x04%s"),
			[]string{"key_format: avro", "deletes: tombstone ", "key: { type: text, path: $key }", "key: md5(key, 4) + key\n"}, 4},
		"compacted with keys in protobuf": {[]string{"--registry", registry.URL()}, keyedParcels("\x00\x00\x00\x00\x06\x00\x1a\x02%s"),
			[]string{"key_format: protobuf", "deletes: tombstone ", `id: { type: text, path: ["$key", id] }`, "key: md5(id, 4) + id\n"}, 4},
		"protobuf by a registry": {[]string{"--registry", registry.URL()}, encodedParcels(protobufParcel(0, 0, 0, 0, 2, 0)), []string{"format: protobuf", "at: time_ms", "version: at",
			"city: { type: text, path: [to, city] }", "zip: { type: int, path: [to, zip] }", "key: md5(id, 4) + id + \"|\" + desc(at, ms)"}, 12},
		"protobuf by a file": {[]string{"--schema", filepath.Join(dir, "p.proto"), "--message", "shop.Parcel"}, encodedParcels(protobufParcel()),
			[]string{"format: protobuf", "schema: p.proto", "message: shop.Parcel", "at: time_ms", "version: at"}, 12},
		"compacted": {nil, compactedParcels(`{"id":"%s"}`), []string{"40 records were read; 4 of them have no value.", "key_format: json", "deletes: tombstone ",
			"images: { deleted: gone }", `id: { type: text, path: ["$key", id] }`, "key: md5(id, 4) + id\n", "row: entity"}, 12},
		"debezium without an envelope, deletes without a value": {nil, withOperations(compactedParcels(`{"id":"%s"}`)), []string{"4 of them have no value.", "deletes: tombstone ",
			"envelope: { form: debezium, unwrapped: true, key: [id], ties: accept }", "key_format: json", "No version: ", "key: md5(id, 4) + id\n"}, 12},
		"debezium without an envelope, deletes are null": {nil, endedParcels(true), []string{"4 of them have no value.", "deletes: tombstone ",
			"envelope: { form: debezium, unwrapped: true, key: [id] }", `id: { type: int, path: ["$key", payload, id] }`,
			`lsn: { type: int, path: ["$header", __source_lsn] }`, "version: lsn(lsn)", "key: md5(id, 4) + asc(id)\n"}, 4},
		"compacted with plain keys": {nil, compactedParcels("%s"), []string{"4 of them have no value.", "deletes: tombstone ", "key: { type: text, path: $key }",
			"key: md5(key, 4) + key\n"}, 12}, // those that are deleted are marked
		"json behind ids": {[]string{"--registry", registry.URL()}, encodedParcels(func(id string, at int64, n int) []byte {
			return append([]byte{0, 0, 0, 0, 3}, jsonParcel(id, at, n)...)
		}), []string{"format: json", "framing: confluent"}, 12},
		"texts":              {nil, textParcels(12), []string{"format: raw", "key: { type: text, path: $key }", "value: { type: text, path: $value }"}, 4},
		"texts with deletes": {nil, textParcels(10), []string{"format: raw", "deletes: tombstone ", "key: md5(key, 4) + key\n"}, 4},
		"arrays": {nil, encodedParcels(func(id string, at int64, n int) []byte {
			return []byte("[" + jsonParcel(id, at, n) + "," + jsonParcel(id+"x", at, n) + "]")
		}), []string{"format: json_array"}, 24},
		"csv": {[]string{"--columns", "parcel,at,city"}, encodedParcels(func(id string, at int64, n int) []byte {
			return fmt.Appendf(nil, "%s;%s;\"Oslo; %d\"", id, time.UnixMilli(at).UTC().Format("2006-01-02 15:04:05"), n)
		}), []string{"format: csv", `csv: { columns: [parcel, at, city], separator: ";" }`, `at: { type: time, format: "%Y-%m-%d %H:%M:%S" }`}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			j := &job{stack: s, t: t, topic: testenv.Name(t), file: filepath.Join(dir, testenv.Name(t)+".yaml")}
			if err := createTopicBy(t.Context(), j.client(), j.topic, devPartitions); err != nil {
				t.Fatal(err)
			}
			j.sendAll(c.records)
			j.must(append([]string{"init", "--topic", j.topic, "--brokers", strings.Join(s.brokers, ","), "--hbase", s.hbase, "-o", j.file}, c.flags...)...)
			text, err := os.ReadFile(j.file)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(text), want) {
					t.Errorf("the configuration lacks %q", want)
				}
			}
			for n := 2; c.rows > 0; n++ { // init itself checks what it writes
				other := []string{"init", "--topic", j.topic, "--brokers", strings.Join(s.brokers, ","), "--hbase", s.hbase, "-o", j.file + ".other", "--force"}
				if out, code := j.exit(append(append(other, c.flags...), "--key", fmt.Sprint(n))...); code == exitUsage {
					break
				} else if code != exitOK {
					t.Errorf("key %d: exit %d: %s", n, code, out)
				}
			}
			j.must("check", j.file)
			j.must("tables", "apply", "-c", j.file)
			out := j.must("run", "-q", "-c", j.file, "--until-end")
			verified := j.must("verify", "-c", j.file, "--full")
			if c.rows > 0 && !strings.Contains(verified, fmt.Sprintf(": %d rows with ", c.rows)) {
				t.Errorf("there are not %d rows", c.rows)
			}
			if t.Failed() || !strings.Contains(out, " records written, 0 dead letters") {
				t.Errorf("%s\n%s\n%s", text, out, verified)
			}
		})
	}
}
