package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// Errors to test for with errors.Is.
var (
	ErrNoTable     = errors.New("no such table")
	ErrNoFamily    = errors.New("no such column family")
	ErrTableExists = errors.New("table exists")
	ErrDisabled    = errors.New("table is disabled")
	ErrDenied      = errors.New("access denied")
	ErrClosed      = errors.New("client is closed")
	ErrNoMaster    = errors.New("the master is unavailable")

	ErrEnabled        = errors.New("the table must be disabled first")
	ErrNoSnapshot     = errors.New("no such snapshot")
	ErrSnapshotExists = errors.New("a snapshot of that name exists")

	ErrNoRegion       = errors.New("no such region: it was split, merged or deleted")
	ErrUnknownOutcome = errors.New("it is unknown whether it was applied")
)

// Errors that are internal to hbase: each has a remedy, or a text that says it all.
var (
	ErrInvalid         = errors.New("invalid answer")
	ErrMissing         = errors.New("neither a result nor an exception")
	ErrNoServer        = errors.New("the region is not on any server at the moment")
	ErrHole            = errors.New("hbase:meta has no region for it at the moment")
	ErrNoActiveMaster  = errors.New("no master is active: start one, or wait until a standby takes over")
	ErrNoZnode         = errors.New("HBase has not published its location: start it, or wait until its master is active")
	ErrNamespaceExists = errors.New("namespace exists")
	ErrNoNamespace     = errors.New("no such namespace")
)

// Kind classifies failures by what the caller can do.
type Kind uint8

// The kinds of failure.
const (
	Transient Kind = iota + 1 // retries or time ran out, outcome unknown: submit again later
	Refused                   // do-not-retry by the server, cause not known to lie in the table: may be this mutation alone
	BadRow                    // this mutation alone can never be written: cell too large, row too long
	NoTable                   // no such table or family, table disabled
	Denied                    // access denied
	Closed                    // the client was closed before the mutation was sent
)

func (k Kind) String() string {
	return [...]string{"no failure", "transient", "refused", "bad row", "no table", "denied", "closed"}[k]
}

// Exception is a server's exception.
type Exception struct {
	Server     string
	Class      string
	Text       string // message and stack as sent by the server
	DoNotRetry bool
	overloaded bool
}

// NewException returns the exception that answered a call as a whole.
func NewException(server string, e *hbasepb.ExceptionResponse) *Exception {
	return &Exception{
		Server: server, Class: e.GetExceptionClassName(), Text: e.GetStackTrace(),
		DoNotRetry: e.GetDoNotRetry(), overloaded: e.GetServerOverloaded(),
	}
}

// ExceptionOf returns the exception that answered a part of a call.
func ExceptionOf(server string, e *hbasepb.NameBytesPair) *Exception {
	return &Exception{Server: server, Class: Clip(e.GetName()), Text: Clip(string(e.GetValue()))}
}

// DecodedException returns the same for an exception that was decoded without hbasepb, which has clipped its text.
func DecodedException(server string, e wire.Exception) *Exception {
	return &Exception{Server: server, Class: Clip(e.Class), Text: e.Text}
}

// Clip truncates a long text. It does not keep the rest in memory.
func Clip(s string) string {
	if len(s) <= wire.MaxText {
		return s
	}
	return strings.Clone(s[:wire.MaxText])
}

// Invalid returns the error for an answer that is neither a result nor an exception, or that cannot be decoded.
func Invalid(server string, why error) error {
	return fmt.Errorf("%s: %w: %w", server, ErrInvalid, why)
}

// Error returns the class and the message without the stack.
func (e *Exception) Error() string {
	short := e.Class[strings.LastIndexByte(e.Class, '.')+1:]
	message, _, _ := strings.Cut(e.Text, "\n")
	message = strings.TrimPrefix(strings.TrimPrefix(message, e.Class), ": ")
	if message == "" {
		return fmt.Sprintf("%s answered %s", e.Server, short)
	}
	return fmt.Sprintf("%s answered %s: %s", e.Server, short, message)
}

// Is matches a remote exception to the package's errors by the table in remedy.go.
func (e *Exception) Is(target error) bool {
	r, ok := ruleOf(e.Class)
	return ok && r.err != nil && r.err == target
}

// interruption reports that a context ended during a try or the wait for the next one. It wraps both the reason for the end and the last
// failure.
type interruption struct {
	ended error // the context's Err
	why   error // the context's Cause
	last  error
}

func (e *interruption) Error() string   { return e.why.Error() + "; last: " + e.last.Error() }
func (e *interruption) Unwrap() []error { return []error{e.ended, e.why, e.last} }

// Interrupted returns why ctx ended, together with the last failure before that.
func Interrupted(ctx context.Context, last error) error {
	why := context.Cause(ctx)
	if last == nil || errors.Is(why, ErrClosed) || last == why || last == ctx.Err() { //nolint:errorlint // a wrapped one says more
		return why
	}
	return &interruption{ctx.Err(), why, last}
}

// Impatience is the error when Options.Patience or an operation's time-out is over.
type Impatience struct{ After time.Duration }

func (e *Impatience) Error() string        { return fmt.Sprintf("no answer within %v", e.After) }
func (e *Impatience) Is(target error) bool { return target == context.DeadlineExceeded }

// ConnError reports a connection that could not be made, broke, or was silent for too long. It is unknown whether the server did what it
// was asked, unless no connection was made.
type ConnError struct {
	Server string
	Class  string // "connection" or "timeout"
	Err    error
	Unsent bool // there was no connection to send anything on
	Cut    bool // an established connection ended while calls were pending
	Dead   bool // the server accepts no connection, or answers none of its calls
}

func (e *ConnError) Error() string {
	//nolint:errorlint // an error that wraps one says more
	if op, is := e.Err.(*net.OpError); is && op.Addr != nil && op.Addr.String() == e.Server {
		return e.Server + ": " + op.Err.Error() // op's own text repeats the address
	}
	return e.Server + ": " + e.Err.Error()
}
func (e *ConnError) Unwrap() error { return e.Err }

// Permanent is an error without a remedy: Diagnose returns GiveUp, whatever Err is.
type Permanent struct{ Err error }

func (e *Permanent) Error() string { return e.Err.Error() }
func (e *Permanent) Unwrap() error { return e.Err }
