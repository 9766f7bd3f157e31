// Package fault is an error with its kind, which determines a command's exit code or a response's status, and its fix.
package fault

import (
	"errors"
	"fmt"
	"slices"
)

// Kind is the kind of an error.
type Kind int

// The kinds. Callers can handle each of them differently.
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

var names = []string{"failed", "usage", "unreachable", "missing", "port", "data", "damaged", "rejected"}

// MarshalText returns the kind's name in JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(names[k]), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(name []byte) error {
	i := slices.Index(names, string(name))
	if i < 0 {
		return fmt.Errorf("%q is no kind of error", name)
	}
	*k = Kind(i)
	return nil
}

// Error is an error with its kind and, for people, its fix.
type Error struct {
	Kind Kind
	Err  error
	Fix  string // empty if Err contains it
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New returns err with a kind and a fix.
func New(kind Kind, err error, fix string) error { return &Error{kind, err, fix} }

// Misused marks an error as one of the command line or the configuration, unless it already has a kind.
func Misused(err error) error {
	if _, known := errors.AsType[*Error](err); known {
		return err
	}
	return &Error{Kind: Usage, Err: err}
}
