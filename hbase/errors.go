package hbase

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"brine/hbase/internal/remote"
)

// Errors to test for with errors.Is.
var (
	ErrNoTable     = remote.ErrNoTable
	ErrNoFamily    = remote.ErrNoFamily
	ErrTableExists = remote.ErrTableExists
	ErrDisabled    = remote.ErrDisabled
	ErrDenied      = remote.ErrDenied
	ErrClosed      = remote.ErrClosed
	ErrNoMaster    = remote.ErrNoMaster

	ErrEnabled        = remote.ErrEnabled // the change requires a disabled table
	ErrNoSnapshot     = remote.ErrNoSnapshot
	ErrSnapshotExists = remote.ErrSnapshotExists

	ErrNoRegion       = remote.ErrNoRegion
	ErrUnknownOutcome = remote.ErrUnknownOutcome
)

// Kind classifies failures by what the caller can do.
type Kind = remote.Kind

// The kinds of failure.
const (
	Transient = remote.Transient // retries or time ran out, outcome unknown: submit again later
	Refused   = remote.Refused   // do-not-retry by the server, cause not known to lie in the table: may be this mutation alone
	BadRow    = remote.BadRow    // this mutation alone can never be written: cell too large, row too long
	NoTable   = remote.NoTable   // no such table or family, table disabled
	Denied    = remote.Denied    // access denied
	Closed    = remote.Closed    // the client was closed before the mutation was sent
)

// Retry is the reason and the remedy of a retry, as RetryInfo reports them.
type Retry = remote.Retry

// Retries lists every (reason, remedy) pair that the Retry hook can report.
func Retries() []Retry { return remote.Retries() }

// Error is the final failure of a read or an admin call, after its retries. It wraps one of the errors above if one fits.
type Error struct {
	Op       string // get, scan, create table …
	Table    string
	Server   string // host:port of the last try; empty if none was reached
	Class    string // the server's exception class; empty for a connection error
	Attempts int
	Err      error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Table != "" {
		b.WriteString(" " + e.Table)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (after %d tries)", e.Attempts)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Unquoted returns the error of a server's exception without the server's words, which may quote rows and the keys of regions: who
// answered, and with which class. An error of another kind, whose class has no dot, stays as it is.
func Unquoted(server, class string, err error) error {
	dot := strings.LastIndexByte(class, '.')
	if dot < 0 {
		return err
	}
	return &unquoted{cmp.Or(server, "a server") + " answered " + class[dot+1:], err}
}

// unquoted is an error with another text.
type unquoted struct {
	text string
	err  error
}

func (e *unquoted) Error() string { return e.text }
func (e *unquoted) Unwrap() error { return e.err }

func isNoTable(err error) bool { return errors.Is(err, ErrNoTable) }
