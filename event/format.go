package event

import (
	"context"
	"slices"
)

// Format is how records encode their fields. Schema.Format selects it; nil is JSON.
type Format interface {
	// NewReader returns a reader of the nodes below root, for one decoder and therefore one goroutine.
	NewReader(root *Node) Reader
}

// Reader reads records of one format.
type Reader interface {
	// Read passes to b what the record's value holds for the nodes that the reader was made for, each node once per event. Like decoding, it
	// is total and pure: any bytes yield events or an error, never a panic. What it needs besides the record, such as a schema by its id,
	// never changes and is available already; see Resolver. The value is not nil; it may be empty.
	Read(rec *Record, b *Builder) *Error
}

// Resolver is a Reader that needs more than a record to read it, such as a schema by its id.
type Resolver interface {
	Reader
	// Resolve obtains everything that reading the record needs. It returns nil once that is available, or once it is certain that something
	// will never be: Read then rejects the record. Otherwise the error is an *Unresolved, or the context's.
	Resolve(ctx context.Context, rec *Record) error
}

// Unresolved is why records cannot be read yet.
type Unresolved struct {
	Verdict Verdict // Retry, or Halt
	Reason  Reason
	Err     error // for people
}

func (u *Unresolved) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *Unresolved) Unwrap() error { return u.Err }

// Raw is the format of records whose value has no fields: declared fields are beside it, or are all of it, $value.
type Raw struct{}

// NewReader implements Format.
func (Raw) NewReader(*Node) Reader { return Raw{} }

// Read implements Reader.
func (Raw) Read(*Record, *Builder) *Error { return nil }

// LeftOut is why an event writes nothing although its record is fine; empty: it writes.
type LeftOut string

// Why events are left out. An Envelope determines all but the first three.
const (
	// Tombstone: the record has no value. A log writes one after a delete, so that Kafka may drop the key; it contains nothing new.
	Tombstone    LeftOut = "tombstone"
	Filtered     LeftOut = "filtered"      // the pipeline's own filter is false
	Empty        LeftOut = "empty"         // the record is an empty list
	Heartbeat    LeftOut = "heartbeat"     // the log was read, and nothing has changed
	SchemaChange LeftOut = "schema_change" // of a table, not of its rows
	Transaction  LeftOut = "transaction"   // one begins or ends
	Truncate     LeftOut = "truncate"      // a table was emptied
	Message      LeftOut = "message"       // a program's own, in the log
	Bootstrap    LeftOut = "bootstrap"     // a snapshot begins or ends
)

// LeftOuts are all reasons for which events are left out.
var LeftOuts = []LeftOut{Tombstone, Filtered, Empty, Heartbeat, SchemaChange, Transaction, Truncate, Message, Bootstrap}

// Declared is a field of records' values or keys, for comparison with a writer's schema.
type Declared struct {
	Field
	Needed bool // a record without it becomes nothing
	// Within is where a change holds its row in an envelope: a schema without this path is one of records that change no row.
	Within []string
}

// Declared returns the fields of values that a registry's schema can break.
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
			d.Needed = false // a field of the envelope itself, which records other than changes lack
		}
		out = append(out, d)
	}
	return out
}

// DeclaredInKeys is Declared for the fields in keys.
func (s Schema) DeclaredInKeys() (out []Declared) {
	for i, f := range s.Fields {
		if f.OfKey() {
			out = append(out, Declared{Field: f, Needed: f.Default.Null() && slices.Contains(s.Needed, i)})
		}
	}
	return out
}

// Declared returns the fields that records of a schema are read into; the root of a Format's nodes has them.
func (n *Node) Declared() []Declared { return n.declared }

// Breaking is a schema that cannot be read into the declared fields.
type Breaking struct {
	Field  string // path of the field in the record; empty: the schema as a whole
	Detail string // what is wrong, with the schema's id and subject
}

// Breaks returns the error of a record whose schema is breaking; nil if such records are read as far as possible.
func (b *Builder) Breaks(x *Breaking) *Error {
	if x == nil || !b.decoder.schema.HaltBreaking {
		return nil
	}
	return &Error{Reason: BreakingSchema, Field: x.Field, Detail: x.Detail, Halts: true}
}

// Separators are what may be between the values of a row of CSV, where nothing says what is, the likeliest first.
const Separators = ",;\t|"
