package avro_test

import (
	"testing"

	"github.com/linkedin/goavro/v2"
	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// An order of 20 fields, of which a pipeline uses 8.
const orderSchema = `{"type":"record","name":"Order","namespace":"shop","fields":[
	{"name":"id","type":"string"},{"name":"user","type":"long"},{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["NEW","PAID","SENT"]}},
	{"name":"coupon","type":["null","string"]},{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
		{"name":"sku","type":"string"},{"name":"n","type":"int"},{"name":"price","type":"double"}]}}},
	{"name":"total","type":"double"},{"name":"weight","type":"float"},{"name":"paid","type":"boolean"},
	{"name":"at","type":{"type":"long","logicalType":"timestamp-micros"}},
	{"name":"place","type":{"type":"record","name":"Place","fields":[{"name":"city","type":"string"},{"name":"lat","type":"double"},{"name":"lon","type":"double"}]}},
	{"name":"tags","type":{"type":"map","values":"string"}},{"name":"remark","type":["null","string"]},
	{"name":"a","type":"int"},{"name":"b","type":"int"},{"name":"c","type":"long"},{"name":"d","type":"string"},{"name":"e","type":"boolean"},
	{"name":"f","type":"bytes"},{"name":"g","type":["null","long"]},{"name":"h","type":"int"}]}`

var orderFields = event.Schema{Version: 4, Fields: []event.Field{
	{Name: "id", Type: event.Text}, {Name: "user", Type: event.Int}, {Name: "kind", Type: event.Text}, {Name: "total", Type: event.Float},
	{Name: "at", Type: event.TimeMS}, {Name: "paid", Type: event.Bool}, {Name: "city", Type: event.Text, Path: []string{"place", "city"}},
	{Name: "remark", Type: event.Text},
}}

func order() map[string]any {
	line := map[string]any{"sku": "B-17", "n": 2, "price": 4.75}
	return map[string]any{"id": "2026-0001", "user": int64(77), "kind": "PAID", "coupon": nil, "lines": []any{line, line, line},
		"total": 9.5, "weight": float32(0.5), "paid": true, "at": int64(1357034220000123),
		"place": map[string]any{"city": "Newark", "lat": 40.6925, "lon": -74.168667}, "tags": map[string]any{"a": "b"},
		"remark": "ring twice", "a": 1, "b": 2, "c": int64(3), "d": "d", "e": false, "f": []byte("f"), "g": nil, "h": 8}
}

func orderRecord(t testing.TB) *event.Record {
	t.Helper()
	value, err := twmb.MustParse(orderSchema).Encode(order())
	if err != nil {
		t.Fatal(err)
	}
	return &event.Record{Value: value, Timestamp: 1357034220000}
}

func schemaOf(t testing.TB, text string, references ...string) *avro.Schema {
	t.Helper()
	s, err := avro.Parse(text, references...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func BenchmarkDecode(b *testing.B) {
	rec := orderRecord(b)
	b.Run("8 of 20 fields", func(b *testing.B) { decoding(b, orderSchema, orderFields, rec) })
	b.Run("8 of 8 fields", func(b *testing.B) {
		value, err := twmb.MustParse(flatSchema).Encode(flat)
		if err != nil {
			b.Fatal(err)
		}
		decoding(b, flatSchema, flatFields, &event.Record{Value: value, Timestamp: 1357034220000})
	})
	b.Run("8 of 8 fields by a registry", func(b *testing.B) {
		value, err := twmb.MustParse(flatSchema).AppendEncode([]byte{0, 0, 0, 0, 7}, flat)
		if err != nil {
			b.Fatal(err)
		}
		s := newShelf()
		s.add(7, "scans-value", flatSchema)
		fields := flatFields
		fields.Format = avro.Registered(registry.Confluent, s)
		measure(b, fields, &event.Record{Value: value, Timestamp: 1357034220000})
	})
}

func decoding(b *testing.B, schema string, fields event.Schema, rec *event.Record) {
	b.Helper()
	fields.Format = avro.Bare(schemaOf(b, schema))
	measure(b, fields, rec)
}

// measure decodes a record as ingest does, which resolves its schema first.
func measure(b *testing.B, fields event.Schema, rec *event.Record) {
	b.Helper()
	d := event.NewDecoder(fields)
	var batch event.Batch
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if len(batch.Events) == 1000 {
			d.Reset(&batch)
		}
		if err := d.Resolve(ctx, rec); err != nil {
			b.Fatal(err)
		}
		if err := d.Decode(rec, &batch); err != nil {
			b.Fatal(err)
		}
	}
}

const flatSchema = `{"type":"record","name":"Scan","fields":[{"name":"waybill","type":"string"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
	{"name":"station","type":"string"},{"name":"action","type":"string"},{"name":"courier","type":["null","string"]},{"name":"weight","type":"double"},
	{"name":"n","type":"int"},{"name":"late","type":"boolean"}]}`

var flatFields = event.Schema{Version: 1, Fields: []event.Field{
	{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "station", Type: event.Text}, {Name: "action", Type: event.Text},
	{Name: "courier", Type: event.Text}, {Name: "weight", Type: event.Float}, {Name: "n", Type: event.Int}, {Name: "late", Type: event.Bool},
}}

type scan struct {
	Waybill string  `avro:"waybill"`
	At      int64   `avro:"at"`
	Station string  `avro:"station"`
	Action  string  `avro:"action"`
	Courier *string `avro:"courier"`
	Weight  float64 `avro:"weight"`
	N       int     `avro:"n"`
	Late    bool    `avro:"late"`
}

var flat = map[string]any{"waybill": "UA-1545-20130101-EWR", "at": int64(1357034220000), "station": "Newark Liberty Intl", "action": "DEPART",
	"courier": "N14228", "weight": 12.5, "n": 7, "late": false}

// BenchmarkOtherLibraries reads the same 8 fields.
func BenchmarkOtherLibraries(b *testing.B) {
	schema := twmb.MustParse(flatSchema)
	value, err := schema.Encode(flat)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("twmb struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var s scan
			if _, err := schema.Decode(value, &s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("twmb any", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if _, err := schema.Decode(value, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	codec, err := goavro.NewCodec(flatSchema)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("goavro", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := codec.NativeFromBinary(value); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The fields that a pipeline declares are read in place: once a batch has its size, an event allocates nothing.
func TestDecodingAllocatesNothing(t *testing.T) {
	rec := orderRecord(t)
	fields := orderFields
	fields.Format = avro.Bare(schemaOf(t, orderSchema))
	d := event.NewDecoder(fields)
	var batch event.Batch
	const events = 1000
	n := testing.AllocsPerRun(10, func() {
		d.Reset(&batch)
		for range events {
			if err := d.Decode(rec, &batch); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n/events > 0.01 {
		t.Errorf("%.2f allocations an event", n/events)
	}
}
