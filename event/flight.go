package event

import "context"

// Verdict says what the ingest loop does with an event that a writer could not write.
type Verdict uint8

const (
	// Retry: the store may take it later. The loop waits with back-off and submits the event again for as long as it owns
	// the partition. An unknown outcome is Retry, since every write is idempotent.
	Retry Verdict = iota + 1
	// Reject: the store will never take this event, but takes its neighbours. The loop dead-letters it and goes on.
	Reject
	// Halt: nothing of this partition can be written until an operator acts (no such table, access denied). The loop
	// commits nothing more, reports the partition unhealthy and keeps trying slowly.
	Halt
)

// Failure is what became of one event of a batch that was not written.
type Failure struct {
	Index   int // in Batch.Events
	Verdict Verdict
	Reason  Reason
	Err     error // for people: names the table, row, field, server and attempts
}

// Flight is a submitted batch until it is settled. Events that Wait does not list are durable in the store.
type Flight interface {
	// Wait blocks until every event of the batch is durable or has failed, and gives the failed ones in ascending order.
	// It returns early, with ctx's error, only when ctx ends; the flight then goes on and may be waited for again.
	// Wait is called by one goroutine at a time.
	Wait(ctx context.Context) ([]Failure, error)
}

// Easer is a Flight of a store whose parts fail by themselves, as HBase's regions do. Most of a batch is then durable soon, and the rest may
// take long.
type Easer interface {
	Flight
	// Ease blocks until the flight is done, and then gives nil; or until all events that are not durable wait for a part of the
	// store that fails. It then gives their indexes, ascending, those of failed ones among them; Wait gives what becomes of them. By
	// then the flight holds no memory for the others. It returns ctx's error when ctx ends first.
	Ease(ctx context.Context) (left []int, err error)
}

// Reason is the closed set of reasons for which an event is dead-lettered or a partition waits; it labels metrics and
// dead letters.
type Reason string

// Reasons found while decoding, by the sink, and by the stores.
const (
	Undecodable    Reason = "undecodable"     // not a JSON object
	MissingField   Reason = "missing_field"   // a field that the key or the version needs is absent or null
	WrongType      Reason = "wrong_type"      // a field holds another type than declared
	BadVersion     Reason = "bad_version"     // negative, too large, or not a time
	FutureVersion  Reason = "future_version"  // more than 24 h ahead of the record's own timestamp
	LateVersion    Reason = "late_version"    // further behind the record's own timestamp than is allowed
	KeyTooLong     Reason = "key_too_long"    // HBase takes 32,767 bytes
	BadKey         Reason = "bad_key"         // a value that the key's language cannot hold (too wide, holds the separator)
	BadName        Reason = "bad_name"        // a member of the record cannot be the name of a column
	TooLarge       Reason = "too_large"       // a cell, a row or a document over the limit
	Refused        Reason = "refused"         // the store refused this one event, and took its neighbours
	MappingRefused Reason = "mapping_refused" // the index's mapping does not take the document
	Unavailable    Reason = "unavailable"     // no answer, or a transient one
	Awaited        Reason = "awaited"         // the row in which a field of its key is looked up has not come yet
	NoTable        Reason = "no_table"        // no such table, family or index
	Denied         Reason = "denied"          // access denied
	Unknown        Reason = "unknown"
)

// Rejects are the reasons for which events are dead-lettered.
var Rejects = []Reason{Undecodable, MissingField, WrongType, BadVersion, FutureVersion, LateVersion, KeyTooLong, BadKey, BadName, TooLarge, Refused, MappingRefused}

// Error is a reject found while decoding or keying one event.
type Error struct {
	Reason Reason
	Field  string // path of the field in the record, empty when the record as a whole is meant
	Detail string
}

func (e *Error) Error() string {
	s := string(e.Reason)
	if e.Field != "" {
		s += ": field " + e.Field
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
