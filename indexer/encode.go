package indexer

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"

	"brine/event"
)

// encode appends the op of one event and document to c.
func (w *Writer) encode(c *cargo, f *flight, d *document, i int, ev *event.Event) *event.Failure {
	if ev.LeftOut != "" {
		return nil
	}
	if ev.Values == nil { // the event only says that a document was left, as a row was
		c.row = c.row[:0]
		w.hide(c, f, d, i, ev)
		return nil
	}
	reject := func(reason event.Reason, err error) *event.Failure {
		return &event.Failure{Index: i, Verdict: event.Reject, Reason: reason, Err: err}
	}
	holds, wrong := ev.Holds(d.whenAt)
	if wrong != nil {
		return reject(wrong.Reason, fmt.Errorf("index %s: %w", d.Index, wrong))
	}
	row, err := c.keys[d.place].Append(c.row[:0], ev)
	if !holds {
		w.pass(c, f, d, i, ev, row, err == nil)
		return nil
	}
	if err != nil {
		reason := event.BadKey
		if fault, ok := errors.AsType[*event.Error](err); ok {
			reason = fault.Reason
		}
		return reject(reason, fmt.Errorf("index %s: %w", d.Index, err))
	}
	c.row = row
	index, fault := d.part(&c.spans[d.place], ev)
	if fault != nil {
		return reject(fault.Reason, fmt.Errorf("index %s: %w", d.Index, fault))
	}
	start := len(c.bytes)
	all, hashed := appendID(c.bytes, c.row)
	id := all[start:len(all):len(all)]
	var key []byte
	if hashed {
		key = AppendRowText(nil, c.row)
	}
	var empty bool
	from := len(all)
	if d.Changes == Whole {
		all = appendWhole(all, d, ev, id, key)
	} else {
		all, empty = appendChange(all, d, ev, key)
	}
	source := all[from:len(all):len(all)]
	if len(source) > w.opts.MaxDocumentBytes {
		return reject(event.TooLarge, tooLarge(d, id, len(source), w.opts.MaxDocumentBytes))
	}
	if empty {
		return nil // a change without fields changes nothing
	}
	c.bytes = all
	w.add(c, ev.Record, op{flight: f, event: i, doc: d, index: index, id: id, version: ev.Version, source: source})
	if ev.Former != nil && d.Deleted != "" && d.Changes == Whole {
		w.hide(c, f, d, i, ev)
	}
	return nil
}

// add appends an op, unless it is durable.
func (w *Writer) add(c *cargo, rec *event.Record, o op) {
	o.write = c.writes
	c.writes++
	if !c.rest.Has(o.write) {
		return
	}
	o.produced, o.offset = rec.Timestamp, rec.Offset
	o.hash = maphash.Bytes(w.seed, o.id) + uint64(o.doc.place)
	c.ops = append(c.ops, o)
}

// hide appends the op that marks the document that a change has left as deleted: the document for the row of the event's former values.
func (w *Writer) hide(c *cargo, f *flight, d *document, i int, ev *event.Event) {
	former := event.Event{Record: ev.Record, Version: ev.Version, Values: ev.Former}
	row, err := c.keys[d.place].Append(c.former[:0], &former)
	if c.former = row; err != nil || bytes.Equal(row, c.row) {
		return // there was no such row, or it is still the event's
	}
	if held, wrong := former.Holds(d.whenAt); wrong != nil || !held {
		return // the former values made no document
	}
	w.mark(c, f, d, i, &former, row)
}

// mark appends the op that marks the document of a row as deleted, at the version of ev, whose values make the row.
func (w *Writer) mark(c *cargo, f *flight, d *document, i int, ev *event.Event, row []byte) {
	index, fault := d.part(&c.spans[d.place], ev)
	if fault != nil {
		return // no document can have been written there
	}
	start := len(c.bytes)
	all, hashed := appendID(c.bytes, row)
	id := all[start:len(all):len(all)]
	var key []byte
	if hashed {
		key = AppendRowText(nil, row)
	}
	from := len(all)
	all = append(appendHead(all, id, key, ev.Version), `,"`+FieldDeleted+`":true}`...)
	c.bytes = all
	w.add(c, ev.Record, op{flight: f, event: i, doc: d, index: index, id: id, version: ev.Version,
		source: all[from:len(all):len(all)]})
}

// pass handles an event for which the document's condition does not hold. row is the row of its values, if keyed.
func (w *Writer) pass(c *cargo, f *flight, d *document, i int, ev *event.Event, row []byte, keyed bool) {
	if c.row = row; !keyed {
		c.row = row[:0]
	}
	switch {
	case !keyed || !d.Hides:
	case d.Changes == Whole:
		w.mark(c, f, d, i, ev, row)
	default:
		w.markPartial(c, f, d, i, ev, row)
	}
	if ev.Former != nil && d.Deleted != "" && d.Changes == Whole {
		w.hide(c, f, d, i, ev)
	}
}

// markPartial appends a change that only marks the document as deleted.
func (w *Writer) markPartial(c *cargo, f *flight, d *document, i int, ev *event.Event, row []byte) {
	index, fault := d.part(&c.spans[d.place], ev)
	if fault != nil {
		return
	}
	only := *ev
	only.Values = make([]event.Value, len(ev.Values))
	for _, column := range d.columns {
		if column.name == FieldDeleted {
			only.Values[column.at] = event.BoolValue(true)
		}
	}
	start := len(c.bytes)
	all, hashed := appendID(c.bytes, row)
	id := all[start:len(all):len(all)]
	var key []byte
	if hashed {
		key = AppendRowText(nil, row)
	}
	from := len(all)
	all, _ = appendChange(all, d, &only, key)
	c.bytes = all
	w.add(c, ev.Record, op{flight: f, event: i, doc: d, index: index, id: id, version: ev.Version,
		source: all[from:len(all):len(all)]})
}
