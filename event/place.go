package event

import (
	"fmt"
	"strings"
)

// Place is the part of a record that holds a field.
type Place uint8

// The parts of a record, with their names in a path.
const (
	InValue         Place = iota // what the Format finds in the value
	InKey                        // $key.PATH: what the KeyFormat finds in the key; without a path, the key as it decodes it
	WholeKey                     // $key: the key as a text
	WholeValue                   // $value: the value as a text, whatever the format
	InHeader                     // $header.NAME: the value of a header as a text; the last one if there are several of the name
	RecordTopic                  // $topic
	RecordPartition              // $partition
	RecordOffset                 // $offset
	RecordTime                   // $timestamp
)

// Replayable reports whether the place is copied along with the record: keys, versions and everything that decides what is written may be
// made of it. Partitions and offsets are not: a copy of the record in another topic has different ones.
func (p Place) Replayable() bool { return p != RecordPartition && p != RecordOffset }

// Where returns the path of a field, for people.
func (f Field) Where() string {
	switch keys := strings.Join(f.Keys(), "."); f.Place {
	case InKey:
		return strings.TrimSuffix(keyPath+"."+keys, ".")
	case WholeKey:
		return keyPath
	case WholeValue:
		return "$value"
	case InHeader:
		return "$header." + keys
	case RecordTopic:
		return "$topic"
	case RecordPartition:
		return "$partition"
	case RecordOffset:
		return "$offset"
	case RecordTime:
		return "$timestamp"
	default:
		return keys
	}
}

const keyPath = "$key"

// validatePlace checks a field against the part of the record that holds it.
func (f Field) validatePlace() error {
	switch p, where := f.Place, f.Where(); {
	case p == InValue:
		return nil
	case p > RecordTime:
		return fmt.Errorf("field %s refers to an unknown part of a record: %d", f.Name, p)
	case p == InHeader && len(f.Path) != 1, p != InKey && p != InHeader && len(f.Path) > 0:
		return fmt.Errorf("field %s: %s with a path of %d keys is not a place in a record", f.Name, where, len(f.Path))
	case p == RecordTopic && f.Type != Text:
		return fmt.Errorf("field %s is declared %s, but %s is a text", f.Name, f.Type, where)
	case !p.Replayable() && f.Type != Int:
		return fmt.Errorf("field %s is declared %s, but %s is an int", f.Name, f.Type, where)
	case p == RecordTime && !f.Type.TakesTimes():
		return fmt.Errorf("field %s is declared %s, but %s is a time", f.Name, f.Type, where)
	case p != InKey && f.Type == Nested:
		return fmt.Errorf("field %s is declared json, but %s is a text", f.Name, where)
	}
	return nil
}

// beside is what a decoder knows of fields beside the value of a record.
type beside struct {
	parts     []placed
	fixed     []fixed // constants
	defaults  []fixed
	key       Reader // of fields in keys; nil if there are none
	keyRoot   *Node
	resolver  Resolver // key, if it is one
	keyRecord Record   // the current record with its key as its value: what key reads
	copied    []int    // fields of parts and keys: read once for all events of a record
}

func (w *beside) some() bool { return len(w.copied)+len(w.fixed) > 0 }

// placed is a field that is a part of the record.
type placed struct {
	place  Place
	header string
	node   *Node
}

// fixed is a value that the schema gives a field.
type fixed struct {
	field int
	value Value
}

// put places a field that is not in the record's value, and reports whether it is one.
func (d *Decoder) put(i int, f Field) bool {
	w := &d.beside
	if !f.Default.Null() {
		w.defaults = append(w.defaults, fixed{i, f.Default})
	}
	if !f.Const.Null() {
		w.fixed = append(w.fixed, fixed{i, f.Const})
		return true
	}
	switch f.Place {
	case InValue:
		return false
	case InKey:
		if w.keyRoot == nil {
			w.keyRoot = &Node{field: -1, path: keyPath}
		}
		d.hold(w.keyRoot.at(f.Path), i, i)
	default:
		n := &Node{path: f.Where()}
		d.hold(n, i, i)
		w.parts = append(w.parts, placed{f.Place, strings.Join(f.Path, ""), n})
	}
	w.copied = append(w.copied, i)
	return true
}

