package kafkaauth

import (
	"errors"

	"github.com/segmentio/kafka-go"
)

// refused is the answer of a server that rejects our credentials. It is as final as a broker's refusal of a password.
type refused struct {
	msg, fix string
	cause    error
}

func (e *refused) Error() string {
	if e.cause != nil {
		return e.msg + ": " + e.cause.Error()
	}
	return e.msg
}

// Advice returns the fix.
func (e *refused) Advice() string { return e.fix }

func (e *refused) Unwrap() error { return e.cause }

func (e *refused) Is(target error) bool { return target == kafka.SASLAuthenticationFailed }

// passing is a failure that may be gone at the next connection, such as an expired token or an unreachable KDC. To callers it is a network
// error, which they retry.
type passing struct {
	cause error
	fix   string
}

func (e *passing) Error() string   { return e.cause.Error() }
func (e *passing) Unwrap() error   { return e.cause }
func (e *passing) Advice() string  { return e.fix }
func (e *passing) Timeout() bool   { return false }
func (e *passing) Temporary() bool { return true }

// Advice returns the fix for an error of this package, or "" if it has none.
func Advice(err error) string {
	if e, ok := errors.AsType[*refused](err); ok {
		return e.fix
	}
	if e, ok := errors.AsType[*passing](err); ok {
		return e.fix
	}
	return ""
}

// clip truncates a text from elsewhere.
func clip(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
