package derive

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/event"
)

// parcel is a schema, and parcelValues returns an event of it.
var parcel = []event.Field{
	{Name: "waybill", Type: event.Text}, {Name: "courier", Type: event.Text}, {Name: "weight", Type: event.Int},
	{Name: "price", Type: event.Float}, {Name: "express", Type: event.Bool}, {Name: "at", Type: event.TimeS},
	{Name: "note", Type: event.Text}, {Name: "count", Type: event.Int}, {Name: "items", Type: event.Nested},
	{Name: "place", Type: event.Int, Path: []string{"$partition"}},
}

func parcelValues() []event.Value {
	return []event.Value{event.TextValue("SF1001"), event.TextValue("Ångström"), event.IntValue(1500), event.FloatValue(12.5),
		event.BoolValue(true), event.TimeValue(1_700_000_000_123), {}, {}, event.NestedValue("[]"), event.IntValue(3)}
}

// ask evaluates one let of any type.
func ask(text string, values []event.Value) (event.Value, event.Type, error) {
	b := New(parcel)
	typ, err := b.Let("answer", 0, "let.answer", text)
	if err != nil {
		return event.Value{}, 0, err
	}
	values = append(values, event.Value{})
	if _, err := b.Rules().evaluator().Derive(values); err != nil {
		return event.Value{}, typ, err
	}
	return values[len(values)-1], typ, nil
}

func show(v event.Value) string {
	switch v.Type {
	case event.Text:
		return fmt.Sprintf("%q", v.Text())
	case event.Int:
		return fmt.Sprint(v.Int())
	case event.Float:
		return fmt.Sprint(v.Float())
	case event.Bool:
		return fmt.Sprint(v.Bool())
	case event.TimeMS:
		return fmt.Sprint(v.Int(), " ms")
	}
	return "null"
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		text, want string
		typ        event.Type
	}{
		{`courier + " " + waybill`, `"Ångström SF1001"`, event.Text},
		{`courier`, `"Ångström"`, event.Text},
		{`note`, `null`, event.Text},
		{`note == null ? "none" : note`, `"none"`, event.Text},
		{`note == null && count == null && courier != null`, `true`, event.Bool},
		{`note != "left"`, `true`, event.Bool},
		{`weight * 2 + 1`, `3001`, event.Int},
		{`double(weight) / 1000.0`, `1.5`, event.Float},
		{`price * 2.0`, `25`, event.Float},
		{`weight > 1000 && price < 20.0 && express`, `true`, event.Bool},
		{`count > 3 || express`, `true`, event.Bool},
		{`waybill in ["SF1000", "SF1001"]`, `true`, event.Bool},
		{`{"SF": "Shunfeng", "YT": "Yuantong"}[waybill.substring(0, 2)]`, `"Shunfeng"`, event.Text},
		{`waybill.matches("^SF[0-9]+$")`, `true`, event.Bool},
		{`waybill.startsWith("SF") && courier.contains("ström") && waybill.endsWith("1")`, `true`, event.Bool},
		{`at`, `1700000000123 ms`, event.TimeMS},
		{`at + duration("1h")`, `1700003600123 ms`, event.TimeMS},
		{`ms(at)`, `1700000000123`, event.Int},
		{`int(at)`, `1700000000`, event.Int},
		{`time_ms(weight)`, `1500 ms`, event.TimeMS},
		{`at > timestamp("2023-11-14T00:00:00Z")`, `true`, event.Bool},
		{`at.getHours()`, `22`, event.Int},
		{`at.getHours("Asia/Shanghai")`, `6`, event.Int},
		{`string(weight) + "g"`, `"1500g"`, event.Text},
		{`string(at)`, `"2023-11-14T22:13:20.123Z"`, event.Text},
		{`int("12") + size(courier)`, `20`, event.Int},
		{`courier.upperAscii() + courier.lowerAscii()`, `"ÅNGSTRöMÅngström"`, event.Text},
		{`("  " + waybill + "\n").trim()`, `"SF1001"`, event.Text},
		{`courier.substring(1, 3) + courier.substring(7)`, `"ngm"`, event.Text},
		{`courier.substring(8)`, `""`, event.Text},
		{`courier == waybill`, `false`, event.Bool},
		{`price > 0.0e-400 && -0.0 == 0.0 && price * 5e-324 > double("0e-999")`, `true`, event.Bool},
	} {
		v, typ, err := ask(c.text, parcelValues())
		if err != nil || show(v) != c.want || typ != c.typ {
			t.Errorf("%s: %s %s (%v), want %s %s", c.text, show(v), typ, err, c.want, c.typ)
		}
	}
}

