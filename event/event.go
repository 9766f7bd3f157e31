// Package event turns Kafka records into events, and defines what passes between the ingest loop and its writers: batches, flights,
// failures and verdicts.
//
// Everything on the record's path imports it, and it imports no other package of brine. Its invariant: decoding is total and pure. Any
// bytes become either an Event or an *Error with the reason, and the same record gives the same result whenever and wherever it is decoded
// (no wall clock, no offset), so that a replay writes what the first run wrote.
package event

import (
	"bytes"
	"math"
	"slices"
)

// Record is one Kafka record as fetched. Its slices belong to the ingest loop and stay valid until the record's flight is settled.
type Record struct {
	Topic     string
	Partition int
	Offset    int64
	Timestamp int64 // ms since 1970-01-01 UTC, as in Kafka
	Key       []byte
	Value     []byte
	Headers   []Header
	Producer  Producer
}

// Producer is the id of the producer in whose batch a record came, plus one; 0: the batch has none, because its producer is not idempotent.
type Producer int64

// ProducerOf returns the producer with an id as in batches: −1 is none.
func ProducerOf(id int64) Producer { return Producer(max(0, id+1)) }

// ID returns the id that Kafka has assigned to the producer; −1: none.
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

// Size returns the number of bytes that the record is charged in the byte budget.
func (r *Record) Size() int {
	n := recordOverhead + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}

// recordOverhead is what a record costs besides its bytes: the Record itself and its share of the flight's marks.
const recordOverhead = 160

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// Value is one field's value. The zero Value is null: the field is absent or JSON null. Text aliases the record or the batch's buffers: it
// is valid until the batch is decoded into again or the record is settled.
type Value struct {
	Type Type   // 0 = null; never TimeS or Time: they have become TimeMS
	bits uint64 // Int and counts since 1970 as two's complement, Float as IEEE 754 bits, Bool as 0 or 1
	text []byte
}

// Null reports whether the field was absent or null.
func (v Value) Null() bool { return v.Type == 0 }

// Unsent returns the null of a field that the publisher did not send because it has not changed: it says nothing about what is stored.
func Unsent() Value { return Value{text: []byte{}} }

// Unsent reports whether the value is a null that says nothing about what is stored; see the function Unsent.
func (v Value) Unsent() bool { return v.Type == 0 && v.text != nil }

// Int returns the integer of an Int, or the count since 1970 of a time or date.
func (v Value) Int() int64 { return int64(v.bits) }

// Float returns the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Bool returns the truth value of a Bool.
func (v Value) Bool() bool { return v.bits != 0 }

// Equal reports whether two values are the same, to the bit.
func (v Value) Equal(w Value) bool {
	return v.Type == w.Type && v.bits == w.bits && bytes.Equal(v.text, w.text)
}

// Text returns the UTF-8 bytes of a Text, the JSON of a Nested, the digits of a Decimal, or the bytes of a Bytes. They must not be
// modified.
func (v Value) Text() []byte { return v.text }

// TextValue returns a Text with a copy of s.
func TextValue(s string) Value { return Value{Type: Text, text: []byte(s)} }

// TextOf returns a Text that aliases b.
func TextOf(b []byte) Value { return Value{Type: Text, text: b} }

// IntValue returns an Int.
func IntValue(i int64) Value { return Value{Type: Int, bits: uint64(i)} }

// FloatValue returns a Float.
func FloatValue(f float64) Value { return Value{Type: Float, bits: math.Float64bits(f)} }

// BoolValue returns a Bool.
func BoolValue(b bool) Value {
	if b {
		return Value{Type: Bool, bits: 1}
	}
	return Value{Type: Bool}
}

// NestedValue returns a Nested of valid JSON.
func NestedValue(json string) Value { return Value{Type: Nested, text: []byte(json)} }

// TimeValue returns a time from milliseconds since 1970.
func TimeValue(ms int64) Value { return Value{Type: TimeMS, bits: uint64(ms)} }

// Event is what a record says; records of some formats say several, which follow each other in a batch.
type Event struct {
	Record  *Record
	Values  []Value // by position in the schema's fields
	Version int64   // orders the writes of one cell; 0 ≤ Version < 2⁶³−1, normally milliseconds since 1970
	// Former are the values before the change, if the record has a before-image; nil: it has none. If the change has changed fields of a row's
	// key, it is another row afterwards.
	Former []Value
	// LeftOut is why the event writes nothing; empty: it writes.
	LeftOut LeftOut
	// Rest is what a Writer is to write of the event. It is not zero only if the event is submitted again.
	Rest Rest
}

// Batch is events of one partition in offset order. Its decoder owns and reuses it: a Writer must not keep the batch, or anything that it
// points to, after Submit has returned.
type Batch struct {
	Events []Event

	values []Value // what the events' Values are cut from
	texts  []byte  // texts that had escapes; the others are cut from their records
}
