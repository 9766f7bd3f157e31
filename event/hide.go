package event

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Hidden stands for what is not shown, since a schema masks fields. Its length says nothing.
const Hidden = "***"

// quoted is what a detail may have of a record, or of what was made of one.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Hide returns an error about a record without what it may quote, where the schema masks fields. The detail of a field that is declared and
// not masked stays; what a store says in words of its own goes.
func (s *Schema) Hide(err error) error {
	if len(s.Masked) == 0 || err == nil {
		return err
	}
	var e *Error
	if !errors.As(err, &e) {
		return &concealed{err}
	}
	return s.hide(e)
}

// hide is Hide of a reject.
func (s *Schema) hide(e *Error) *Error {
	out := *e
	at := slices.IndexFunc(s.Fields, func(f Field) bool { return e.Field != "" && (f.Where() == e.Field || f.Name == e.Field) })
	switch {
	case at >= 0 && !slices.Contains(s.Masked, at) && e.Reason != BadExpression:
		return e
	case at >= 0:
		out.Detail = Hidden
	case e.Reason == BadExpression:
		setting, _, _ := strings.Cut(e.Detail, ": ")
		out.Detail = setting + ": " + Hidden
	case e.Reason == Refused || e.Reason == MappingRefused || e.Reason == Unknown:
		out.Detail = Hidden
	default:
		if out.Detail = quoted.ReplaceAllString(e.Detail, Hidden); strings.ContainsAny(out.Detail, "\"'`") {
			out.Detail = Hidden
		}
	}
	return &out
}

// concealed is an error whose text may quote a record.
type concealed struct{ err error }

func (*concealed) Error() string   { return Hidden }
func (c *concealed) Unwrap() error { return c.err }
