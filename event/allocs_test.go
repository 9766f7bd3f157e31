package event_test

import (
	"testing"

	"brine/event"
)

// The fields that a pipeline declares are read in place: once a batch has its size, an event allocates nothing.
func TestDecodingAllocatesNothing(t *testing.T) {
	const events = 1000
	for name, scan := range scans {
		rec := &event.Record{Value: []byte(scan), Timestamp: 1357034220000}
		d := event.NewDecoder(scanSchema)
		var batch event.Batch
		n := testing.AllocsPerRun(10, func() {
			d.Reset(&batch)
			for range events {
				if err := d.Decode(rec, &batch); err != nil {
					t.Fatal(err)
				}
			}
		})
		if n/events > 0.01 {
			t.Errorf("%s: %.2f allocations an event", name, n/events)
		}
	}
}

// Times written as text, and numbers that become texts, are read in place too.
func TestDecodingTimesAllocatesNothing(t *testing.T) {
	s := event.Schema{Version: 0, Fields: []event.Field{
		{Name: "at", Type: event.Time}, {Name: "local", Type: event.Time, Format: "%d/%b/%Y:%H:%M:%S", Zone: "America/New_York"},
		{Name: "us", Type: event.Time, Format: "epoch_us"}, {Name: "n", Type: event.Text, Numbers: true},
	}}
	rec := &event.Record{Value: []byte(`{"at":"2013-01-31T08:00:00.123+08:00","local":"31/Jan/2013:08:00:00","us":1357344000123456,"n":1.50}`), Timestamp: 1359590400000}
	allocatesNothing(t, s, rec)
}

// A row that follows the same schema as the one before it is read in place too.
func TestDecodingRowsBehindTheirSchemaAllocatesNothing(t *testing.T) {
	s := wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true}, -1, at("id", event.Int), at("name", event.Text))
	rec := &event.Record{Value: []byte(`{"schema":{"type":"struct","name":"s1.shop.orders.Value"},"payload":{"id":1,"name":"ann"}}`), Timestamp: 1000}
	allocatesNothing(t, s, rec)
}

// allocatesNothing checks that a record is decoded without allocations once a batch has its size.
func allocatesNothing(t *testing.T, s event.Schema, rec *event.Record) {
	t.Helper()
	d := event.NewDecoder(s)
	var batch event.Batch
	n := testing.AllocsPerRun(100, func() {
		d.Reset(&batch)
		if err := d.Decode(rec, &batch); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%.2f allocations an event", n)
	}
}
