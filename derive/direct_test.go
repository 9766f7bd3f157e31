package derive

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"brine/event"
)

// TestWhatIsDirect checks which expressions are evaluated without CEL, and which are not.
func TestWhatIsDirect(t *testing.T) {
	for text, want := range map[string]bool{
		`waybill`: true, `"x"`: true, `weight`: true, `express`: true, `true`: true, `2.5`: true,
		`courier + " " + waybill`: true, `courier + (" " + waybill) + "."`: true,
		`waybill == "SF1"`: true, `"SF1" != waybill`: true, `note == null`: true, `at == null`: true, `courier < waybill`: true, `weight >= 5`: true, `price > 1.5`: true,
		`express == false`: true, `!express || weight == 5 && !(price < 2.0)`: true, `waybill in ["SF1", "SF2"]`: true, `weight in [1, 2]`: true,
		`waybill.startsWith("SF") && courier.endsWith(note) && note.contains("x")`: true,
		`note == null ? "none" : note`:                                             true, `express ? weight : count`: true, `express ? courier + "!" : note == null ? waybill : note`: true,

		`at`: false, `at > timestamp("2020-01-01T00:00:00Z")`: false, `weight + 1`: false, `waybill.matches("^SF")`: false, `waybill + string(weight)`: false,
		`waybill.size() > 2`: false, `waybill in [courier]`: false, `price in [1.0]`: false, `waybill.trim() == "x"`: false, `double(weight) > 1.5`: false,
		`(express ? waybill : note) == "x"`: false, `waybill == "x" && weight % 2 == 0`: false, `ms(at)`: false, `{"a": 1}[waybill] == 1`: false,
	} {
		b := New(parcel)
		if _, err := b.Let("answer", 0, "let.answer", text); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := b.Rules().lets[0].direct != nil; got != want {
			t.Errorf("%s: direct is %t", text, got)
		}
	}
}

// writer makes random expressions of the direct forms, and a few that are nearly direct.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) text() string { return w.one("waybill", "courier", "note", `"SF1"`, `""`, `"né"`) }

func (w writer) answer(depth int) string {
	switch {
	case depth > 2:
		return w.text()
	case w.IntN(3) == 0:
		return fmt.Sprintf("%s ? %s : %s", w.condition(depth+1), w.answer(depth+1), w.answer(depth+1))
	case w.IntN(3) == 0:
		return w.text() + " + (" + w.text() + " + " + w.text() + ")"
	}
	return w.text()
}

func (w writer) condition(depth int) string {
	if depth > 3 || w.IntN(2) == 0 {
		return w.comparison()
	}
	a, b := w.condition(depth+1), w.condition(depth+1)
	return w.one("("+a+" && "+b+")", "("+a+" || "+b+" || "+a+")", "!("+a+")")
}

func (w writer) comparison() string {
	op := w.one("==", "!=", "<", "<=", ">", ">=")
	switch w.IntN(9) {
	case 0:
		return w.one("express", "true", "!express")
	case 1:
		return w.text() + "." + w.one("startsWith", "endsWith", "contains") + "(" + w.text() + ")"
	case 2:
		return w.one("weight", "count", "5") + " " + op + " " + w.one("weight", "5", "-9223372036854775808")
	case 3:
		return w.one("price", "0.0") + " " + op + " " + w.one("price", "2.5", "-0.0", "1e300")
	case 4:
		return "express " + op + " " + w.one("true", "false", "express")
	case 5:
		return w.one("waybill", "note", "weight", "price", "express", "at") + w.one(" == null", " != null")
	case 6:
		return "null " + w.one("==", "!=") + " " + w.text()
	case 7:
		return w.one(w.text()+` in ["SF1", "né"]`, "weight in [5, -1]", "count in []")
	}
	return w.text() + " " + op + " " + w.text()
}

// directly checks that a random expression gives, for random values, the result of CEL alone. It reports whether the expression is direct.
func directly(t *testing.T, seed uint64, waybill, courier, note string, weight int64, price float64, nulls byte) bool {
	t.Helper()
	w := writer{rand.New(rand.NewPCG(seed, 1))}
	text := w.answer(0)
	if w.IntN(2) == 0 {
		text = w.condition(0)
	}
	b := New(parcel)
	if _, err := b.Let("answer", 0, "let.answer", text); err != nil {
		return false // wrong types, or too deep
	}
	r := b.Rules()
	for i := range byte(4) {
		values := []event.Value{event.TextValue(waybill), event.TextValue(courier), event.IntValue(weight), event.FloatValue(price),
			event.BoolValue(nulls&64 != 0), event.TimeValue(5), event.TextValue(note), event.IntValue(5), {}, {}, {}}
		for n := range 7 {
			if (nulls<<i)&(1<<n) != 0 {
				values[n] = event.Value{}
			}
		}
		_, err := r.evaluator().Derive(values)
		if got, want := outcome(values[10], err), byMap(r.lets[0].program, values); got != want {
			t.Fatalf("%s: %s, by CEL %s, of %v", text, got, want, values)
		}
	}
	return r.lets[0].direct != nil
}

func TestDirectAnswersAreThoseOfCEL(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	const expressions = 400
	direct := 0
	for seed := range uint64(expressions) {
		texts := []string{"", "SF1", "SF", "né", strings.Repeat("x", maxText)}
		if directly(t, seed, one(texts...), one(texts...), one(texts...), int64(random.IntN(3)*5-5), []float64{0, 2.5, 1e300}[random.IntN(3)], byte(random.IntN(256))) {
			direct++
		}
	}
	if direct < expressions/2 {
		t.Errorf("%d of %d expressions are direct", direct, expressions)
	}
}

// TestLongTextsAreForCEL checks that too long a text is also reported in direct expressions.
func TestLongTextsAreForCEL(t *testing.T) {
	values := parcelValues()
	values[0] = event.TextValue(strings.Repeat("x", maxText+1))
	for _, text := range []string{`waybill`, `waybill + "x"`, `waybill == "x"`, `waybill != null`, `waybill.contains("x")`, `waybill in ["x"]`, `express ? waybill : courier`} {
		if _, _, err := ask(text, values); err == nil || !strings.Contains(err.Error(), "waybill is 65537 bytes long") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzDirect checks that direct results equal those of CEL for any values.
func FuzzDirect(f *testing.F) {
	f.Add(uint64(1), "SF1", "né", "", int64(5), 2.5, byte(0))
	f.Add(uint64(2), "", "SF", "x", int64(-1), 0.0, byte(5))
	f.Fuzz(func(t *testing.T, seed uint64, waybill, courier, note string, weight int64, price float64, nulls byte) {
		for _, text := range []*string{&waybill, &courier, &note} {
			if *text = strings.ToValidUTF8(*text, "?"); len(*text) > maxText { // a decoder makes no others
				return
			}
		}
		directly(t, seed, waybill, courier, note, weight, price, nulls)
	})
}
