package rowkey_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"pgregory.net/rapid"

	"brine/rowkey"
)

// randomFields are the fields of random grammars: of each type, enough that a key may use several.
var randomFields = []rowkey.Field{
	{Name: "a", Type: rowkey.Text}, {Name: "b", Type: rowkey.Text}, {Name: "c", Type: rowkey.Text},
	{Name: "i", Type: rowkey.Int}, {Name: "j", Type: rowkey.Int},
	{Name: "f", Type: rowkey.Float}, {Name: "g", Type: rowkey.Float},
	{Name: "p", Type: rowkey.Bool}, {Name: "t", Type: rowkey.Time}, {Name: "u", Type: rowkey.Time},
}

// model is the expected behaviour of a value part, defined independently of the code under test.
type model struct {
	expr  string
	field rowkey.Field
	sep   string
	order func(x, y rowkey.Value) int     // the order of the part's bytes; nil if no order is stated
	keeps func(rowkey.Value) rowkey.Value // what is read back
	scans bool                            // From and To are allowed
}

// grammar is a random key: an optional hash or salt, then value parts.
type grammar struct {
	key   *rowkey.Key
	lead  int // bytes before the first value part
	parts []model
	salts int // buckets of the lead, 0 if it is not a salt
	leads []string
}

func drawGrammar(t *rapid.T) grammar {
	var g grammar
	var exprs []string
	fields := rapid.Permutation(randomFields).Draw(t, "fields")[:rapid.IntRange(1, 5).Draw(t, "parts")]
	for i, f := range fields {
		last := i == len(fields)-1
		m := drawPart(t, f, last)
		g.parts = append(g.parts, m)
		exprs = append(exprs, m.expr)
		if m.sep != "" {
			exprs = append(exprs, fmt.Sprintf("%q", m.sep))
		}
	}
	lead := rapid.SampledFrom(fields[:1+rapid.IntRange(0, len(fields)-1).Draw(t, "hashed")]).Draw(t, "lead").Name
	g.leads = []string{lead}
	switch rapid.IntRange(0, 5).Draw(t, "lead kind") {
	case 0:
		exprs, g.lead = append([]string{fmt.Sprintf("md5(%s, 4)", lead)}, exprs...), 4
	case 1:
		exprs, g.lead = append([]string{fmt.Sprintf("xxhash(%s, 3 bytes)", lead)}, exprs...), 3
	case 2:
		exprs, g.lead = append([]string{fmt.Sprintf("murmur3(%s, 5)", lead)}, exprs...), 5
	case 3:
		exprs, g.lead, g.salts = append([]string{fmt.Sprintf("salt(7, %s)", lead)}, exprs...), 1, 7
	case 4:
		exprs, g.lead, g.salts = append([]string{fmt.Sprintf("salt(300, %s)", lead)}, exprs...), 2, 300
	case 5:
		g.leads = nil
	}
	key, err := rowkey.Parse(strings.Join(exprs, " + "), randomFields)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(exprs, " + "), err)
	}
	g.key = key
	return g
}

var identity = func(v rowkey.Value) rowkey.Value { return v }

func reversed(order func(x, y rowkey.Value) int) func(x, y rowkey.Value) int {
	return func(x, y rowkey.Value) int { return order(y, x) }
}

func drawPart(t *rapid.T, f rowkey.Field, last bool) model {
	m := model{field: f, keeps: identity, scans: true}
	pick := func(label string, options ...string) string { return rapid.SampledFrom(options).Draw(t, label) }
	dir := pick("direction", "asc", "desc")
	switch f.Type {
	case rowkey.Text:
		drawTextPart(t, &m, last)
		return m
	case rowkey.Int:
		switch form := pick("int", "", ", 32", ", 16", ", 8", ", 64, text", ", 32, text", "fixed", "reverse"); form {
		case "fixed":
			m.expr, dir = fmt.Sprintf("fixed(%s, 6)", f.Name), "asc"
		case "reverse":
			m.expr, m.scans = fmt.Sprintf("reverse(%s, 12)", f.Name), false
		default:
			m.expr = fmt.Sprintf("%s(%s%s)", dir, f.Name, form)
		}
		m.order = func(x, y rowkey.Value) int { return cmp.Compare(x.Int, y.Int) }
		if !m.scans {
			m.order = nil
		}
	case rowkey.Float:
		form := pick("float", "", ", 32")
		if form != "" {
			m.keeps = func(v rowkey.Value) rowkey.Value { return rowkey.FloatValue(float64(float32(v.Float()))) }
		}
		m.expr = fmt.Sprintf("%s(%s%s)", dir, f.Name, form)
		m.order = func(x, y rowkey.Value) int { return compareFloats(m.keeps(x).Float(), m.keeps(y).Float()) }
	case rowkey.Bool:
		m.expr = fmt.Sprintf("%s(%s)", dir, f.Name)
		m.order = func(x, y rowkey.Value) int { return cmp.Compare(x.Int, y.Int) }
	case rowkey.Time:
		form := pick("time", "ms", "us", "s", "s, 32", "min", "hour, 32", "day", "ms, text", "s, 32, text")
		unit, _, _ := strings.Cut(form, ",")
		per := map[string]int64{"us": 1, "ms": 1, "s": 1000, "min": 60_000, "hour": 3_600_000, "day": 86_400_000}[unit]
		m.expr = fmt.Sprintf("%s(%s, %s)", dir, f.Name, form)
		m.keeps = func(v rowkey.Value) rowkey.Value { return rowkey.TimeValue(v.Int - v.Int%per) }
		m.order = func(x, y rowkey.Value) int { return cmp.Compare(x.Int/per, y.Int/per) }
	}
	if dir == "desc" && m.order != nil {
		m.order = reversed(m.order)
	}
	return m
}

