package event

// Reason is one of a closed set of reasons for which an event becomes a dead letter or a partition waits. It labels metrics and dead
// letters.
type Reason string

// Reasons found while decoding, by the sink, and by the stores.
const (
	Undecodable    Reason = "undecodable"     // not in its format
	UnknownSchema  Reason = "unknown_schema"  // the registry has no schema with the record's id
	MissingField   Reason = "missing_field"   // a field required by the key or the version is absent or null
	WrongType      Reason = "wrong_type"      // a field holds another type than declared
	BadVersion     Reason = "bad_version"     // negative, too large, or not a time
	FutureVersion  Reason = "future_version"  // more than 24 h ahead of the record's own timestamp
	LateVersion    Reason = "late_version"    // further behind the record's own timestamp than allowed
	KeyTooLong     Reason = "key_too_long"    // HBase's limit is 32,767 bytes
	BadKey         Reason = "bad_key"         // a value that the key's definition cannot hold (too wide, contains the separator)
	BadName        Reason = "bad_name"        // a member of the record cannot be a column's name
	BadExpression  Reason = "bad_expression"  // an expression of the pipeline has no answer for the event
	TooLarge       Reason = "too_large"       // a cell, a row or a document over the limit
	Refused        Reason = "refused"         // the store refused only this event, and took its neighbours
	MappingRefused Reason = "mapping_refused" // the index's mapping does not accept the document
	BreakingSchema Reason = "breaking_schema" // a schema of the registry cannot be read into the declared fields
	Unavailable    Reason = "unavailable"     // no answer, or a transient error
	Awaited        Reason = "awaited"         // the row in which a field of its key is looked up has not arrived yet
	NoTable        Reason = "no_table"        // no such table, family or index
	Denied         Reason = "denied"          // access denied
	Unknown        Reason = "unknown"
)

// Rejects are the reasons for which events become dead letters.
var Rejects = []Reason{Undecodable, UnknownSchema, MissingField, WrongType, BadVersion, FutureVersion, LateVersion, KeyTooLong, BadKey,
	BadName, BadExpression, TooLarge, Refused, MappingRefused}

// Error is a reject found while decoding an event or making its key.
type Error struct {
	Reason Reason
	Field  string // path of the field in the record, or the setting of a BadExpression; empty if the whole record is meant
	Detail string
	Halts  bool // every later event would fail the same way until somebody acts: the partition halts, and no dead letter is written
}

func (e *Error) Error() string {
	s := string(e.Reason)
	switch {
	case e.Field == "":
	case e.Reason == BadExpression:
		s += ": " + e.Field
	default:
		s += ": field " + e.Field
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
