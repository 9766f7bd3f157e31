package eras

import (
	"context"
	"math"
	"slices"
	"testing"

	"brine/event"
)

// TestErasAreOfTheirOffsets checks that each record has the reading of the first era that ends after it, in whichever order eras were
// added.
func TestErasAreOfTheirOffsets(t *testing.T) {
	var e Eras
	e.Add(0, Era{Until: 20, Reading: 1})
	e.Add(0, Era{Until: 10, Reading: 0})
	e.Add(2, Era{Until: 5, Reading: 1})
	for _, c := range []struct {
		partition     int
		offset, until int64
		reading       int
	}{
		{0, 0, 10, 0}, {0, 9, 10, 0}, {0, 10, 20, 1}, {0, 19, 20, 1}, {0, 20, math.MaxInt64, Present},
		{1, 0, math.MaxInt64, Present}, {2, 4, 5, 1}, {2, 5, math.MaxInt64, Present},
	} {
		if reading, until := e.At(c.partition, c.offset); reading != c.reading || until != c.until {
			t.Errorf("%d:%d: reading %d until %d, want %d until %d", c.partition, c.offset, reading, until, c.reading, c.until)
		}
	}
	if n := e.Within(0, 5, 30, func(i int) bool { return i == 1 }); n != 10 {
		t.Errorf("%d offsets of reading 1, want 10", n)
	}
	var none *Eras
	if reading, until := none.At(0, 7); reading != Present || until != math.MaxInt64 {
		t.Errorf("without eras: %d until %d", reading, until)
	}
}

type noted struct{ submitted, released, hurried *[]string }

func (n noted) Submit(_ context.Context, b *event.Batch) event.Flight {
	*n.submitted = append(*n.submitted, string(b.Events[0].Record.Key))
	return event.Done(nil)
}
func (n noted) Release() { *n.released = append(*n.released, "") }
func (n noted) Hurry()   { *n.hurried = append(*n.hurried, "") }

// TestWriterOfErasWritesByTheEraOfTheRecord also checks that it passes everything else on to all writers.
func TestWriterOfErasWritesByTheEraOfTheRecord(t *testing.T) {
	var now, before, released, hurried []string
	e := &Eras{Readings: make([]Reading, 1)}
	e.Add(0, Era{Until: 10})
	w := &Writer{Eras: e, Present: noted{&now, &released, &hurried}, Former: []event.Writer{noted{&before, &released, &hurried}}}
	for _, rec := range []event.Record{{Offset: 9, Key: []byte("a")}, {Offset: 10, Key: []byte("b")}, {Partition: 1, Key: []byte("c")}} {
		w.Submit(t.Context(), &event.Batch{Events: []event.Event{{Record: &rec}}})
	}
	w.Release()
	w.Hurry()
	if !slices.Equal(now, []string{"b", "c"}) || !slices.Equal(before, []string{"a"}) || len(released) != 2 || len(hurried) != 2 {
		t.Errorf("now %v, before %v; released %d, hurried %d", now, before, len(released), len(hurried))
	}
}
