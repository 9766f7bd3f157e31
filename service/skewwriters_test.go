package service

import (
	"fmt"
	"slices"
	"testing"

	"brine/event"
)

func TestWritersAreCountedByRuns(t *testing.T) {
	record := func(producer int64, name string) *event.Record {
		r := &event.Record{Producer: event.ProducerOf(producer)}
		if name != "" {
			r.Headers = []event.Header{{Key: "service", Value: []byte("an earlier one")}, {Key: "service", Value: []byte(name)}, {Key: "other"}}
		}
		return r
	}
	twice, none := record(7, "shop"), record(-1, "")
	events := []event.Event{
		{Record: record(7, "shop")}, {Record: twice}, {Record: twice}, // two events of one record
		{Record: record(7, "till")}, {Record: record(7, "till"), LeftOut: "a filter"}, {Record: none}, {Record: record(-1, "")},
		{Record: record(7, "shop")},
	}
	for header, want := range map[string]string{
		"service": "[7 shop 2 7 till 1 -1  2 7 shop 1]",
		"":        "[7  3 -1  2 7  1]",
		"absent":  "[7  3 -1  2 7  1]",
	} {
		var got []any
		writersOf(events, header, func(r *event.Record, name []byte, n int) { got = append(got, r.Producer.ID(), string(name), n) })
		if fmt.Sprint(got) != want {
			t.Errorf("header %q: %v, want %v", header, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { writersOf(events, "service", func(*event.Record, []byte, int) {}) }); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
	left := slices.Repeat([]event.Event{{Record: none, LeftOut: "a filter"}}, 3)
	writersOf(left, "", func(*event.Record, []byte, int) { t.Error("left out, and counted") })
}
