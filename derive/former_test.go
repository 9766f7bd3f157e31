package derive

import (
	"testing"

	"brine/event"
)

// TestFormerValues: what an expression has no result for is unknown in the former values, and so is what depends on it. They count as those
// of a row unless it is certain that they made none.
func TestFormerValues(t *testing.T) {
	fields := []event.Field{{Name: "user", Type: event.Text}, {Name: "note", Type: event.Text}}
	former := []event.Value{event.TextValue("u1"), {}} // a null note
	for _, c := range []struct {
		name, when string
		lets       []string
		kept       bool
		want       []event.Value
	}{
		{"a let without a result", "", []string{`info=user + note`, `key=user + "!"`}, true, []event.Value{{}, event.TextValue("u1!")}},
		{"a let on it", "", []string{`info=user + note`, `known=info == null`, `size=size(info)`}, true, make([]event.Value, 3)},
		{"a when without a result", `note.startsWith("x")`, nil, true, nil},
		{"a when on a let without a result", `info != "x"`, []string{`info=user + note`, `key=user + "!"`}, true, []event.Value{{}, event.TextValue("u1!")}},
		{"a when that is false whatever it is", `info != "x" && user == "u2"`, []string{`info=user + note`}, false, []event.Value{{}}},
		{"a when that is true", `user == "u1"`, []string{`info=user + note`}, true, []event.Value{{}}},
		{"a when that is false", `user == "u2"`, []string{`info=user + "!"`}, false, []event.Value{{}}},
		{"conditions", "", []string{`info=user + note`, `?a=info == null`, `?b=info != "" && user == "u2"`, `?c=note.startsWith("x")`}, true,
			[]event.Value{{}, {}, event.BoolValue(false), {}}},
	} {
		s := unsentSchemaOf(t, fields, c.when, c.lets...)
		values := append(former[:2:2], make([]event.Value, len(c.lets))...)
		if kept := s.Derive.Evaluator().DeriveFormer(values); kept != c.kept {
			t.Errorf("%s: kept is %t", c.name, kept)
		}
		for i, want := range c.want {
			if got := values[2+i]; !got.Equal(want) {
				t.Errorf("%s: %s is %v, want %v", c.name, c.lets[i], got, want)
			}
		}
	}
}
