package event

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Hidden replaces what is not shown because a schema masks fields. Its length reveals nothing.
const Hidden = "***"

// quoted matches what a detail may quote from a record, or from what was made of one.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Hide returns an error about a record without what it may quote, if the schema masks fields. The detail of a field that is declared and
// not masked stays; a store's own words are removed.
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

// hide is Hide for a reject.
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