// readBeside reads what the record holds beside its value. What is wrong there rejects the record's events only when they end: those that
// an envelope leaves out need none of it.
func (b *Builder) readBeside() {
	w := &b.decoder.beside
	for i := range w.parts {
		b.refuse(w.parts[i].node, b.part(&w.parts[i]))
	}
	b.refuse(w.keyRoot, b.readKey())
	b.known, b.kept, b.refuses = true, b.kept[:0], append(b.refuses[:0], b.refused...)
	for _, i := range w.copied {
		b.kept = append(b.kept, b.values[i])
	}
	b.keepBeside()
}

// keepBeside sets the values that every event of the record has.
func (b *Builder) keepBeside() {
	w := &b.decoder.beside
	for _, f := range w.fixed {
		b.values[f.field] = f.value
	}
	for at, i := range w.copied {
		b.values[i] = b.kept[at]
	}
}

// asValue returns the record with its key as its value, which is how a Reader is given it. It is valid until the next call.
func (w *beside) asValue(rec *Record) *Record {
	w.keyRecord = *rec
	w.keyRecord.Value = rec.Key
	return &w.keyRecord
}

// readKey fills the fields in the key.
func (b *Builder) readKey() *Error {
	w := &b.decoder.beside
	if w.key == nil || len(b.record.Key) == 0 {
		return nil
	}
	err := w.key.Read(w.asValue(b.record), b)
	if err != nil && !strings.HasPrefix(err.Field, keyPath) {
		of := *err
		of.Field = strings.TrimSuffix(keyPath+"."+err.Field, ".")
		err = &of
	}
	return err
}

// part fills a field that is a part of the record.
func (b *Builder) part(p *placed) *Error {
	rec := b.record
	var text []byte
	switch p.place {
	case RecordPartition:
		return b.Int(p.node, int64(rec.Partition))
	case RecordOffset:
		return b.Int(p.node, rec.Offset)
	case RecordTime:
		if rec.Timestamp < 0 { // the broker has none
			return nil
		}
		return b.Time(p.node, rec.Timestamp, Milliseconds)
	case RecordTopic:
		return b.Parse(p.node, b.Keep([]byte(rec.Topic)))
	case WholeKey:
		text = rec.Key
	case WholeValue:
		text = rec.Value
	case InHeader:
		for i := len(rec.Headers) - 1; i >= 0; i-- {
			if rec.Headers[i].Key == p.header {
				text = rec.Headers[i].Value
				break
			}
		}
	}
	switch {
	case text == nil:
		return nil
	case p.node.typ == Bytes:
		return b.Bytes(p.node, text)
	}
	return b.Parse(p.node, text)
}

// fill sets null fields to their defaults.
func (b *Builder) fill(ev *Event) {
	for _, f := range b.decoder.beside.defaults {
		if ev.Values[f.field].Null() && (!b.gone || b.decoder.schema.Fields[f.field].OfTombstone()) {
			ev.Values[f.field] = f.value
		}
		if ev.Former != nil && ev.Former[f.field].Null() {
			ev.Former[f.field] = f.value
		}
	}
}

// OfTombstone reports whether a record without a value can have a field: one that is neither made nor in the value.
func (f Field) OfTombstone() bool {
	return !f.Made && (!f.Const.Null() || f.Place != InValue && f.Place != WholeValue)
}

// validateTombstones checks that only what is beside a record's value determines which row a tombstone deletes, and when.
func (s Schema) validateTombstones() error {
	if !s.Tombstones {
		return nil
	}
	at := s.position(s.Images.Deleted)
	switch {
	case len(s.Images.Before) > 0 || s.Envelope != nil && !s.Envelope.Unwrapped:
		return fmt.Errorf("images already show what is deleted, so records without a value cannot; choose one of the two")
	case at < 0 || s.Fields[at].Type != Bool:
		return fmt.Errorf("records without a value are deletes, but no bool field marks deletes; name one, and add it to fields")
	}
	for _, name := range s.versionFields() {
		if f := s.Fields[s.position(name)]; !f.OfTombstone() {
			return fmt.Errorf("field %s is part of the version, but records without a value, which are deletes, lack it; use the record's own "+
				"timestamp, or a header", f.Name)
		}
	}
	return nil
}

// versionFields returns the names of the fields that the version is made of.
func (s Schema) versionFields() (names []string) {
	if s.Version >= 0 {
		names = append(names, s.Fields[s.Version].Name)
	}
	of := []string{s.Sequence}
	if p := s.Position; p != nil {
		of = append(of, p.LSN, p.File, p.Pos, p.Source)
	}
	for _, name := range of {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// tombstone makes the delete for a record without a value. It has only fields beside the value. A default replaces what a value lacks, not
// a missing value.
func (b *Builder) tombstone() *Error {
	b.gone = true
	return b.finish()
}
