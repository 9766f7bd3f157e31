// Package event turns Kafka records into events, and holds what passes between the ingest loop and its writers:
// batches, flights, failures and verdicts.
//
// It is imported by everything on the record's path and imports nothing of ours. It keeps one invariant: decoding is
// total and pure. Any bytes become either an Event or an *Error that says why not; the same record gives the same
// result whenever and wherever it is decoded (no wall clock, no offset), so that a replay writes what the first run wrote.
package event

import (
	"bytes"
	"math"
	"slices"
)

// Record is one Kafka record as it was fetched. Its slices belong to the ingest loop and stay valid until the record's
// flight is settled.
type Record struct {
	Topic     string
	Partition int
	Offset    int64
	Timestamp int64 // ms since 1970-01-01 UTC, as Kafka carries it
	Key       []byte
	Value     []byte
	Headers   []Header
	Producer  Producer
}

// Producer is the id of the producer in whose batch a record came, plus one; 0: the batch carries none, as those of producers that are not
// idempotent.
type Producer int64

// ProducerOf is a producer by its id as batches carry it: −1 is none.
func ProducerOf(id int64) Producer { return Producer(max(0, id+1)) }

// ID is the id that Kafka has given the producer; −1: none.
func (p Producer) ID() int64 { return int64(p) - 1 }

// Clone returns a copy that shares no memory with the record.
func (r *Record) Clone() Record {
	c := *r
	c.Key, c.Value, c.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), slices.Clone(r.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = bytes.Clone(c.Headers[i].Value)
	}
	return c
}

// Size is the number of bytes the record is charged to the byte budget.
func (r *Record) Size() int {
	n := recordOverhead + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}

// recordOverhead is what a record costs beside its bytes: the Record itself and its share of the flight's marks.
const recordOverhead = 160

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// Value is one field's value. The zero Value is null: the field is absent or JSON null.
// Text aliases the record or the batch's buffers: it is valid until the batch is decoded into again or the record is settled.
type Value struct {
	Type Type   // 0 = null; TimeS and Time are never seen here: they have become TimeMS
	bits uint64 // Int and what counts since 1970 as two's complement, Float as IEEE 754 bits, Bool as 0 or 1
	text []byte
}

// Null reports whether the field was absent or null.
func (v Value) Null() bool { return v.Type == 0 }

// Int is the integer of an Int, or what a time or date counts since 1970.
func (v Value) Int() int64 { return int64(v.bits) }

// Float is the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Bool is the truth of a Bool.
func (v Value) Bool() bool { return v.bits != 0 }

// Equal reports whether two values are the same, to the bit.
func (v Value) Equal(w Value) bool {
	return v.Type == w.Type && v.bits == w.bits && bytes.Equal(v.text, w.text)
}

// Text is the UTF-8 bytes of a Text, the JSON of a Nested, the digits of a Decimal, or the bytes of a Bytes; it must not be modified.
func (v Value) Text() []byte { return v.text }

// TextValue, IntValue, FloatValue, BoolValue and TimeValue make values, for tests and queries.
func TextValue(s string) Value { return Value{Type: Text, text: []byte(s)} }

// TextOf makes a Text that aliases b.
func TextOf(b []byte) Value { return Value{Type: Text, text: b} }

// IntValue makes an Int.
func IntValue(i int64) Value { return Value{Type: Int, bits: uint64(i)} }

// FloatValue makes a Float.
func FloatValue(f float64) Value { return Value{Type: Float, bits: math.Float64bits(f)} }

// BoolValue makes a Bool.
func BoolValue(b bool) Value {
	if b {
		return Value{Type: Bool, bits: 1}
	}
	return Value{Type: Bool}
}

// NestedValue makes a Nested of checked JSON.
func NestedValue(json string) Value { return Value{Type: Nested, text: []byte(json)} }

// TimeValue makes a time from milliseconds since 1970.
func TimeValue(ms int64) Value { return Value{Type: TimeMS, bits: uint64(ms)} }

// Event is what a record says; a record of some formats says several, which follow each other in a batch.
type Event struct {
	Record  *Record
	Values  []Value // by position in the schema's fields
	Version int64   // orders the writes of one cell; 0 ≤ Version < 2⁶³−1, normally milliseconds since 1970
	// Former are the values before the change, where the record has a before-image; nil: it has none. A row whose key is made of
	// fields that the change has changed is another one afterwards.
	Former []Value
	// LeftOut is why the event writes nothing; empty: it writes.
	LeftOut LeftOut
}

// Batch is events of one partition in offset order. Its decoder owns it and uses it again: a Writer must not
// keep the batch, nor anything it points to, after Submit has returned.
type Batch struct {
	Events []Event

	values []Value // what the events' Values are cut from
	texts  []byte  // texts that were written with escapes; the others are cut from their records
}
