package event_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/valyala/fastjson"

	"brine/event"
)

// Two scan events, of 200 and 343 bytes.
var scans = map[string]string{
	"200B": `{"waybill":"UA-1545-20130101-EWR","action":"DEPART","at":1357034220000,"station":"Newark Liberty Intl","courier":"N14228","device":"PDA-7731","remark":"loaded last, belt 2, gate C28, off block","v":2}`,
	"343B": `{"waybill":"UA-1545-20130101-EWR","action":"DEPART","at":1357034220000,"station":"EWR","courier":"N14228","place":{"name":"Newark Liberty Intl","lat":40.6925,"lon":-74.168667,"tz":"America/New_York"},"flight":{"carrier":"UA","number":1545,"to":"IAH","distance":1400,"air_time":227,"delayed":false,"sched":"2013-01-01T05:15:00Z"},"source":"de"}`,
}

var scanSchema = event.Schema{
	Fields: []event.Field{
		{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "station", Type: event.Text},
		{Name: "action", Type: event.Text}, {Name: "courier", Type: event.Text},
	},
	Version: 1,
}

func BenchmarkDecode(b *testing.B) {
	for name, scan := range scans {
		b.Run(name, func(b *testing.B) {
			rec := &event.Record{Value: []byte(scan), Timestamp: 1357034220000}
			if len(rec.Value) != map[string]int{"200B": 200, "343B": 343}[name] {
				b.Fatalf("%d bytes", len(rec.Value))
			}
			d := event.NewDecoder(scanSchema)
			var batch event.Batch
			b.ReportAllocs()
			for b.Loop() {
				if len(batch.Events) == 1000 {
					d.Reset(&batch)
				}
				if err := d.Decode(rec, &batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOtherLibraries is the comparison in docs/adr/0004-json-decoding.md: fastjson without and with the checks that it omits, and the
// standard library.
func BenchmarkOtherLibraries(b *testing.B) {
	type scan struct {
		Waybill, Station, Action, Courier string
		At                                int64
	}
	for name, s := range scans {
		in := []byte(s)
		var p fastjson.Parser
		parse := func(b *testing.B) {
			v, err := p.ParseBytes(in)
			if err != nil {
				b.Fatal(err)
			}
			for _, key := range []string{"waybill", "station", "action", "courier"} {
				if len(v.GetStringBytes(key)) == 0 {
					b.Fatal(key)
				}
			}
			if v.GetInt64("at") == 0 {
				b.Fatal("at")
			}
		}
		b.Run("fastjson/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				parse(b)
			}
		})
		b.Run("fastjson+Validate/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := fastjson.ValidateBytes(in); err != nil {
					b.Fatal(err)
				}
				parse(b)
			}
		})
		b.Run("encoding-json/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v scan
				if err := json.Unmarshal(in, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// An update of 1 kB in Debezium's form, without its schema.
const orderChange = `{"before":{"id":100123,"user_id":4711,"status":"PAID","total":"MDk=","city":"Newark","note":"ring twice, second door on the left","updated_at":1357034100000,"weight":12.5},` +
	`"after":{"id":100123,"user_id":4711,"status":"SENT","total":"MDk=","city":"Newark","note":"ring twice, second door on the left","updated_at":1357034220000,"weight":12.5},` +
	`"source":{"version":"3.0.0.Final","connector":"mysql","name":"shop","ts_ms":1357034220000,"snapshot":"false","db":"shop","sequence":null,"ts_us":1357034220000000,"ts_ns":1357034220000000000,` +
	`"table":"orders","server_id":223344,"gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:2341","file":"mysql-bin.000003","pos":80512,"row":0,"thread":7,"query":null},` +
	`"transaction":{"id":"3e11fa47-71ca-11e1-9e33-c80aa9429562:2341","total_order":1,"data_collection_order":1},"op":"u","ts_ms":1357034220461,"ts_us":1357034220461123,"ts_ns":1357034220461123456,"remark":"` +
	`of no field; with it the record is of one kilobyte, as those of a table of a dozen columns are, where most columns have numbers 123"}`

// The schema of that change, as Kafka Connect writes it before each one.
var orderConnectSchema = `{"type":"struct","fields":[` + fmt.Sprintf(orderRow, "before") + `,` + fmt.Sprintf(orderRow, "after") +
	`,{"type":"struct","fields":[{"type":"string","optional":false,"field":"version"},{"type":"string","optional":false,"field":"connector"},` +
	`{"type":"string","optional":false,"field":"name"},{"type":"int64","optional":false,"field":"ts_ms"},` +
	`{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,"parameters":{"allowed":"true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"},` +
	`"default":"false","field":"snapshot"},{"type":"string","optional":false,"field":"db"},{"type":"string","optional":true,"field":"table"},{"type":"int64","optional":false,"field":"server_id"},` +
	`{"type":"string","optional":true,"field":"gtid"},{"type":"string","optional":false,"field":"file"},{"type":"int64","optional":false,"field":"pos"},{"type":"int32","optional":false,"field":"row"},` +
	`{"type":"int64","optional":true,"field":"thread"},{"type":"string","optional":true,"field":"query"}],"optional":false,"name":"io.debezium.connector.mysql.Source","field":"source"},` +
	`{"type":"string","optional":false,"field":"op"},{"type":"int64","optional":true,"field":"ts_ms"},{"type":"string","optional":true,"field":"remark"}],` +
	`"optional":false,"name":"shop.shop.orders.Envelope","version":2}`

const orderRow = `{"type":"struct","fields":[{"type":"int64","optional":false,"field":"id"},{"type":"int64","optional":false,"field":"user_id"},{"type":"string","optional":false,"field":"status"},` +
	`{"type":"bytes","optional":false,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2","connect.decimal.precision":"10"},"field":"total"},` +
	`{"type":"string","optional":true,"field":"city"},{"type":"string","optional":true,"field":"note"},` +
	`{"type":"int64","optional":false,"name":"io.debezium.time.Timestamp","version":1,"field":"updated_at"},{"type":"double","optional":true,"field":"weight"}],` +
	`"optional":true,"name":"shop.shop.orders.Value","field":"%s"}`

// Its columns, all of which the pipeline uses, and the fields of its version.
func orderChanges(e event.Envelope) event.Schema {
	return wrap(e, 5, at("id", event.Int), at("user_id", event.Int), at("status", event.Text),
		event.Field{Name: "total", Type: event.Text, Decimal: true, Scale: 2}, at("city", event.Text), at("at", event.TimeMS, "$source", "ts_ms"),
		at("note", event.Text), at("updated_at", event.TimeMS), at("weight", event.Float))
}

func measure(b *testing.B, s event.Schema, value string) {
	b.Helper()
	rec := &event.Record{Value: []byte(value), Timestamp: 1357034220500}
	d := event.NewDecoder(s)
	var batch event.Batch
	b.ReportAllocs()
	for b.Loop() {
		if len(batch.Events) == 1000 {
			d.Reset(&batch)
		}
		if err := d.Decode(rec, &batch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDebezium reads a change in its different forms, and compares with other libraries that read the same columns of both images.
func BenchmarkDebezium(b *testing.B) {
	full, keyed := orderChanges(event.Envelope{Form: event.Debezium}), orderChanges(event.Envelope{Form: event.Debezium, Keys: []string{"id"}})
	b.Run("bare", func(b *testing.B) { measure(b, full, orderChange) })
	b.Run("of the key", func(b *testing.B) { measure(b, keyed, orderChange) })
	b.Run("with its schema", func(b *testing.B) {
		plain := orderChanges(event.Envelope{Form: event.Debezium}) // the schema says what a decimal is
		for i := range plain.Fields {
			if f := &plain.Fields[i]; f.Decimal {
				f.Decimal, f.Numbers, f.Scale = false, true, 0
			}
		}
		measure(b, plain, `{"schema":`+orderConnectSchema+`,"payload":`+orderChange+`}`)
	})
	type row struct {
		ID        int64   `json:"id"`
		User      int64   `json:"user_id"`
		Status    string  `json:"status"`
		Total     string  `json:"total"`
		City      string  `json:"city"`
		Note      string  `json:"note"`
		UpdatedAt int64   `json:"updated_at"`
		Weight    float64 `json:"weight"`
	}
	type change struct {
		Before, After *row
		Source        struct {
			TS int64 `json:"ts_ms"`
		}
		Op string
	}
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var c change
			if err := json.Unmarshal([]byte(orderChange), &c); err != nil || c.After.Note == "" {
				b.Fatal(err)
			}
		}
	})
	b.Run("fastjson+Validate", func(b *testing.B) {
		var p fastjson.Parser
		in := []byte(orderChange)
		b.ReportAllocs()
		for b.Loop() {
			v, err := p.ParseBytes(in)
			if err != nil || fastjson.ValidateBytes(in) != nil {
				b.Fatal(err)
			}
			for _, image := range []string{"before", "after"} {
				for _, key := range []string{"status", "total", "city", "note"} {
					if len(v.GetStringBytes(image, key)) == 0 {
						b.Fatal(key)
					}
				}
				if v.GetInt64(image, "id")+v.GetInt64(image, "user_id")+v.GetInt64(image, "updated_at") == 0 || v.GetFloat64(image, "weight") == 0 {
					b.Fatal(image)
				}
			}
			if v.GetInt64("source", "ts_ms") == 0 || len(v.GetStringBytes("op")) == 0 {
				b.Fatal("op")
			}
		}
	})
}
