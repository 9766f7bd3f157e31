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
// not masked stays, and so does that of an expression that reads no masked field; a store's own words are removed.
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

// HideKept is Hide for a reject that was kept as a dead letter, perhaps by another configuration. What an expression said may quote what is
// masked by now, whatever today's expression of that setting reads; so its detail stays only if it is one of today's rejects of the record.
func (s *Schema) HideKept(e *Error, today ...*Error) *Error {
	if len(s.Masked) == 0 {
		return e
	}
	out := s.hide(e)
	same := func(now *Error) bool { return now.Reason == e.Reason && now.Field == e.Field && now.Detail == e.Detail }
	if e.Reason == BadExpression && e.Field != "" && !slices.ContainsFunc(today, same) {
		out.Detail = Hidden
	}
	return out
}

// hide is Hide for a reject.
func (s *Schema) hide(e *Error) *Error {
	out := *e
	if e.Reason == BadExpression {
		if setting, _, ok := strings.Cut(e.Detail, ": "); e.Field == "" { // a dead letter of an earlier version
			if out.Detail = Hidden; ok {
				out.Detail = setting + ": " + Hidden
			}
		} else if s.readsMasked(e.Field) {
			out.Detail = Hidden
		}
		return &out
	}
	at := slices.IndexFunc(s.Fields, func(f Field) bool { return e.Field != "" && (f.Where() == e.Field || f.Name == e.Field) })
	switch {
	case at >= 0 && !slices.Contains(s.Masked, at):
		return e
	case at >= 0:
		out.Detail = Hidden
	case e.Reason == Refused || e.Reason == MappingRefused || e.Reason == Unknown:
		out.Detail = Hidden
	default:
		if out.Detail = quoted.ReplaceAllString(e.Detail, Hidden); strings.ContainsAny(out.Detail, "\"'`") {
			out.Detail = Hidden
		}
	}
	return &out
}

// readsMasked reports whether the expression of a setting may read a masked field, as one that the schema does not know may.
func (s *Schema) readsMasked(setting string) bool {
	derivers := []Deriver{s.Derive}
	if s.Fix != nil {
		derivers = append(derivers, s.Fix.Deriver)
	}
	for _, d := range derivers {
		if d == nil {
			continue
		}
		if fields, known := d.Reads(setting); known {
			return slices.ContainsFunc(fields, func(f int) bool { return slices.Contains(s.Masked, f) })
		}
	}
	return true
}

// concealed is an error whose text may quote a record.
type concealed struct{ err error }

func (*concealed) Error() string   { return Hidden }
func (c *concealed) Unwrap() error { return c.err }
