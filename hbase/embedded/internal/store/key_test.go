package store

import (
	"bytes"
	"cmp"
	"testing"

	"pgregory.net/rapid"
)

// few generates bytes among which escapes, ends, commas and prefixes of each other are common.
func few(label string, least int) *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		return rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, ',', 'a', 'b', 0xFE, 0xFF}), least, 5).Draw(t, label)
	})
}

type coordinates struct {
	row, family, qualifier []byte
	ts                     int64
	typ                    Type
}

func drawCoordinates(t *rapid.T) coordinates {
	return coordinates{
		row: few("row", 1).Draw(t, "row"), family: []byte(rapid.SampledFrom([]string{"a", "ab", "b"}).Draw(t, "family")),
		qualifier: few("qualifier", 0).Draw(t, "qualifier"), ts: rapid.SampledFrom([]int64{-1 << 63, -1, 0, 1, 255, 256, 1<<63 - 1}).Draw(t, "ts"),
		typ: rapid.SampledFrom([]Type{Put, Delete, DeleteFamilyVersion, DeleteColumn, DeleteFamily}).Draw(t, "type"),
	}
}

// compareCells compares cells in HBase's order, with the given order of rows.
func compareCells(a, b coordinates, rows func(a, b []byte) int) int {
	return cmp.Or(rows(a.row, b.row), bytes.Compare(a.family, b.family), bytes.Compare(a.qualifier, b.qualifier), -cmp.Compare(a.ts, b.ts), -cmp.Compare(a.typ, b.typ))
}

func checkOrder(t *testing.T, space Space, rows func(a, b []byte) int) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCoordinates(t), drawCoordinates(t)
		ka := appendCellKey(nil, space, a.row, a.family, a.qualifier, a.ts, a.typ)
		kb := appendCellKey(nil, space, b.row, b.family, b.qualifier, b.ts, b.typ)
		if got, want := bytes.Compare(ka, kb), compareCells(a, b, rows); got != want {
			t.Fatalf("%v against %v: keys compare %d, cells %d", a, b, got, want)
		}
		p, ok := parse(ka)
		if !ok {
			t.Fatalf("the key of %v cannot be read back", a)
		}
		row := appendUnescaped(nil, ka[headLen:p.rowEnd-2])
		qualifier := appendUnescaped(nil, ka[p.familyEnd:p.columnEnd-2])
		if !bytes.Equal(row, a.row) || !bytes.Equal(ka[p.rowEnd:p.familyEnd-1], a.family) || !bytes.Equal(qualifier, a.qualifier) || p.timestamp != a.ts || p.typ != a.typ {
			t.Fatalf("read back row %q qualifier %q %+v, want %v", row, qualifier, p, a)
		}
		behind := append(appendRowKey(nil, space, a.row), afterAll)
		if rows(a.row, b.row) >= 0 != (bytes.Compare(kb, behind) < 0) {
			t.Fatalf("the end of row %q is on the wrong side of %v", a.row, b)
		}
	})
}

func TestKeysSortAsCells(t *testing.T) { checkOrder(t, MetaSpace+1, bytes.Compare) }

func TestKeysOfMetaSortPartByPart(t *testing.T) { checkOrder(t, MetaSpace, compareMetaRows) }

// compareMetaRows compares table, start key and id one after the other: the parts before the first comma, after the last, and in between.
func compareMetaRows(a, b []byte) int {
	pa, pb := metaParts(a), metaParts(b)
	for i := range min(len(pa), len(pb)) {
		if c := bytes.Compare(pa[i], pb[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(pa), len(pb))
}

func metaParts(row []byte) [][]byte {
	table, rest, ok := bytes.Cut(row, []byte{','})
	if !ok {
		return [][]byte{row}
	}
	last := bytes.LastIndexByte(rest, ',')
	if last < 0 {
		return [][]byte{table, rest}
	}
	return [][]byte{table, rest[:last], rest[last+1:]}
}

// The cases in which hbase:meta has its own order.
func TestOrderOfMetaRows(t *testing.T) {
	rows := []string{
		"t", "t,,1", "t,,99999999999999", "t,\x00,1", "t,\x01,1", "t,+,1", "t,,,1", "t,,,2", "t,,a,1", "t,-,1", "t,a,1", "t,a,2", "t,a,b,1", "t,b,1", "t ,,", "t1,,1", "tt,,1",
	}
	for i, a := range rows[1:] {
		before := rows[i]
		if before == "t,+,1" || before == "t,b,1" && a == "t ,,1" {
			continue
		}
		if bytes.Compare(appendRowKey(nil, MetaSpace, []byte(before)), appendRowKey(nil, MetaSpace, []byte(a))) >= 0 {
			t.Errorf("%q is not before %q", before, a)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(appendCellKey(nil, 2, []byte("row\x00"), []byte("f"), []byte("q"), 5, Put))
	f.Add([]byte{cellPrefix, 0, 0, 0, 2, 0, 1, 'f', 0, 0, 1})
	f.Fuzz(func(t *testing.T, k []byte) {
		p, ok := parse(k)
		if !ok {
			return
		}
		if p.rowEnd < headLen || p.familyEnd <= p.rowEnd || p.columnEnd <= p.familyEnd || p.columnEnd+tailLen != len(k) {
			t.Fatalf("%x: %+v", k, p)
		}
	})
}
