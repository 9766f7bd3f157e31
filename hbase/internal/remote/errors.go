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

// Errors that callers test with errors.Is.
var (
	ErrNoTable     = errors.New("no such table")
	ErrNoFamily    = errors.New("no such column family")
	ErrTableExists = errors.New("table exists")
	ErrDisabled    = errors.New("table is disabled")
	ErrDenied      = errors.New("access denied")
	ErrClosed      = errors.New("client is closed")
	ErrNoMaster    = errors.New("the master is away")

	ErrEnabled        = errors.New("the table must be disabled for it")
	ErrNoSnapshot     = errors.New("no such snapshot")
	ErrSnapshotExists = errors.New("a snapshot of that name exists")

	ErrNoRegion       = errors.New("no such region: it was split, merged or deleted")
	ErrUnknownOutcome = errors.New("whether it was applied is unknown")
)

// Errors that only hbase knows: for each there is a remedy, or a text that says all.
var (
	ErrInvalid         = errors.New("invalid answer")
	ErrMissing         = errors.New("neither a result nor an exception")
	ErrNoServer        = errors.New("the region is on no server just now")
	ErrHole            = errors.New("hbase:meta has no region for it just now")
	ErrNoActiveMaster  = errors.New("no master is active: start one, or wait until a standby takes over")
	ErrNoZnode         = errors.New("HBase has not written where it is: start it, or wait until its master is active")
	ErrNamespaceExists = errors.New("namespace exists")
	ErrNoNamespace     = errors.New("no such namespace")
)

// Kind sorts failures by what the caller can do.
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

// Exception is an exception that a server answered.
type Exception struct {
	Server     string
	Class      string
	Text       string // message and stack as the server sent them
	DoNotRetry bool
	overloaded bool
}

// NewException is the exception that a call as a whole was answered with.
func NewException(server string, e *hbasepb.ExceptionResponse) *Exception {
	return &Exception{
		Server: server, Class: e.GetExceptionClassName(), Text: e.GetStackTrace(),
		DoNotRetry: e.GetDoNotRetry(), overloaded: e.GetServerOverloaded(),
	}
}

// ExceptionOf is the exception of a part of a call.
func ExceptionOf(server string, e *hbasepb.NameBytesPair) *Exception {
	return &Exception{Server: server, Class: Clip(e.GetName()), Text: Clip(string(e.GetValue()))}
}

// Clip cuts off a long text. What it was cut from is not kept in memory.
func Clip(s string) string {
	if len(s) <= wire.MaxText {
		return s
	}
	return strings.Clone(s[:wire.MaxText])
}

// Invalid returns the error of an answer that is neither a result nor an exception, or that cannot be read.
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

// Is makes a remote exception one of the package's errors, by the table in remedy.go.
func (e *Exception) Is(target error) bool {
	r, ok := ruleOf(e.Class)
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

// Interrupted returns why ctx ended, with what failed last before.
func Interrupted(ctx context.Context, last error) error {
	why := context.Cause(ctx)
	if last == nil || errors.Is(why, ErrClosed) || last == why || last == ctx.Err() { //nolint:errorlint // an error that says more is kept
		return why
	}
	return &interruption{ctx.Err(), why, last}
}

// Impatience is the end of Options.Patience.
type Impatience struct{ After time.Duration }

func (e *Impatience) Error() string        { return fmt.Sprintf("no answer within %v", e.After) }
func (e *Impatience) Is(target error) bool { return target == context.DeadlineExceeded }

// ConnError is a connection that could not be made, broke, or did not answer in time: whether the server has done what it
// was asked is unknown, unless it could not be made.
type ConnError struct {
	Server string
	Class  string // "connection" or "timeout"
	Err    error
	Unsent bool // there was no connection to send anything on
	Cut    bool // an established connection ended while calls were pending
	Dead   bool // the server takes no connection, or all of its calls are silent
}

func (e *ConnError) Error() string {
	//nolint:errorlint // what is around one says more
	if op, is := e.Err.(*net.OpError); is && op.Addr != nil && op.Addr.String() == e.Server {
		return e.Server + ": " + op.Err.Error() // it names the server itself
	}
	return e.Server + ": " + e.Err.Error()
}
func (e *ConnError) Unwrap() error { return e.Err }

// Permanent is an error that is not to be remedied, whatever it is: Diagnose returns the remedy to give up.
type Permanent struct{ Err error }

func (e *Permanent) Error() string { return e.Err.Error() }
func (e *Permanent) Unwrap() error { return e.Err }
