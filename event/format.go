package event

import "context"

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
