package rowkey_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"brine/rowkey"
)

// TestDecodeInvertsAppend checks that decode(encode(x)) = x, up to the precision of a coarser unit or 32-bit float.
func TestDecodeInvertsAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrammar(t)
		values, row, ok := g.drawRow(t)
		if !ok {
			t.Skip("no value fits")
		}
		got, err := g.key.Decode(row)
		if err != nil {
			t.Fatalf("%s: %v", g.key, err)
		}
		for _, m := range g.parts {
			if want, have := m.keeps(g.value(values, m)), g.value(got, m); !have.Equal(want) {
				t.Fatalf("%s: %s is %s, want %s (row %s)", g.key, m.field.Name, have, want, rowkey.Binary(row))
			}
		}
	})
}

// TestDecodeRefusesWhatNoValuesGive checks that a row with one byte changed, dropped or added is refused, or is the row of what it decodes
// to.
func TestDecodeRefusesWhatNoValuesGive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrammar(t)
		_, row, ok := g.drawRow(t)
		if !ok {
			t.Skip("no value fits")
		}
		at := rapid.IntRange(0, len(row)-1).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0:
			row[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		case 1:
			row = append(row[:at], row[at+1:]...)
		case 2:
			row = append(row, byte(rapid.IntRange(0, 255).Draw(t, "more")))
		}
		values, err := g.key.Decode(row)
		if err != nil {
			if _, isDecode := errors.AsType[*rowkey.DecodeError](err); !isDecode {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again, err := g.key.Append(nil, values)
		if err != nil || !bytes.Equal(again, row) {
			t.Fatalf("%s: row %s decodes, but encodes to %s, %v", g.key, rowkey.Binary(row), rowkey.Binary(again), err)
		}
	})
}

// TestKeysSortAsStated checks that behind an equal hash or salt, the first part that differs decides, by its stated order.
func TestKeysSortAsStated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrammar(t)
		x, rowX, okX := g.drawRow(t)
		x = append([]rowkey.Value(nil), x...)
		y, rowY, okY := g.drawRow(t)
		if !okX || !okY {
			t.Skip("no value fits")
		}
		want := 0
		for _, m := range g.parts {
			vx, vy := g.value(x, m), g.value(y, m)
			if m.order == nil && !vx.Equal(vy) {
				return // no order is stated
			}
			if m.order != nil {
				want = m.order(vx, vy)
			}
			if want != 0 {
				break
			}
		}
		if got := bytes.Compare(rowX[g.lead:], rowY[g.lead:]); got != want {
			t.Fatalf("%s: %v against %v sorts %d, want %d", g.key, x, y, got, want)
		}
	})
}

// TestRangesHoldExactlyTheRows checks that a row lies in the ranges of a left-most set of bounds if and only if its fields satisfy them.
func TestRangesHoldExactlyTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrammar(t)
		rows := make([][]byte, 0, 8)
		all := make([][]rowkey.Value, 0, 8)
		for range 8 {
			values, row, ok := g.drawRow(t)
			if !ok {
				t.Skip("no value fits")
			}
			all = append(all, append([]rowkey.Value(nil), values...))
			rows = append(rows, row)
		}
		bounds, ranged := g.drawBounds(t, all)
		ranges, err := g.key.Ranges(bounds)
		if err != nil {
			if u, ok := errors.AsType[*rowkey.UsageError](err); ok && len(g.leads) > 0 && g.salts == 0 && bounds[g.leads[0]].Equal.Null() && u.Field == g.leads[0] {
				return // the hash of a field that is not bound
			}
			t.Fatalf("%s over %v: %v", g.key, bounds, err)
		}
		checkDisjoint(t, ranges)
		for i, row := range rows {
			want := g.satisfies(all[i], bounds, ranged)
			got := false
			for _, r := range ranges {
				got = got || r.Contains(row)
			}
			if got != want {
				t.Fatalf("%s over %v: row %s of %v is in the ranges: %v, want %v\n%v", g.key, bounds, rowkey.Binary(row), all[i], got, want, ranges)
			}
		}
	})
}

func checkDisjoint(t *rapid.T, ranges []rowkey.Range) {
	for i, r := range ranges {
		if r.Stop != nil && bytes.Compare(r.Start, r.Stop) >= 0 {
			t.Fatalf("range %d is empty: %v", i, r)
		}
		if i > 0 && (ranges[i-1].Stop == nil || bytes.Compare(ranges[i-1].Stop, r.Start) > 0) {
			t.Fatalf("ranges overlap or descend: %v", ranges)
		}
	}
}

// drawBounds binds the first parts to the values of a drawn row, and possibly the next one to a range between two of them.
func (g *grammar) drawBounds(t *rapid.T, all [][]rowkey.Value) (bounds map[string]rowkey.Bound, ranged *model) {
	bounds = map[string]rowkey.Bound{}
	n := rapid.IntRange(0, len(g.parts)).Draw(t, "bound parts")
	for _, m := range g.parts[:n] {
		bounds[m.field.Name] = rowkey.Bound{Equal: g.value(all[0], m)}
	}
	if n == len(g.parts) || !g.parts[n].scans || rapid.Bool().Draw(t, "only equal") {
		return bounds, nil
	}
	var b rowkey.Bound
	m := g.parts[n]
	edge := func() rowkey.Value {
		if rapid.Bool().Draw(t, "of a row") {
			return g.value(all[rapid.IntRange(0, len(all)-1).Draw(t, "row")], m)
		}
		return drawValue(t, m.field.Type)
	}
	if rapid.IntRange(0, 3).Draw(t, "from") > 0 {
		b.From = edge()
	}
	if rapid.IntRange(0, 3).Draw(t, "to") > 0 {
		b.To = edge()
		b.Through = rapid.Bool().Draw(t, "through")
	}
	bounds[m.field.Name] = b
	return bounds, &m
}

func (g *grammar) satisfies(values []rowkey.Value, bounds map[string]rowkey.Bound, ranged *model) bool {
	for _, m := range g.parts {
		b, v := bounds[m.field.Name], g.value(values, m)
		if !b.Equal.Null() && !m.keeps(v).Equal(m.keeps(b.Equal)) {
			return false
		}
	}
	if ranged == nil {
		return true
	}
	b, v := bounds[ranged.field.Name], g.value(values, *ranged)
	below := b.To.Null() || less(ranged, v, b.To, true) || b.Through && meets(ranged, v, b.To)
	return !less(ranged, v, b.From, false) && below
}

// meets reports whether a value equals the edge, as far as the key can show.
func meets(m *model, v, edge rowkey.Value) bool {
	if m.field.Type == rowkey.Time {
		return m.keeps(v).Int == edge.Int
	}
	return m.keeps(v).Equal(m.keeps(edge))
}

// less compares in the field's own order. A coarser time is in the range if any millisecond of its unit is.
func less(m *model, v, edge rowkey.Value, upper bool) bool {
	if edge.Null() {
		return false
	}
	v = m.keeps(v)
	switch m.field.Type {
	case rowkey.Text:
		return bytes.Compare(v.Text, edge.Text) < 0
	case rowkey.Float:
		return compareFloats(v.Float(), m.keeps(edge).Float()) < 0
	case rowkey.Time:
		if upper {
			return v.Int < edge.Int
		}
		return v.Int < m.keeps(edge).Int
	}
	return v.Int < edge.Int
}
