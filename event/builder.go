package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Builder takes what a Reader finds in a record and makes its events. It checks the record's values against the declared types of their
// fields, so that every format accepts and rejects the same.
type Builder struct {
	decoder *Decoder
	record  *Record
	batch   *Batch
	values  []Value   // of the current event: all fields and, if there are images, the same for the before-image
	leftOut LeftOut   // why the current event writes nothing
	count   uint64    // of events; marks the nodes that the current one has seen
	row     int       // index of the event among those of its record
	lacking []*Node   // columns whose values the publisher could not send; see Envelope
	unsent  bool      // the decoder's partial.unsent has fields
	element int       // the element of the record's list that the current event is made of; noElement: none
	known   bool      // the parts beside the record's value have been read
	gone    bool      // the record is a tombstone, and therefore a delete
	kept    []Value   // values of the fields in beside.copied
	refused []refusal // of the current event; first those of fields beside the record's value
	refuses []refusal // those of fields beside the record's value
	records uint64    // counted to select those to look at; see Undeclared
	look    uint64    // the number of the current record among these; 0: it is none of them

	digits [64]byte // scratch for a number
}

// make makes the events of rec.
func (b *Builder) make(rec *Record, batch *Batch) *Error {
	b.record, b.batch, b.row, b.element, b.known, b.gone = rec, batch, 0, noElement, false, false
	b.lookOut()
	err := b.all(rec, batch)
	b.record, b.batch, b.values = nil, nil, nil
	if err != nil && len(b.decoder.schema.Masked) > 0 {
		err = b.decoder.schema.hide(err)
	}
	switch {
	case err == nil || b.element < 0:
	case err.Reason == BadExpression: // its field is the setting, whatever the element
		err = &Error{Reason: err.Reason, Field: err.Field, Detail: "element " + strconv.Itoa(b.element) + ": " + err.Detail, Halts: err.Halts}
	default:
		err = &Error{Reason: err.Reason, Field: strings.TrimSuffix(strconv.Itoa(b.element)+"."+err.Field, "."), Detail: err.Detail,
			Halts: err.Halts}
	}
	return err
}

// all makes the events of the current record.
func (b *Builder) all(rec *Record, batch *Batch) *Error {
	b.begin()
	switch d := b.decoder; {
	case rec.Value == nil && d.envelope != nil:
		if err := d.envelope.noValue(b); err != nil {
			return err
		}
		return b.finish()
	case rec.Value == nil && d.images.before != nil:
		n := len(b.decoder.schema.Fields)
		batch.Events = append(batch.Events,
			Event{Record: rec, Values: b.values[:n:n], Version: max(0, rec.Timestamp), LeftOut: Tombstone})
		return nil
	case rec.Value == nil && b.decoder.schema.Tombstones:
		return b.tombstone()
	case rec.Value == nil:
		return &Error{Reason: Undecodable, Detail: "the record has no value: it is a tombstone, which deletes its key in a compacted topic"}
	}
	if err := b.decoder.reader.Read(rec, b); err != nil {
		return err
	}
	return b.finish()
}

// begin makes room for an event and takes what the record holds for it beside its value.
func (b *Builder) begin() {
	b.values = b.batch.cut(b.decoder.width())
	b.start()
	if b.decoder.beside.some() && !b.known {
		b.readBeside()
	}
}

// restart drops everything that the current event has from the record's value.
func (b *Builder) restart() {
	clear(b.values)
	b.start()
}

// start starts the current event, which has no values yet.
func (b *Builder) start() {
	b.leftOut, b.lacking, b.refused = "", b.lacking[:0], b.refused[:0]
	if b.unsent {
		clear(b.decoder.partial.unsent)
		b.unsent = false
	}
	b.count++
	if e := b.decoder.envelope; e != nil && e.row >= 0 {
		b.values[e.row] = IntValue(int64(b.row))
	}
	if b.known {
		b.keepBeside()
		b.refused = append(b.refused, b.refuses...)
	}
}

