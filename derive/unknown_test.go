package derive

import (
	"slices"
	"testing"

	"brine/event"
)

// TestDecidedWithoutWhatIsUnknown: a delete that lacks fields is judged by a condition that is the same whatever these fields are, and by no
// other.
func TestDecidedWithoutWhatIsUnknown(t *testing.T) {
	fields := []event.Field{{Name: "of", Type: event.Text}, {Name: "gone", Type: event.Bool}, {Name: "status", Type: event.Text}, {Name: "n", Type: event.Int}}
	holds := []bool{true, true, false, false, true, true}
	values := []event.Value{event.TextValue("users"), event.BoolValue(true), {}, {}}
	for _, c := range []struct {
		when, want string
		lets       [2]string // of the fields a and b
	}{
		{`of == "orders" && status != "draft"`, "dropped", [2]string{}},
		{`status != "draft" && of == "orders"`, "dropped", [2]string{}},
		{`of == "users" && status != "draft"`, "kept", [2]string{}},
		{`of == "orders" || status != "draft"`, "kept", [2]string{}},
		{`!(of == "users" || status != "draft")`, "dropped", [2]string{}},
		{`of == "orders" && (n > 3 || status.startsWith("d"))`, "dropped", [2]string{}},
		{`gone ? of == "orders" : n > 3`, "dropped", [2]string{}},
		{`n > 3 ? of == "orders" : of == "audit"`, "kept", [2]string{}}, // CEL does not compare the two
		{`n in [1, 2] && of == "orders"`, "dropped", [2]string{}},
		{`status.matches("d.*") && of == "orders"`, "dropped", [2]string{}},
		{`status == null`, "kept", [2]string{}},
		{`n == null && of == "orders"`, "dropped", [2]string{}},
		{`1 / (n - 1) == 1`, "kept", [2]string{}},
		{`1 / 0 == n`, "kept", [2]string{}}, // it has no result for any n, and rejects no delete
		{`a && of == "orders"`, "dropped", [2]string{`n > 3`, `false`}},
		{`a && b`, "kept", [2]string{`n > 3`, `of == "users"`}},
		{`a`, "dropped", [2]string{`of == "orders" && n > 3`, `false`}},
		{`b`, "dropped", [2]string{`gone || n > 3`, `!a && n > 3`}},
		{`b`, "kept", [2]string{`gone && n > 3`, `!a && n > 3`}},
		{`of == "orders"`, "dropped", [2]string{`1 / (size(of) - 5) == 1`, `false`}}, // when does not name it
		{`of == "users"`, "bad_expression: let.a: division by zero", [2]string{`1 / (size(of) - 5) == 1`, `false`}},
	} {
		b := New(fields)
		for i, name := range []string{"a", "b"} {
			if c.lets[i] == "" {
				c.lets[i] = "true"
			}
			if _, err := b.Let(name, event.Bool, "let."+name, c.lets[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.When("when", c.when); err != nil {
			t.Fatal(err)
		}
		e := b.Rules().Evaluator()
		for range 2 { // one delete does not matter for the next
			got, at := "dropped", append(slices.Clone(values), event.Value{}, event.Value{})
			if keep, err := e.DeriveDelete(at, holds); err != nil {
				got = err.Error()
			} else if keep {
				got = "kept"
			}
			if got != c.want {
				t.Errorf("%s with %q: %s, want %s", c.when, c.lets, got, c.want)
			}
			whole := append(slices.Clone(at[:2]), event.TextValue("x"), event.IntValue(7), event.Value{}, event.Value{})
			if _, err := e.Derive(whole); err != nil && err.Reason != event.BadExpression {
				t.Error(err)
			}
		}
		if c.want != "dropped" {
			continue
		}
		for _, status := range []event.Value{{}, event.TextValue("draft"), event.TextValue("")} { // what was decided is so for any
			for _, n := range []event.Value{{}, event.IntValue(1), event.IntValue(7)} {
				whole := []event.Value{values[0], values[1], status, n, {}, {}}
				if keep, err := e.Derive(whole); keep && err == nil {
					t.Errorf("%s holds if status is %q and n is %d", c.when, status.Text(), n.Int())
				}
			}
		}
	}
}

// TestResultsWithoutWhatIsUnknown: so it is with the results of lets and with the conditions of rows.
func TestResultsWithoutWhatIsUnknown(t *testing.T) {
	b := New([]event.Field{{Name: "of", Type: event.Text}, {Name: "note", Type: event.Text}})
	for _, l := range [][2]string{{"kind", `of == "users" ? "user" : note`}, {"text", `note + of`}, {"length", `size(text)`}} {
		if _, err := b.Let(l[0], 0, l[0], l[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{`of == "orders" && note != "x"`, `of == "users" && note != "x"`, `length > 0 || kind == "user"`, `note != "x"`} {
		if err := b.Condition(text, text, text); err != nil {
			t.Fatal(err)
		}
	}
	values := append([]event.Value{event.TextValue("users"), {}}, make([]event.Value, 7)...)
	keep, err := b.Rules().Evaluator().DeriveDelete(values, append([]bool{true, false}, slices.Repeat([]bool{true}, 7)...))
	if !keep || err != nil {
		t.Fatal(keep, err)
	}
	for i, want := range []event.Value{event.TextValue("users"), {}, event.TextValue("user"), {}, {}, event.BoolValue(false), {}, event.BoolValue(true), {}} {
		if !values[i].Equal(want) {
			t.Errorf("field %d: %v, want %v", i, values[i], want)
		}
	}
}
