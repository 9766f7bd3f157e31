package event

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Hidden replaces what is not shown because a schema masks fields. Its length reveals nothing.
const Hidden = "***"

// What a detail may quote from a record, or from what was made of one.
var (
	quoted  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	numbers = regexp.MustCompile(`[+-]?[0-9][0-9.eE+-]*`)
)

// Masks reports whether one of these fields is masked.
func (s *Schema) Masks(fields ...string) bool {
	return slices.ContainsFunc(s.Masked, func(at int) bool { return slices.Contains(fields, s.Fields[at].Name) })
}

// Without returns an error whose text has Hidden in place of a text that must not be shown.
func Without(err error, text string) error {
	if text == "" || !strings.Contains(err.Error(), text) {
		return err
	}
	return &concealed{err, strings.ReplaceAll(err.Error(), text, Hidden)}
}

// Hide returns an error about a record without what it may quote, if the schema masks fields. The detail of a field that is declared and
// not masked stays, and so does that of an expression that reads no masked field; a store's own words are removed.
func (s *Schema) Hide(err error) error {
	if len(s.Masked) == 0 || err == nil {
		return err
	}
	var e *Error
	if !errors.As(err, &e) {
		return &concealed{err, Hidden}
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
	switch masked, declared := s.place(e.Field); {
	case masked:
		out.Detail = Hidden
	case declared:
		return e
	case e.Reason == Refused || e.Reason == MappingRefused || e.Reason == Unknown:
		out.Detail = Hidden
	default:
		if out.Detail = quoted.ReplaceAllString(e.Detail, Hidden); strings.ContainsAny(out.Detail, "\"'`") {
			out.Detail = Hidden
		}
		if e.Reason == WrongType { // what is found may be a number
			out.Detail = numbers.ReplaceAllString(out.Detail, Hidden)
		}
	}
	return &out
}

// place reports whether the place that a reject names holds a masked field, before or after a change, or is within one, and otherwise
// whether it is a declared field.
func (s *Schema) place(at string) (masked, declared bool) {
	for i := range s.Fields {
		f := &s.Fields[i]
		before, _ := s.former(i)
		is, within := at == f.Name, false
		for _, where := range []string{f.Where(), strings.Join(before, ".")} {
			is = is || at == where
			within = within || where != "" && strings.HasPrefix(at, where+".")
		}
		switch {
		case at == "":
		case slices.Contains(s.Masked, i):
			masked = masked || is || within
		default:
			declared = declared || is
		}
	}
	return masked, declared
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

// concealed is an error whose own text may quote a record.
type concealed struct {
	err  error
	text string
}

func (c *concealed) Error() string { return c.text }
func (c *concealed) Unwrap() error { return c.err }
