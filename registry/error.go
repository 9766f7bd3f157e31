package registry

import (
	"fmt"
	"strings"
	"time"
)

// Outcome is what an Error means for the record that needs the schema.
type Outcome uint8

// The outcomes. The greater, the graver.
const (
	// Unknown means that the registry has no such id, and has had time to get it. The record is a dead letter.
	Unknown Outcome = iota + 1
	// Retry means that it is not known yet. The record waits.
	Retry
	// Denied means that the registry denies access. The partition halts, because otherwise a whole topic would become dead letters.
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

// Error is the reason why a schema could not be fetched. It holds no password and no token, and only the beginning of the registry's
// answer.
type Error struct {
	Outcome Outcome
	ID      ID            // the zero ID if the request concerned the registry as a whole
	URL     string        // URL of the request
	Status  int           // HTTP status; 0 if there was no answer
	Code    int           // the registry's own error_code; 0 if there was none
	Cause   string        // last cause, escaped and truncated
	Fix     string        // what to do about it
	Wait    time.Duration // pause after the request in which this id is not requested again, but the same Error is returned

	err error // returned by Unwrap: a context's error or the network's
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

// Unwrap returns the network's or a context's error, or nil if the registry answered.
func (e *Error) Unwrap() error { return e.err }