func drawTextPart(t *rapid.T, m *model, last bool) {
	name := m.field.Name
	form := rapid.SampledFrom([]string{"bare", "bare", "desc", "fixed", "pad", "left", "reverse", "labels"}).Draw(t, "text")
	if !last || rapid.Bool().Draw(t, "ended") {
		m.sep = rapid.SampledFrom([]string{"|", "\x00", "aa", "ab", "\xff", "_"}).Draw(t, "separator")
	}
	compare := func(x, y rowkey.Value) int {
		return strings.Compare(string(x.Text)+m.sep, string(y.Text)+m.sep)
	}
	switch form {
	case "bare":
		m.expr, m.order = name, compare
	case "desc":
		m.expr = fmt.Sprintf("desc(%s)", name)
		m.order = func(x, y rowkey.Value) int {
			return strings.Compare(complement(x.Text)+m.sep, complement(y.Text)+m.sep)
		}
	case "fixed":
		m.expr = fmt.Sprintf("fixed(%s, 5)", name)
		m.order = func(x, y rowkey.Value) int { return bytes.Compare(x.Text, y.Text) }
	case "pad":
		m.expr, m.scans = fmt.Sprintf(`fixed(%s, 5, "_")`, name), false
	case "left":
		m.expr, m.scans = fmt.Sprintf(`fixed(%s, 5, left, "|")`, name), false
	case "reverse":
		m.expr, m.scans = fmt.Sprintf("reverse(%s)", name), false
	case "labels":
		m.expr, m.scans = fmt.Sprintf(`reverse(%s, "b")`, name), false
	}
}

func complement(b []byte) string {
	flipped := make([]byte, len(b))
	for i, c := range b {
		flipped[i] = 255 - c
	}
	return string(flipped)
}

// compareFloats is the total order of floats: −0 before 0.
func compareFloats(x, y float64) int {
	if c := cmp.Compare(x, y); c != 0 {
		return c
	}
	return cmp.Compare(btoi(!math.Signbit(x)), btoi(!math.Signbit(y)))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// drawValue draws values that often coincide, near edges, and sometimes far away.
func drawValue(t *rapid.T, typ rowkey.Type) rowkey.Value {
	switch typ {
	case rowkey.Text:
		return rowkey.TextValue(rapid.StringOfN(rapid.SampledFrom([]rune("abc|_\x00é~")), 0, 4, 5).Draw(t, "text"))
	case rowkey.Int:
		return rowkey.IntValue(rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-130, 130), rapid.Int64()).Draw(t, "int"))
	case rowkey.Float:
		return rowkey.FloatValue(rapid.OneOf(rapid.SampledFrom([]float64{-1, math.Copysign(0, -1), 0, 0.1, 1, math.Inf(1), math.Inf(-1)}), rapid.Float64()).Draw(t, "float"))
	case rowkey.Bool:
		return rowkey.BoolValue(rapid.Bool().Draw(t, "bool"))
	}
	whole := rapid.SampledFrom([]int64{0, 1, 59, 60, 3599, 3600, 86399, 86400, 1357016400, math.MaxInt32}).Draw(t, "second")
	return rowkey.TimeValue(whole*1000 + rapid.SampledFrom([]int64{0, 0, 1, 500, 999}).Draw(t, "ms"))
}

// drawRow draws values that the key can hold, and their row; ok is false if it finds no such values soon.
func (g *grammar) drawRow(t *rapid.T) (values []rowkey.Value, row []byte, ok bool) {
	types := map[string]rowkey.Type{}
	for _, f := range randomFields {
		types[f.Name] = f.Type
	}
	for range 20 {
		values = values[:0]
		for _, name := range g.key.Fields() {
			values = append(values, drawValue(t, types[name]))
		}
		row, err := g.key.Append(nil, values)
		if err == nil {
			return values, row, true
		}
		if _, isValue := errors.AsType[*rowkey.ValueError](err); !isValue {
			t.Fatalf("%s: %v is no *ValueError", g.key, err)
		}
	}
	return nil, nil, false
}

// value returns the value of a part's field.
func (g *grammar) value(values []rowkey.Value, m model) rowkey.Value {
	for i, name := range g.key.Fields() {
		if name == m.field.Name {
			return values[i]
		}
	}
	panic("the key does not read " + m.field.Name)
}
