package event

import (
	"context"
	"errors"
	"time"
)

// Decoder turns records into events. It is not safe for concurrent use: every partition worker has its own.
//
// The schema's Format reads records. How their fields become events is the same for all formats: images, versions, and what is left out.
type Decoder struct {
	schema      Schema
	versionPath string // for people
	sequence    int    // position of the schema's Sequence; -1: none
	logged      *place // of versions that are positions in a log; nil: they are not
	images      images
	envelope    *envelope // nil: none
	root        *Node
	reader      Reader
	resolver    Resolver // the reader, if it is one
	recognizer  Recognizer
	build       Builder
	evaluator   Evaluator // of the schema's Derive; nil: none
	partial     partial   // with an evaluator
	beside      beside
	fixer       *fixer // of the schema's Fix; nil: none
}

// NewDecoder makes a decoder for records of this schema, which must be valid (Schema.Validate).
func NewDecoder(schema Schema) *Decoder {
	if err := schema.Validate(); err != nil {
		panic("BUG: event.NewDecoder: " + err.Error())
	}
	d := &Decoder{schema: schema, sequence: schema.position(schema.Sequence), logged: newPlace(schema), root: &Node{field: -1, index: -1}}
	d.images.imaged = make([]bool, len(schema.Fields))
	for i, f := range schema.Fields {
		if i == schema.Version {
			d.versionPath = f.Where()
		}
		if schema.Images.Deleted == f.Name || f.Made || schema.Envelope.makes(f) || d.put(i, f) {
			continue // not in the record's value
		}
		d.hold(d.root.at(f.Keys()), i, i)
		if former, ok := schema.former(i); ok {
			d.hold(d.root.at(former), len(schema.Fields)+i, i)
			d.images.imaged[i] = true
		}
	}
	d.images.deleted = schema.position(schema.Images.Deleted)
	if i := schema.Images; len(i.Before) > 0 {
		d.images.before = d.root.at(i.Before)
		if len(i.After) > 0 {
			d.images.after = d.root.at(i.After)
		}
	}
	if schema.Envelope != nil {
		d.envelope = newEnvelope(d)
	}
	d.watch()
	d.root.straighten()
	d.root.declared = schema.Declared()
	if e := d.envelope; e != nil && e.Form == Debezium {
		d.root.own = d.schema.OwnRecord
	}
	d.build.decoder = d
	if schema.Derive != nil {
		d.evaluator, d.partial = schema.Derive.Evaluator(), schema.partial()
	}
	if schema.Fix != nil {
		d.fixer = newFixer(schema, d.root)
	}
	switch {
	case schema.Format != nil:
		d.reader = schema.Format.NewReader(d.root)
	case d.envelope != nil:
		d.reader = d.envelope.newReader(d.root)
	default:
		d.reader = &jsonReader{root: d.root}
	}
	d.resolver, _ = d.reader.(Resolver)
	d.recognizer, _ = d.reader.(Recognizer)
	if w := &d.beside; w.keyRoot != nil {
		w.keyRoot.straighten()
		w.keyRoot.declared = schema.DeclaredInKeys()
		w.key = schema.KeyFormat.NewReader(w.keyRoot)
		w.resolver, _ = w.key.(Resolver)
	}
	return d
}

// hold makes a node field number field, or its former value, at a position of the event's values.
func (d *Decoder) hold(n *Node, position, field int) {
	n.hold(position, d.schema.Fields[field])
	d.loosen(n, field)
	if position == field {
		n.beyond = d.logged.beyond(d.schema.Fields, field)
	}
}

// width returns how many values an event has while it is built: its fields, the same for the before-image, and what an envelope reads for
// itself.
func (d *Decoder) width() int {
	n := len(d.schema.Fields)
	if d.images.before != nil {
		n *= 2
	}
	if d.envelope != nil {
		n += d.envelope.own
	}
	return n
}

// Resolve obtains what decoding the record needs besides the record; see Resolver. It must return nil before the record is decoded.
func (d *Decoder) Resolve(ctx context.Context, rec *Record) error {
	if w := &d.beside; w.resolver != nil && len(rec.Key) > 0 {
		if err := w.resolver.Resolve(ctx, w.asValue(rec)); err != nil {
			return err
		}
	}
	if d.resolver == nil {
		return nil
	}
	return d.resolver.Resolve(ctx, rec)
}

// patience is how long ResolveSoon waits; retryPause is the pause between two attempts.
const (
	patience   = 15 * time.Second
	retryPause = 200 * time.Millisecond
)

// ResolveSoon is Resolve for commands, where somebody waits for the answer: it retries for a while, not forever. An error that waiting does
// not cure ends it at once.
func (d *Decoder) ResolveSoon(ctx context.Context, rec *Record) error {
	err := d.Resolve(ctx, rec)
	for until := time.Now().Add(patience); err != nil; err = d.Resolve(ctx, rec) {
		if u, ok := errors.AsType[*Unresolved](err); !ok || u.Verdict == Halt || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryPause):
		}
	}
	return nil
}

// Decode appends the events of rec to b, at least one. On error (always an *Error) b is unchanged.
func (d *Decoder) Decode(rec *Record, b *Batch) error {
	mark := b.mark()
	if err := d.build.make(rec, b); err != nil {
		b.cutOff(mark)
		if why := d.own(rec); why != "" { // its members have the names of declared fields, but not their types
			d.leaveOut(rec, b, why)
			return nil
		}
		return err
	}
	return nil
}

// leaveOut appends an event that has no values and writes nothing.
func (d *Decoder) leaveOut(rec *Record, b *Batch, why LeftOut) {
	b.Events = append(b.Events, Event{Record: rec, Values: b.cut(len(d.schema.Fields)), Version: max(0, rec.Timestamp), LeftOut: why})
}

// Reset empties b and reuses the buffers that its events' values point to.
func (d *Decoder) Reset(b *Batch) {
	clear(b.Events) // lets go of the records
	clear(b.values)
	b.Events, b.values, b.texts = b.Events[:0], b.values[:0], b.texts[:0]
}
