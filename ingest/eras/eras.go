// Package eras holds by which of several schemas the records of a topic are read, if a filter or a field was changed while they were
// written: records before an offset by one schema, those from the offset on by another. A partition's records before an offset are an era.
package eras

import (
	"cmp"
	"context"
	"math"
	"slices"

	"brine/event"
)

// Present is the reading of records that belong to no era.
const Present = -1

// Reading is how the records of an era become events.
type Reading struct {
	Schema     event.Schema
	Conditions []event.Condition // to count
}

// Eras are the eras of a topic. Nil means none.
type Eras struct {
	Readings []Reading
	Parts    map[int][]Era // by partition
}

// Era is the records of a partition before Until that do not belong to an earlier era.
type Era struct {
	Until   int64
	Reading int // in Readings
}

// Add adds an era of a partition.
func (e *Eras) Add(partition int, era Era) {
	if e.Parts == nil {
		e.Parts = map[int][]Era{}
	}
	list := append(e.Parts[partition], era)
	slices.SortStableFunc(list, func(a, b Era) int { return cmp.Compare(a.Until, b.Until) })
	e.Parts[partition] = list
}

// At returns the reading of a record, or Present, and the offset before which it applies.
func (e *Eras) At(partition int, offset int64) (reading int, until int64) {
	if e != nil {
		for _, era := range e.Parts[partition] {
			if offset < era.Until {
				return era.Reading, era.Until
			}
		}
	}
	return Present, math.MaxInt64
}

// Of returns the reading of a record, as At does.
func (e *Eras) Of(rec *event.Record) (reading int) {
	reading, _ = e.At(rec.Partition, rec.Offset)
	return reading
}

// Within returns the number of offsets between two that belong to an era whose reading asked accepts.
func (e *Eras) Within(partition int, from, to int64, asked func(reading int) bool) (n int64) {
	for from < to {
		reading, until := e.At(partition, from)
		until = min(until, to)
		if reading != Present && asked(reading) {
			n += until - from
		}
		from = until
	}
	return n
}

// Writer writes events with the writer of their record's era. All events of a batch belong to one era; the loop ensures that.
type Writer struct {
	*Eras
	Present event.Writer
	Former  []event.Writer // by reading
}

// Submit implements event.Writer.
func (w *Writer) Submit(ctx context.Context, batch *event.Batch) event.Flight {
	if len(batch.Events) > 0 {
		if i := w.Of(batch.Events[0].Record); i != Present {
			return w.Former[i].Submit(ctx, batch)
		}
	}
	return w.Present.Submit(ctx, batch)
}

// Release implements event.Writer.
func (w *Writer) Release() {
	w.Present.Release()
	for _, f := range w.Former {
		f.Release()
	}
}

// Hurry implements event.Writer.
func (w *Writer) Hurry() {
	w.Present.Hurry()
	for _, f := range w.Former {
		f.Hurry()
	}
}
