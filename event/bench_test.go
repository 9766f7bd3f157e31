package event_test

import (
	"encoding/json"
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

// BenchmarkOtherLibraries is what docs/adr/0004-json-decoding.md compares with: fastjson without and with the checks it
// leaves out, and the standard library.
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
