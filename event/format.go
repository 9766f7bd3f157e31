package event

import (
	"context"
	"slices"
)

// Format is how records encode their fields. Schema.Format selects it; none is JSON.
type Format interface {
	// NewReader returns a reader of what lies below root, for one decoder and so for one goroutine.
	NewReader(root *Node) Reader
}

// Reader reads records of one format.
type Reader interface {
	// Read passes what the record's value holds of the nodes that it was made for to b, each node once for an event. It is total and pure, as
	// decoding is: any bytes give events or an error, and never a panic; what it needs beside the record, a schema by its id say, never
	// changes and is there already, see Resolver. The value is not nil; it may be empty.
	Read(rec *Record, b *Builder) *Error
}

// Resolver is a Reader that needs more than a record in order to read it, such as a schema by its id.
type Resolver interface {
	Reader
	// Resolve makes sure of everything that reading the record takes. It returns when that is so, or when it is certain that what lacks never
	// comes: then Read rejects the record. Otherwise the error is an *Unresolved, or the context's.
	Resolve(ctx context.Context, rec *Record) error
}

// Unresolved says why records cannot be read yet.
type Unresolved struct {
	Verdict Verdict // Retry, or Halt
	Reason  Reason
	Err     error // for people
}

func (u *Unresolved) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *Unresolved) Unwrap() error { return u.Err }

// Raw is the format of records whose value has no fields: what is declared of them lies beside it, or is all of it, $value.
type Raw struct{}

// NewReader implements Format.
func (Raw) NewReader(*Node) Reader { return Raw{} }

// Read implements Reader.
func (Raw) Read(*Record, *Builder) *Error { return nil }

// LeftOut is why an event writes nothing, though nothing is wrong with its record; empty: it writes.
type LeftOut string

// Why events are left out. All but the first three are said by an Envelope.
const (
	// Tombstone: the record has no value. A log writes one behind a delete, so that Kafka may forget the key; it says nothing new.
	Tombstone    LeftOut = "tombstone"
	Filtered     LeftOut = "filtered"      // the pipeline's own filter says no
	Empty        LeftOut = "empty"         // the record is a list of nothing
	Heartbeat    LeftOut = "heartbeat"     // the log is read, and nothing has changed
	SchemaChange LeftOut = "schema_change" // of a table, not of its rows
	Transaction  LeftOut = "transaction"   // one begins or ends
	Truncate     LeftOut = "truncate"      // a table was emptied
	Message      LeftOut = "message"       // a program's own, in the log
	Bootstrap    LeftOut = "bootstrap"     // a snapshot begins or ends
)

// LeftOuts are all reasons for which events are left out.
var LeftOuts = []LeftOut{Tombstone, Filtered, Empty, Heartbeat, SchemaChange, Transaction, Truncate, Message, Bootstrap}

// Declared is a field of records' values as a writer's schema is compared with it.
type Declared struct {
	Field
	Needed bool // no record without it becomes anything
	// Within is where a change has its row, behind an envelope: a schema that has nothing there is of records that change no row.
	Within []string
}

// Declared are the fields that a schema of a registry can break.
func (s Schema) Declared() (out []Declared) {
	for i, f := range s.Fields {
		if !f.OfValue() || f.Name == s.Images.Deleted || s.Envelope.makes(f) {
			continue
		}
		d := Declared{Field: f, Needed: f.Default.Null() && slices.Contains(s.Needed, i)}
		if e := s.Envelope; e != nil && !e.Unwrapped {
			d.Within = s.Images.After
		}
		if within := len(d.Within); within > 0 && !slices.Equal(f.Keys()[:min(within, len(f.Keys()))], d.Within) {
			d.Needed = false // of the envelope itself, which other records than changes lack
		}
		out = append(out, d)
	}
	return out
}

// Declared are the fields that records of a schema are read into, as the root of a Format's nodes has them.
func (n *Node) Declared() []Declared { return n.declared }

// Breaking is a schema that cannot be read into the declared fields.
type Breaking struct {
	Field  string // path of the field in the record; empty: the schema as a whole
	Detail string // what is wrong, with the schema's id and subject
}

// Breaks returns the error of a record whose schema is a breaking one; nil where such records are read as far as they can be.
func (b *Builder) Breaks(x *Breaking) *Error {
	if x == nil || !b.decoder.schema.HaltBreaking {
		return nil
	}
	return &Error{Reason: BreakingSchema, Field: x.Field, Detail: x.Detail, Halts: true}
}
