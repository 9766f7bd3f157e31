package event

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// How many bytes of a path, a value and a description a reject keeps. Records and servers may make them of any length.
const (
	maxPath   = 200
	maxValue  = 60
	maxDetail = 4 << 10
)

// Short returns the error with a path and a detail of readable length: without the middle of a long path and the end of a long detail. It
// returns the error itself if neither is long.
func (e *Error) Short() *Error {
	if len(e.Field) <= maxPath && len(e.Detail) <= maxDetail {
		return e
	}
	return &Error{Reason: e.Reason, Field: ShortPath(e.Field), Detail: shortDetail(e.Detail), Halts: e.Halts}
}

// ShortPath omits the middle of a long path.
func ShortPath(path string) string {
	const half = maxPath/2 - 2 // the dots are three bytes
	if len(path) <= maxPath {
		return path
	}
	return whole(path[:half]) + "…" + whole(path[len(path)-half:])
}

func shortDetail(detail string) string {
	if len(detail) <= maxDetail {
		return detail
	}
	return whole(detail[:maxDetail-len("…")]) + "…"
}

// whole removes characters that were cut.
func whole(text string) string { return strings.ToValidUTF8(text, "") }

// Quoted returns a value as messages show it: escaped, and truncated if it is long.
func Quoted(value []byte) string {
	if len(value) <= maxValue {
		return strconv.Quote(string(value))
	}
	return strconv.Quote(whole(string(value[:maxValue]))) + "…"
}

// undecodable words a fault of the JSON itself.
func undecodable(err error) *Error {
	var s *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		return &Error{Reason: Undecodable, Detail: "the value is empty"}
	case !errors.As(err, &s):
		return &Error{Reason: Undecodable, Detail: err.Error()}
	}
	field := strings.ReplaceAll(strings.TrimPrefix(string(s.JSONPointer), "/"), "/", ".")
	return (&Error{Reason: Undecodable, Field: field, Detail: JSONFault(s)}).Short()
}

// JSONFault describes what is wrong with JSON, and where, without the surrounding text, which belongs to its sender.
func JSONFault(s *jsontext.SyntacticError) string {
	fault := s.Err.Error()
	character, isCharacter := strings.CutPrefix(fault, "invalid character ")
	starts, isStart := strings.CutSuffix(character, " at start of value")
	switch {
	case errors.Is(s.Err, io.ErrUnexpectedEOF):
		fault = "it ends too early"
	case isCharacter && isStart:
		fault = "a JSON value cannot begin with " + starts
	case isCharacter:
		fault = "unexpected " + character
	case strings.HasPrefix(fault, "invalid surrogate pair"):
		fault = "half of a surrogate pair is missing"
	case strings.HasPrefix(fault, "invalid escape sequence"):
		fault = "JSON has no such escape sequence"
	case strings.HasPrefix(fault, "exceeded max depth"):
		fault = "it is nested more than 10,000 levels deep"
	}
	return fmt.Sprintf("%s at byte %d", fault, s.ByteOffset)
}