func TestEventsWithoutAnswer(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`note + "!"`, `bad_expression: let.answer: no such overload: _+_; note is null or absent: check note == null first`},
		{`count > 3`, `bad_expression: let.answer: no such overload: _>_; count is null or absent: check count == null first`},
		{`weight / (weight - 1500)`, `bad_expression: let.answer: division by zero`},
		{`weight * 9223372036854775807`, `bad_expression: let.answer: integer overflow`},
		{`price / 0.0`, `bad_expression: let.answer: +Inf is not a number that a store can hold`},
		{`int(waybill)`, `bad_expression: let.answer: type conversion error from 'string' to 'int'`},
		{`{"YT": 1}[waybill]`, `bad_expression: let.answer: no such key: SF1001`},
		{`courier.substring(3, 9)`, `bad_expression: let.answer: substring(3, 9) of 8 characters`},
		{`courier.substring(-1)`, `bad_expression: let.answer: substring(-1, 10) of 8 characters`},
		{`at.getHours("Mars/Olympus")`, `bad_expression: let.answer: unknown time zone Mars/Olympus`},
	} {
		if _, _, err := ask(c.text, parcelValues()); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n%v, want\n%s", c.text, err, c.want)
		}
	}
	long := parcelValues()
	long[1] = event.TextValue(strings.Repeat("x", maxText+1))
	_, _, err := ask(`courier.contains("y")`, long)
	if want := "bad_expression: let.answer: courier is 65537 bytes long, more than the 65536 that expressions can read"; err == nil || err.Error() != want {
		t.Errorf("a long text: %v, want %s", err, want)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`statoin == "x"`, `at character 1: there is no field and no function statoin`},
		{"weight > 3 &&\n  price > 1", "at line 2, character 9: > does not accept float with int; convert one with double(), int() or string()"},
		{`weight > 1.5`, `at character 8: > does not accept int with float; convert one with double(), int() or string()`},
		{`courier +`, `at character 10: it is incomplete`},
		{`courier.substring("1")`, `at character 18: substring() does not accept text.(text)`},
		{``, `it is empty`},
		{` `, `it is empty`},
		{`now > at`, `at character 1: there is no now: a replay would give another result; compare with the event's own times`},
		{`has(note)`, `at character 4: there is no has(); compare with null: field != null`},
		{`["a"].exists(x, x == courier)`, `at character 13: there is no exists(): expressions have no loops, so that their cost is known`},
		{`$partition > 3`, `at character 1: a name cannot begin with $; declare a field with that path, and use the field`},
		{`place > 3`, `at character 1: field place ` + unstable},
		{`items == "[]"`, `at character 1: field items is declared json, which expressions do not support; declare the field inside it that you need`},
		{`[courier]`, `its result is a list(string), which no field can hold; make it a text, an int, a float, a bool or a time`},
		{`null`, `its result is a null_type, which no field can hold; make it a text, an int, a float, a bool or a time`},
		{`dyn(courier) == 1`, `at character 4: there is no field and no function dyn`},
		{`google.protobuf.StringValue{value: courier}`, `at character 28: its result is a Protocol Buffers message, which no field can hold`},
		{`courier.matches(waybill)`, `at character 17: the regular expression must be a literal between quotes`},
		{`courier.matches("(")`, "at character 17: error parsing regexp: missing closing ): `(`"},
		{`price > 1e-400`, `at character 9: 1e-400 is too small for a float and would be 0; write 0.0 if that is meant`},
		{"courier == \"é\" &&\n  price > -0.005E-399", `at line 2, character 11: -0.005E-399 is too small for a float and would be 0; write 0.0 if that is meant`},
		{`price > double("1e-400")`, `at character 15: 1e-400 is too small for a float and would be 0; write 0.0 if that is meant`},
		{`price > 1e400`, `at character 9: invalid double literal`},
		{`package`, `at character 1: reserved identifier: package`},
	} {
		_, _, err := ask(c.text, parcelValues())
		var f *Fault
		if !errors.As(err, &f) || err.Error() != c.want {
			t.Errorf("%s:\n%v, want\n%s", c.text, err, c.want)
		}
	}
}

func TestHostileExpressionsAreRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nested", strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000), "nested more than 100 levels"},
		{"nested calls", strings.Repeat("string(", 300) + "courier" + strings.Repeat(")", 300), "nested more than 100 levels"},
		{"a minus for each character", strings.Repeat("-", 4000) + "1", ""},
		{"chain", "courier" + strings.Repeat(" + courier", 60), "it could cost"},
		{"long chain", "courier" + strings.Repeat("+courier", 400), "nested more than"},
		{"many regular expressions", `courier.matches("` + strings.Repeat("(a+)+", 60) + `")` + strings.Repeat(` || courier.matches("`+strings.Repeat("(a+)+", 60)+`")`, 9), "it could cost"},
		{"large regular expression", `courier.matches("((a{30}){30}b|c{1000})")`, "exceeds limit of 500"},
		{"long literal", `courier == "` + strings.Repeat("x", 5000) + `"`, "longer than 4096"},
		{"many literals", "[" + strings.Repeat("1,", 1500) + "1] == []", "more than 500 names"},
		{"a text as a number of lists", `[courier, courier] + [courier] == [waybill]`, ""},
	} {
		_, _, err := ask(c.text, parcelValues())
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want … %s …", c.name, err, c.want)
		} else if err != nil {
			t.Logf("%s: %v", c.name, err)
		}
	}
}

