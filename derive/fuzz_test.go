package derive

import (
	"testing"
	"time"
	"unicode/utf8"

	"cel.dev/cel-go/cel"

	"brine/event"
)

// FuzzExpression checks that every text is an error, or rules that give for any values the result of CEL alone, with a map of values that
// CEL boxes in its own way.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{when, `courier + " " + waybill`, `note == null ? "x" : note`, `at + duration("1h")`, `price / double(weight)`,
		`{"SF": "S"}[waybill.substring(0, 2)]`, `waybill.matches("^(a+)+$")`, `[courier][0]`, `((((1))))`, "courier\n+ 3", `b"\xff" == bytes(courier)`,
		`-9223372036854775808 / weight`, `string(time_ms(weight))`, `ms(timestamp(courier))`, `courier.trim().upperAscii()`,
		`1 in [weight, 2]`, `uint(weight)`, `"\U0010FFFF" + courier`} {
		f.Add(text, "SF1", "né", int64(5), 2.5, true, int64(1_700_000_000_123), byte(0))
	}
	f.Fuzz(func(t *testing.T, text, waybill, courier string, weight int64, price float64, express bool, at int64, nulls byte) {
		if !utf8.ValidString(waybill) || !utf8.ValidString(courier) {
			return // a decoder makes none
		}
		values := []event.Value{event.TextValue(waybill), event.TextValue(courier), event.IntValue(weight), event.FloatValue(price),
			event.BoolValue(express), event.TimeValue(at), {}, {}, {}, {}, {}}
		for i := range 6 {
			if nulls&(1<<i) != 0 {
				values[i] = event.Value{}
			}
		}
		b := New(parcel)
		if _, err := b.Let("answer", 0, "let.answer", text); err != nil {
			return
		}
		r := b.Rules()
		e := r.evaluator()
		if _, err := e.Derive(values); err == nil && values[10].Type == event.Text && !utf8.Valid(values[10].Text()) {
			t.Fatalf("%q made %q, which is not UTF-8", text, values[10].Text())
		} else if got, want := outcome(values[10], err), byMap(r.lets[0].program, values); got != want {
			t.Fatalf("%q: %s, with a map %s", text, got, want)
		}
	})
}

func outcome(v event.Value, err *event.Error) string {
	if err != nil {
		return "no answer"
	}
	return show(v)
}

// byMap evaluates with values that CEL boxes.
func byMap(program cel.Program, values []event.Value) string {
	vars := map[string]any{}
	for i, f := range parcel {
		switch v := values[i]; {
		case v.Null():
			vars[f.Name] = nil
		case f.Type == event.Text:
			vars[f.Name] = string(v.Text())
		case f.Type == event.Int:
			vars[f.Name] = v.Int()
		case f.Type == event.Float:
			vars[f.Name] = v.Float()
		case f.Type == event.Bool:
			vars[f.Name] = v.Bool()
		case f.Type.IsTime():
			vars[f.Name] = time.UnixMilli(v.Int()).UTC()
		}
	}
	out, _, err := program.Eval(vars)
	if err != nil {
		return "no answer"
	}
	v, fault := unbox(out)
	if fault != "" {
		return "no answer"
	}
	return show(v)
}
