package registry

import (
	"fmt"
	"strings"
	"time"
)

// Outcome says what an Error means for the record that needed the schema.
type Outcome uint8

// The outcomes. A greater one is graver.
const (
	// Unknown: the registry has no such id, and has had time for it. The record is a dead letter.
	Unknown Outcome = iota + 1
	// Retry: nobody knows yet. The record waits.
	Retry
	// Denied: the registry does not let us read. The partition halts, or a whole topic would become dead letters.
	Denied
)

func (o Outcome) String() string {
	switch o {
	case Unknown:
		return "unknown"
	case Retry:
		return "retry"
	case Denied:
		return "denied"
	}
	return "found"
}

// Error is why a schema could not be had. It holds no password and no token, and of what the registry answered only the beginning.
type Error struct {
	Outcome Outcome
	ID      ID            // the zero ID when the registry as a whole was asked
	URL     string        // what was asked
	Status  int           // of HTTP; 0 if there was no answer
	Code    int           // the registry's own error_code; 0 if it gave none
	Cause   string        // the last cause, escaped and cut
	Fix     string        // what to do about it
	Wait    time.Duration // how long the registry is not asked for this id again, since it was asked; until then the same Error is returned

	err error // what Unwrap returns: a context's error or the network's
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("schema registry: ")
	if e.ID.Kind != 0 {
		b.WriteString("schema of " + e.ID.String())
	} else {
		b.WriteString("the registry")
	}
	switch e.Outcome {
	case Unknown:
		b.WriteString(" is unknown")
	case Denied:
		b.WriteString(" may not be read")
	default:
		b.WriteString(" is not known yet")
	}
	fmt.Fprintf(&b, ": GET %s: ", e.URL)
	if e.Status != 0 {
		fmt.Fprintf(&b, "status %d: ", e.Status)
	}
	b.WriteString(e.Cause)
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// Advice returns the fix.
func (e *Error) Advice() string { return e.Fix }

// Unwrap returns the network's error or a context's, nil if the registry answered.
func (e *Error) Unwrap() error { return e.err }
