package kafkaauth

import (
	"errors"

	"github.com/segmentio/kafka-go"
)

// refused is the answer of a server that does not accept our credentials. It is as final as a broker's refusal of a password.
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

// Advice returns what to do about it.
func (e *refused) Advice() string { return e.fix }

func (e *refused) Unwrap() error { return e.cause }

func (e *refused) Is(target error) bool { return target == kafka.SASLAuthenticationFailed }

// passing is what may be over at the next connection, such as a token that has ended, or a KDC that is away. To the callers it is an error
// of the network, which they try again.
type passing struct {
	cause error
	fix   string
}

func (e *passing) Error() string   { return e.cause.Error() }
func (e *passing) Unwrap() error   { return e.cause }
func (e *passing) Advice() string  { return e.fix }
func (e *passing) Timeout() bool   { return false }
func (e *passing) Temporary() bool { return true }

// Advice returns what to do about an error, if it is one of this package that knows.
func Advice(err error) string {
	if e, ok := errors.AsType[*refused](err); ok {
		return e.fix
	}
	if e, ok := errors.AsType[*passing](err); ok {
		return e.fix
	}
	return ""
}

// clip cuts a text of others.
func clip(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
