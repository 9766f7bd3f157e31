// Package fault is an error with its kind, which decides a command's exit code or an answer's status, and its fix.
package fault

import "errors"

// Kind is what sort of thing has gone wrong.
type Kind int

// The kinds, of which callers can each do something else about.
const (
	Failed      Kind = iota // it was tried and did not work
	Usage                   // the command line or the configuration is wrong
	Unreachable             // a broker, master or search engine cannot be reached
	Missing                 // a topic, table, family or index does not exist
	Port                    // a port is in use
	Data                    // a data folder is in use, or from a newer version
	Damaged                 // a data folder is damaged
	Rejected                // too many records in a row were rejected
)

// Error is an error with its kind and, for people, what fixes it.
type Error struct {
	Kind Kind
	Err  error
	Fix  string // empty when Err says it
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New returns err with a kind and what fixes it.
func New(kind Kind, err error, fix string) error { return &Error{kind, err, fix} }

// Misused marks an error as one of the command line or the configuration, unless its kind is known already.
func Misused(err error) error {
	if _, known := errors.AsType[*Error](err); known {
		return err
	}
	return &Error{Kind: Usage, Err: err}
}
