package event_test

import (
	"testing"

	"brine/event"
)

// The fields that a pipeline declares are read in place: once a batch has its size, an event costs no allocation.
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