func TestLetsAndWhenAreOrdered(t *testing.T) {
	b := New(parcel)
	for _, l := range []struct{ name, text string }{
		{"kilos", `weight / 1000`}, {"heavy", `kilos > 0`}, {"risky", `1000 / count`},
	} {
		if _, err := b.Let(l.name, 0, "let."+l.name, l.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.When("when", `heavy && count != null`); err != nil {
		t.Fatal(err)
	}
	if err := b.Condition("rows[0].when", "rows[0].when", `express`); err != nil {
		t.Fatal(err)
	}
	r := b.Rules()
	e := r.evaluator()
	values := func() []event.Value { return append(parcelValues(), make([]event.Value, 4)...) }
	v := values()
	if keep, err := e.Derive(v); keep || err != nil {
		t.Errorf("count is null: keep %v, %v; risky is not asked of what is left out", keep, err)
	}
	v = values()
	v[7] = event.IntValue(10)
	if keep, err := e.Derive(v); !keep || err != nil || show(v[10]) != "1" || show(v[11]) != "true" || show(v[12]) != "100" || show(v[13]) != "true" {
		t.Errorf("keep %v, %v, values %v", keep, err, v[10:])
	}
	v = values()
	v[7] = event.IntValue(0)
	if _, err := e.Derive(v); err == nil {
		t.Error("a division by zero passed")
	}
	if got := fmt.Sprint(r.Sources("heavy"), r.Sources(When), r.Sources("rows[0].when"), r.Sources(When, "heavy")); got != "[2] [2 7] [4] [7 11]" {
		t.Errorf("sources %s", got)
	}
	v = values()
	v[7], v[4] = event.IntValue(1), event.Value{}
	if _, err := e.Derive(v); err != nil {
		t.Errorf("a condition that has no answer: %v", err)
	}
	ev := event.Event{Values: v}
	if _, err := ev.Holds(13); err == nil || !strings.Contains(err.Error(), "rows[0].when: it is not true or false; express is null") {
		t.Errorf("a condition that is null: %v", err)
	}
}

func TestTypesOfLets(t *testing.T) {
	b := New(parcel)
	for _, c := range []struct {
		typ        event.Type
		text, want string
	}{
		{event.Text, `weight`, "its result is an int, but x is declared text"},
		{event.TimeMS, `weight`, "its result is an int, but x is declared time_ms"},
		{event.Int, `at`, "its result is a time, but x is declared int"},
	} {
		if _, err := b.Let("x", c.typ, "let.x", c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := b.Let("weight", 0, "let.weight", `1`); err == nil {
		t.Error("a field was declared twice")
	}
	if err := b.When("when", `weight`); err == nil || err.Error() != "its result is an int, but must be true or false" {
		t.Errorf("when: %v", err)
	}
}

// TestFaultsNameTheField: CEL proposes names that are alike, and they are not part of the name.
func TestFaultsNameTheField(t *testing.T) {
	b := New([]event.Field{{Name: "d", Type: event.Decimal}, {Name: "dt", Type: event.Text}})
	want := "at character 1: field d is declared decimal, which expressions do not support; declare it float, or { type: text, from: number }"
	if _, err := b.Let("answer", 0, "let.answer", "d > 1.0"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	want = "at character 1: there is no field and no function dtt"
	if _, err := b.Let("answer", 0, "let.answer", `dtt == "x"`); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestReads(t *testing.T) {
	b := New([]event.Field{{Name: "phone", Type: event.Text}, {Name: "w", Type: event.Int}, {Name: "n", Type: event.Text}})
	for _, let := range [][2]string{{"info", `n + phone`}, {"r", `100 / w`}, {"far", `info + "!"`}} {
		if _, err := b.Let(let[0], 0, "let."+let[0], let[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.When("when", `far != "" && w > 1`); err != nil {
		t.Fatal(err)
	}
	s := event.Schema{Fields: b.Fields(), Masked: []int{0, 3, 5}, Derive: b.Rules()}
	for setting, want := range map[string]string{
		"let.info": "***", "let.r": "why", "let.far": "***", "when": "***", "let.renamed": "***", "": "***",
	} {
		err, _ := errors.AsType[*event.Error](s.Hide(&event.Error{Reason: event.BadExpression, Field: setting, Detail: "why"}))
		if err == nil || err.Detail != want || err.Field != setting {
			t.Errorf("%s: %v, want the detail %s", setting, err, want)
		}
	}
	values := []event.Value{event.TextValue("1"), event.IntValue(0), event.TextValue("n"), {}, {}, {}}
	if _, err := b.Rules().KeepAll().Evaluator().Derive(values); err == nil || err.Field != "let.r" || err.Detail != "division by zero" {
		t.Errorf("the reject of 100 / 0 is %+v", err)
	}
}
