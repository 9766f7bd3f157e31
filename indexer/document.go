package indexer

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"brine/event"
)

// document is a declared Document prepared for encoding: with positions in the schema instead of names.
type document struct {
	Document
	place   int
	columns []column
	parted  bool         // the engine keeps it in parts
	timeAt  int          // position of Time in the schema
	goneAt  int          // of Deleted; -1: none
	whenAt  int          // of the condition; -1: none
	written atomic.Int64 // when the index last accepted a document, in ms since 1970
	masked  bool         // the key is made of a masked field, so that failures must not name the document
	probe   *probe       // nil: the time until a search shows documents is not measured
}

const lately = time.Minute // for how long an accepted document counts for the index

func (d *document) writtenLately(now time.Time) bool {
	return now.UnixMilli()-d.written.Load() < lately.Milliseconds()
}

type column struct {
	name  string
	label []byte // `,"name":`
	at    int    // position in the schema
}

// deletes reports whether the event marks the document as deleted.
func (d *document) deletes(ev *event.Event) bool { return d.goneAt >= 0 && ev.Values[d.goneAt].Bool() }

func compile(schema event.Schema, list []Document, parted bool) []*document {
	var docs []*document
	for i, declared := range list {
		d := &document{Document: declared, place: i, parted: parted && declared.Every != "", timeAt: fieldOf(schema, declared.Time),
			goneAt: fieldOf(schema, declared.Deleted), whenAt: -1, masked: schema.Masks(declared.Key.Fields()...)}
		if declared.When != "" {
			d.whenAt = fieldOf(schema, declared.When)
		}
		for _, c := range declared.columns() {
			label := append(appendString([]byte{','}, []byte(c.Name)), ':')
			d.columns = append(d.columns, column{name: c.Name, label: label, at: fieldOf(schema, c.Field)})
		}
		docs = append(docs, d)
	}
	return docs
}

// appendHead appends the beginning of a document: its id as FieldRow and, if the id is a hash, the row key's text as FieldKey.
func appendHead(dst, id []byte, key []byte, version int64) []byte {
	dst = append(dst, `{"`+FieldRow+`":`...)
	dst = appendString(dst, id)
	if key != nil {
		dst = append(dst, `,"`+FieldKey+`":`...)
		dst = appendString(dst, key)
	}
	dst = append(dst, `,"`+FieldVersion+`":`...)
	return strconv.AppendInt(dst, version, 10)
}

// appendWhole appends the document of a Whole event.
func appendWhole(dst []byte, d *document, ev *event.Event, id, key []byte) []byte {
	dst = appendHead(dst, id, key, ev.Version)
	for i := range d.columns {
		if v := ev.Values[d.columns[i].at]; !v.Null() {
			dst = append(dst, d.columns[i].label...)
			dst = appendValue(dst, v)
		}
	}
	return append(dst, '}')
}

// appendChange appends the fields of a Partial event, for the lane to merge: the row key's text if the id is a hash, then a value for each
// column. Each consists of its length in 4 bytes and its JSON; length 0 means none. A null that ends an older value is null in JSON too.
func appendChange(dst []byte, d *document, ev *event.Event, key []byte) (change []byte, empty bool) {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(key)))
	dst = append(dst, key...)
	empty = true
	nulls := d.Nulls && !d.deletes(ev)
	for i := range d.columns {
		dst = append(dst, 0, 0, 0, 0)
		v := ev.Values[d.columns[i].at]
		if v.Null() && d.Hides && d.columns[i].name == FieldDeleted {
			v = event.BoolValue(false) // the document may have been hidden
		}
		start := len(dst)
		switch {
		case !v.Null():
			dst = appendValue(dst, v)
		case nulls && !v.Unsent():
			dst = append(dst, "null"...)
		default:
			continue
		}
		binary.LittleEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
		empty = false
	}
	return dst, empty
}

// nextPart splits off the first part of a change.
func nextPart(change []byte) (part, rest []byte) {
	n := 4 + int(binary.LittleEndian.Uint32(change))
	return change[4:n:n], change[n:]
}

func tooLarge(d *document, id []byte, n, limit int) error {
	return fmt.Errorf("index %s: document %s has %d bytes, over the limit of %d (max_document_bytes)", d.Index, id, n, limit)
}
