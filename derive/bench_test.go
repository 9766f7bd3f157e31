package derive

import (
	"runtime"
	"testing"

	"brine/event"
)

// benchRules returns a when and two lets, as a pipeline has them.
func benchRules(tb testing.TB, when string, lets ...string) (*Evaluator, []event.Value) {
	b := New(parcel)
	for i, text := range lets {
		if _, err := b.Let(string(rune('a'+i)), 0, "let", text); err != nil {
			tb.Fatal(err)
		}
	}
	if when != "" {
		if err := b.When("when", when); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Rules().evaluator(), append(parcelValues(), make([]event.Value, len(lets))...)
}

const when = `waybill.startsWith("SF") && weight > 100 && courier != "nobody"`

func BenchmarkWhen(b *testing.B) { benchmark(b, when) }

func BenchmarkWhenAndTwoLets(b *testing.B) { benchmark(b, when, twoLets...) }

var twoLets = []string{`courier + " " + waybill`, `express && price < 100.0`}

// BenchmarkWhenAndTwoLetsByCEL uses CEL, as for expressions without a direct form.
func BenchmarkWhenAndTwoLetsByCEL(b *testing.B) {
	e, values := benchRules(b, when, twoLets...)
	e.rules.when.direct = nil
	for i := range e.rules.lets {
		e.rules.lets[i].direct = nil
	}
	derives(b, e, values)
}

func benchmark(b *testing.B, when string, lets ...string) {
	e, values := benchRules(b, when, lets...)
	derives(b, e, values)
}

func derives(b *testing.B, e *Evaluator, values []event.Value) {
	b.ReportAllocs()
	for b.Loop() {
		if keep, err := e.Derive(values); err != nil || !keep {
			b.Fatal(keep, err)
		}
	}
}

// TestAllocations checks that boxes allocate nothing, whatever their types. The remaining allocations are CEL's own: the -1 of two compared
// floats, the arguments of a regular expression, the texts that it joins.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		when string
		lets []string
		want float64
	}{
		{when, nil, 0},
		{`at > timestamp("2020-01-01T00:00:00Z") && price > 1.0 && express && note == null && waybill in ["SF1001", "SF1002"]`, nil, 0},
		{`price < 1000.0`, nil, 1},
		{`waybill.matches("^SF")`, nil, 2},
		{"", []string{`courier`, `weight`, `price`, `express`, `at`}, 0},
		{"", []string{`courier + " " + waybill`}, 4},
	} {
		e, values := benchRules(t, c.when, c.lets...)
		if n := testing.AllocsPerRun(100, func() { e.Derive(values) }); n > c.want {
			t.Errorf("%s %v: %v allocations, want at most %v", c.when, c.lets, n, c.want)
		}
	}
}

// TestTextsOutliveTheirBoxes evaluates one event after another, with garbage collections in between, and looks at the texts of the first
// ones last.
func TestTextsOutliveTheirBoxes(t *testing.T) {
	e, _ := benchRules(t, when, `courier + " " + waybill`, `courier`)
	var all [][]event.Value
	for i := range 200 {
		values := append(parcelValues(), make([]event.Value, 2)...)
		values[0] = event.TextValue("SF" + string(rune('a'+i%26)))
		values[1] = event.TextValue(string(rune('a' + i%26)))
		if keep, err := e.Derive(values); !keep || err != nil {
			t.Fatal(keep, err)
		}
		all = append(all, values)
		if i%50 == 0 {
			runtime.GC()
		}
	}
	for i, values := range all {
		name := string(rune('a' + i%26))
		if string(values[10].Text()) != name+" SF"+name || string(values[11].Text()) != name {
			t.Fatalf("event %d: %q, %q", i, values[10].Text(), values[11].Text())
		}
	}
}