// finish appends the current event to the batch.
func (b *Builder) finish() *Error {
	d, n := b.decoder, len(b.decoder.schema.Fields)
	gone, err := b.gone || d.deletes(), (*Error)(nil)
	if len(b.lacking) > 0 && b.leftOut == "" {
		d.envelope.recall(b)
	}
	if d.fixer != nil && b.leftOut == "" {
		if err := b.fix(); err != nil {
			return err
		}
	}
	if d.envelope != nil && b.leftOut == "" {
		if gone, err = d.envelope.judge(b); err != nil {
			return err
		}
	}
	if len(b.refused) > 0 && b.leftOut == "" {
		if len(b.refuses) > 0 {
			b.Element(noElement) // the error is the record's, of whichever element the event is made
		}
		return b.refused[0].err
	}
	// The event is made in its place; if there is an error, Decode takes it away again.
	b.batch.Events = append(b.batch.Events, Event{})
	ev := &b.batch.Events[len(b.batch.Events)-1]
	ev.Record, ev.Values, ev.LeftOut = b.record, b.values[:n:n], b.leftOut
	if ev.LeftOut == "" && (d.images.before != nil || d.images.deleted >= 0) {
		ev.Former = d.compare(b.values, gone)
	}
	if len(d.beside.defaults) > 0 {
		b.fill(ev)
	}
	if ev.LeftOut == "" && d.evaluator != nil {
		if err := d.derive(ev, gone); err != nil {
			return err
		}
	}
	if ev.LeftOut != "" {
		ev.Version = max(0, b.record.Timestamp)
	} else if ev.Version, err = d.version(b.record, b.values); err != nil {
		return err
	}
	return nil
}

// Next ends the current event and starts another one of the same record. A Reader whose records hold one event each never calls it.
func (b *Builder) Next() *Error {
	if err := b.finish(); err != nil {
		return err
	}
	if b.row++; b.row == MaxEvents {
		return &Error{Reason: TooLarge, Detail: fmt.Sprintf("the record contains more than %d events", MaxEvents)}
	}
	b.begin()
	return nil
}

// MaxEvents is the most events that a record may make. Each takes far more memory than its shortest form in a record.
const MaxEvents = 10_000

const noElement = -1

// Element sets which element of a record's list, from 0, the current event is made of, for error messages.
func (b *Builder) Element(i int) { b.element = i }

// LeaveOut makes the current event one that writes nothing.
func (b *Builder) LeaveOut(why LeftOut) { b.leftOut = why }

// have notes that the event has a node.
func (b *Builder) have(n *Node) *Error {
	if n.seen == b.count {
		return &Error{Reason: Undecodable, Field: n.path, Detail: "it occurs twice"}
	}
	n.seen, n.null = b.count, false
	return nil
}

// Has reports whether the current event has a node, null or not.
func (b *Builder) Has(n *Node) bool { return n.seen == b.count }

// Forget drops what the event has of a node and of those below it, for formats in which the last of several values counts.
func (b *Builder) Forget(n *Node) {
	n.seen = 0
	if n.column {
		b.lacking = slices.DeleteFunc(b.lacking, func(m *Node) bool { return m == n })
	}
	b.refused = slices.DeleteFunc(b.refused, func(r refusal) bool { return r.node == n })
	if n.field >= 0 {
		b.values[n.field] = Value{}
	}
	if n.raw > 0 {
		b.values[n.raw] = Value{}
	}
	for _, m := range n.children {
		b.Forget(m)
	}
}

// Enter notes that there is an object at n, whose members follow. It returns an error if a field is declared here.
func (b *Builder) Enter(n *Node) *Error {
	if n.field >= 0 {
		return n.Wrong("an object")
	}
	return b.have(n)
}

// Null notes that n is present and null.
func (b *Builder) Null(n *Node) *Error {
	err := b.have(n)
	n.null = true
	return err
}

// Keep copies bytes into memory that lasts as long as the batch, for what a Reader decodes instead of cutting it out of the record.
func (b *Builder) Keep(p []byte) []byte {
	t := b.batch.room(len(p))
	start := len(t.texts)
	t.texts = append(t.texts, p...)
	return t.texts[start:len(t.texts):len(t.texts)]
}

// Wrong returns the reject of a value that the node cannot hold. found names the value's kind with an article, such as "an array".
func (n *Node) Wrong(found string) *Error {
	wanted := "an object"
	switch {
	case n.field >= 0 && n.typ == Time:
		wanted = n.time.Expects()
	case n.field >= 0:
		wanted = expected[n.typ]
	}
	return &Error{Reason: WrongType, Field: n.path, Detail: fmt.Sprintf("%s is expected, found %s", wanted, found)}
}
