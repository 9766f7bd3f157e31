package sink_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/sink"
)

// scanRecord is a scan event of 200 bytes; the benchmark's schema uses five of its fields.
const scanRecord = `{"waybill":"UA-1545-20130101-EWR","action":"DEPART","at":1357034220000,"station":"Newark Liberty Intl","courier":"N14228","device":"PDA-7731","remark":"loaded last, belt 2, gate C28, off block","v":2}`

// BenchmarkPath measures the path of an event between fetch and send: decode, key, mutation, cell block. It also reports CPU time, because
// the wall clock of a busy machine is unreliable.
func BenchmarkPath(b *testing.B) {
	schema := event.Schema{Fields: append([]event.Field(nil), scans.Fields...), Version: 1}
	schema.Fields[4].Path = nil
	s := newSink(b, durable{}, sink.Options{Schema: schema, Rows: []sink.Rows{scanRows(b)}})
	if len(scanRecord) != 200 {
		b.Fatalf("%d bytes", len(scanRecord))
	}
	const n = 1000
	records := make([]event.Record, n)
	for i := range records {
		records[i] = event.Record{Timestamp: 1357034220000, Value: []byte(scanRecord)}
		copy(records[i].Value[len(`{"waybill":"UA-`):], []byte{'0' + byte(i/1000%10), '0' + byte(i/100%10), '0' + byte(i/10%10), '0' + byte(i%10)})
	}
	d, batch := event.NewDecoder(schema), new(event.Batch)
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		d.Reset(batch)
		for i := range records {
			if err := d.Decode(&records[i], batch); err != nil {
				b.Fatal(err)
			}
		}
		if failures, err := event.Settle(b.Context(), s.Submit(b.Context(), batch)); err != nil || len(failures) > 0 {
			b.Fatal(failures, err)
		}
	}
	events := float64(b.N) * n
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
	b.ReportMetric(float64((cpuTime(b)-start).Nanoseconds())/events, "cpu-ns/event")
}

// BenchmarkSubmit measures the part of that path after decoding.
func BenchmarkSubmit(b *testing.B) { benchmarkSubmit(b, scanRows(b), sink.Hooks{}) }

// BenchmarkSubmitPacked measures the same with one cell per row.
func BenchmarkSubmitPacked(b *testing.B) {
	for _, packing := range []event.Packing{event.MessagePack, event.JSON} {
		b.Run(string(packing), func(b *testing.B) { benchmarkSubmit(b, packedRows(b, packing), sink.Hooks{}) })
	}
}

// BenchmarkSubmitSalted measures the cost of counting salt buckets.
func BenchmarkSubmitSalted(b *testing.B) {
	for name, hooks := range map[string]sink.Hooks{"uncounted": {}, "counted": {Spread: func(sink.SpreadInfo) {}}} {
		b.Run(name, func(b *testing.B) { benchmarkSubmit(b, saltedRows(b), hooks) })
	}
}

func benchmarkSubmit(b *testing.B, rows sink.Rows, hooks sink.Hooks) {
	s := newSink(b, durable{}, sink.Options{Schema: scans, Rows: []sink.Rows{rows}, Hooks: hooks})
	const n = 1000
	records := make([]string, n)
	for i := range records {
		records[i] = scan("UA-1545-20130101-EWR", i)
	}
	events := batch(b, scans, records...)
	b.ReportAllocs()
	for b.Loop() {
		if failures, err := event.Settle(b.Context(), s.Submit(b.Context(), events)); err != nil || len(failures) > 0 {
			b.Fatal(failures, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
}

// durable accepts everything immediately.
type durable struct{ answer }

func (durable) Submit(context.Context, *hbase.Batch) sink.Flight { return durable{} }
func (durable) Release()                                         {}
func (durable) Hurry()                                           {}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
