package event

import (
	"fmt"
	"math"
)

const maxAhead = 24 * 60 * 60 * 1000 // ms by which a version may be ahead of its record's timestamp

// version finds the event's version and checks it against the record, never against the clock: a replay must get the same result.
func (d *Decoder) version(rec *Record, values []Value) (int64, *Error) {
	if d.logged != nil {
		return d.logged.version(d.schema.Fields, &d.build)
	}
	version, field, timed := rec.Timestamp, "", true
	if d.schema.Version >= 0 {
		v := &values[d.schema.Version]
		field = d.versionPath
		switch v.Type {
		case 0:
			return 0, &Error{Reason: MissingField, Field: field, Detail: "it is the version of the event"}
		case TimeMS:
			version = int64(v.bits)
		case Int:
			version, timed = v.Int(), false
		default:
			version = v.Milliseconds()
		}
	}
	switch {
	case version < 0:
		return 0, &Error{Reason: BadVersion, Field: field, Detail: fmt.Sprintf("%d is negative", version)}
	case version == math.MaxInt64:
		return 0, &Error{Reason: BadVersion, Field: field, Detail: fmt.Sprintf("HBase reserves %d to mean now", version)}
	case timed && version-maxAhead > rec.Timestamp:
		return 0, &Error{Reason: FutureVersion, Field: field,
			Detail: fmt.Sprintf("%d is more than 24 h ahead of the record's timestamp %d (ms since 1970)", version, rec.Timestamp)}
	case d.schema.Lateness > 0 && version < rec.Timestamp-d.schema.Lateness.Milliseconds():
		return 0, &Error{Reason: LateVersion, Field: field,
			Detail: fmt.Sprintf("%d is more than %v behind the record's timestamp %d (ms since 1970)", version, d.schema.Lateness, rec.Timestamp)}
	}
	if d.sequence >= 0 {
		return d.sequenced(version, values)
	}
	return version, nil
}

// A version seq(at, n) is at × perMillisecond + n.
const perMillisecond = 1000

// sequenced returns the version of the event that the source counts as n in the millisecond at.
func (d *Decoder) sequenced(at int64, values []Value) (int64, *Error) {
	v, field := values[d.sequence], d.schema.Fields[d.sequence].Where()
	switch n := v.Int(); {
	case v.Null():
		return 0, &Error{Reason: MissingField, Field: field, Detail: "it is part of the version of the event"}
	case n < 0 || n >= perMillisecond:
		return 0, &Error{Reason: BadVersion, Field: field,
			Detail: fmt.Sprintf("%d is not between 0 and %d, the room that a millisecond has", n, perMillisecond-1)}
	case at >= math.MaxInt64/perMillisecond:
		return 0, &Error{Reason: BadVersion, Field: d.versionPath, Detail: fmt.Sprintf("%d is too large for a sequence within a millisecond", at)}
	default:
		return at*perMillisecond + n, nil
	}
}
