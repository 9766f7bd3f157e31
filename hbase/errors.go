package hbase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// Errors that callers test with errors.Is.
var (
	ErrNoTable     = errors.New("no such table")
	ErrNoFamily    = errors.New("no such column family")
	ErrTableExists = errors.New("table exists")
	ErrDisabled    = errors.New("table is disabled")
	ErrDenied      = errors.New("access denied")
	ErrClosed      = errors.New("client is closed")
	ErrNoMaster    = errors.New("the master is away")

	ErrNoRegion       = errors.New("no such region: it was split, merged or deleted")
	ErrUnknownOutcome = errors.New("whether it was applied is unknown")
)

// Error is why a read or an admin call failed for good, after its retries. It Is one of the errors above where one fits.
type Error struct {
	Op       string // get, scan, create table …
	Table    string
	Server   string // host:port of the last try; empty if none was reached
	Class    string // the server's exception class; empty for a connection's error
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

func (e *MutationError) Error() string {
	return fmt.Sprintf("mutation %d, %s after %d tries: %v", e.Index, e.Kind, e.Attempts, e.Err)
}

func (e *MutationError) Unwrap() error { return e.Err }

func (k Kind) String() string {
	return [...]string{"no failure", "transient", "refused", "bad row", "no table", "denied", "closed"}[k]
}

// remoteError is an exception that a server answered.
type remoteError struct {
	server     string
	class      string
	text       string // message and stack as the server sent them
	doNotRetry bool
	overloaded bool
}

func newRemoteError(server string, e *hbasepb.ExceptionResponse) *remoteError {
	return &remoteError{
		server: server, class: e.GetExceptionClassName(), text: e.GetStackTrace(),
		doNotRetry: e.GetDoNotRetry(), overloaded: e.GetServerOverloaded(),
	}
}

// remoteErrorOf is the exception of a part of a call.
func remoteErrorOf(server string, e *hbasepb.NameBytesPair) *remoteError {
	return &remoteError{server: server, class: clip(e.GetName()), text: clip(string(e.GetValue()))}
}

// clip cuts off a long text. What it was cut from is not kept in memory.
func clip(s string) string {
	if len(s) <= wire.MaxText {
		return s
	}
	return strings.Clone(s[:wire.MaxText])
}

// invalid is the error of an answer that is neither a result nor an exception, or that cannot be read.
func invalid(server string, why error) error {
	return fmt.Errorf("%s: %w: %w", server, errInvalidResponse, why)
}

// Error returns the class and the message without the stack.
func (e *remoteError) Error() string {
	short := e.class[strings.LastIndexByte(e.class, '.')+1:]
	message, _, _ := strings.Cut(e.text, "\n")
	message = strings.TrimPrefix(strings.TrimPrefix(message, e.class), ": ")
	if message == "" {
		return fmt.Sprintf("%s answered %s", e.server, short)
	}
	return fmt.Sprintf("%s answered %s: %s", e.server, short, message)
}

// Is makes a remote exception one of the package's errors, by the table in remedy.go.
func (e *remoteError) Is(target error) bool {
	r, ok := ruleOf(e.class)
	return ok && r.err != nil && r.err == target
}

// interruption is a context that ended while something was tried, or waited for its next try. It Is both why the context ended and
// what failed last.
type interruption struct {
	ended error // the context's Err
	why   error // and its Cause
	last  error
}

func (e *interruption) Error() string   { return e.why.Error() + "; last: " + e.last.Error() }
func (e *interruption) Unwrap() []error { return []error{e.ended, e.why, e.last} }

// interrupted is why ctx ended, with what failed last before.
func interrupted(ctx context.Context, last error) error {
	why := context.Cause(ctx)
	if last == nil || errors.Is(why, ErrClosed) || last == why || last == ctx.Err() { //nolint:errorlint // an error that says more is kept
		return why
	}
	return &interruption{ctx.Err(), why, last}
}

// impatience is the end of Options.Patience.
type impatience struct{ after time.Duration }

func (e *impatience) Error() string        { return fmt.Sprintf("no answer within %v", e.after) }
func (e *impatience) Is(target error) bool { return target == context.DeadlineExceeded }

// connError is a connection that could not be made, broke, or did not answer in time: whether the server has done what it
// was asked is unknown, unless it could not be made.
type connError struct {
	server string
	class  string // "connection" or "timeout"
	err    error
	unsent bool // there was no connection to send anything on
	cut    bool // an established connection ended while calls were out
	dead   bool // the server takes no connection, or all of its calls are silent
}

func (e *connError) Error() string { return e.server + ": " + e.err.Error() }
func (e *connError) Unwrap() error { return e.err }
