package store

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const space = MetaSpace + 1

func open(t interface{ Fatal(...any) }) *Store {
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// modelCell is a cell as applied. The model keeps all cells and decides by definitions, without an order or a cursor.
type modelCell struct {
	row, family, qualifier string
	ts                     int64
	typ                    Type
	value                  string
	ttl                    int64
}

func (c modelCell) String() string {
	if c.typ == Put {
		return fmt.Sprintf("%s/%s:%s@%d=%s", c.row, c.family, c.qualifier, c.ts, c.value)
	}
	return fmt.Sprintf("%s/%s:%s@%d/%d", c.row, c.family, c.qualifier, c.ts, c.typ)
}

func (c modelCell) same(d modelCell) bool {
	return c.row == d.row && c.family == d.family && c.qualifier == d.qualifier && c.ts == d.ts && c.typ == d.typ
}

type model []modelCell

// apply adds a cell, or replaces one with the same coordinates.
func (m *model) apply(c modelCell) {
	*m = append(slices.DeleteFunc(*m, c.same), c)
}

// hides reports whether the marker d hides the put c.
func (d modelCell) hides(c modelCell) bool {
	if d.row != c.row || d.family != c.family {
		return false
	}
	switch d.typ {
	case DeleteFamily:
		return c.ts <= d.ts
	case DeleteFamilyVersion:
		return c.ts == d.ts
	case DeleteColumn:
		return c.qualifier == d.qualifier && c.ts <= d.ts
	case Delete:
		return c.qualifier == d.qualifier && c.ts == d.ts
	}
	return false
}

func expired(f *Family, c modelCell, now int64) bool { return f.TTL > 0 && c.ts < now-f.TTL }

// visible returns the puts of one family's column that a read sees, newest first.
func (m model) visible(f *Family, row, qualifier string, q *Query) (seen []modelCell) {
	var versions []modelCell
	for _, c := range m {
		if c.row != row || c.family != string(f.Name) || c.qualifier != qualifier || c.typ != Put || !q.Times.holds(c.ts) || f.MinVersions == 0 && expired(f, c, q.Now) {
			continue
		}
		hidden := slices.ContainsFunc(m, func(d modelCell) bool {
			counts := !f.KeepDeleted || q.Times.holds(d.ts)
			return d.hides(c) && counts && (f.MinVersions > 0 || !expired(f, d, q.Now))
		})
		if !hidden {
			versions = append(versions, c)
		}
	}
	slices.SortFunc(versions, func(a, b modelCell) int { return cmp.Compare(b.ts, a.ts) })
	named := namesColumns(q, f)
	for i, c := range versions {
		n := i + 1
		if n > min(q.MaxVersions, f.MaxVersions) || !named && n > f.MinVersions && expired(f, c, q.Now) {
			break
		}
		seen = append(seen, c)
		if named && n >= f.MinVersions && expired(f, c, q.Now) {
			break // HBase returns one more expired version if columns are named
		}
	}
	return seen
}

func namesColumns(q *Query, f *Family) bool {
	for _, c := range q.Columns {
		if bytes.Equal(c.Family, f.Name) {
			return len(c.Qualifiers) > 0
		}
	}
	return false
}

func wants(q *Query, f *Family, qualifier string) bool {
	if q.Columns == nil {
		return true
	}
	for _, c := range q.Columns {
		if bytes.Equal(c.Family, f.Name) {
			return len(c.Qualifiers) == 0 || slices.ContainsFunc(c.Qualifiers, func(b []byte) bool { return string(b) == qualifier })
		}
	}
	return false
}

// read returns the result of a query, one line per row.
func (m model) read(schema Schema, q *Query) (rows []string) {
	m = slices.DeleteFunc(slices.Clone(m), func(c modelCell) bool { return c.ttl != NoTTL && c.ts+c.ttl < q.Now })
	for _, row := range m.distinct(func(c modelCell) string { return c.row }) {
		if !inRange(q.Rows, row) {
			continue
		}
		var cells []string
		for _, f := range schema {
			for _, qualifier := range m.distinct(func(c modelCell) string { return c.qualifier }) {
				if wants(q, f, qualifier) {
					for _, c := range m.visible(f, row, qualifier, q) {
						cells = append(cells, c.String())
					}
				}
			}
		}
		if len(cells) > 0 {
			rows = append(rows, strings.Join(cells, " "))
		}
	}
	if q.Reverse {
		slices.Reverse(rows)
	}
	return rows
}

func (m model) distinct(key func(modelCell) string) (keys []string) {
	for _, c := range m {
		keys = append(keys, key(c))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func inRange(r Range, row string) bool {
	start, stop := cmp.Compare(row, string(r.Start)), cmp.Compare(row, string(r.Stop))
	return (len(r.Start) == 0 || start > 0 || start == 0 && !r.StartExclusive) && (len(r.Stop) == 0 || stop < 0 || stop == 0 && r.StopInclusive)
}

// readStore returns the store's result of the query in the model's notation.
func readStore(t *rapid.T, s *Store, schema Schema, q *Query) (rows []string) {
	r, err := s.NewReader(space, schema, q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var row Row
	for {
		ok, err := r.Next(t.Context(), &row)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return rows
		}
		var cells []string
		for _, c := range row.Cells {
			cells = append(cells, modelCell{string(c.Row), string(c.Family), string(c.Qualifier), c.Timestamp, c.Type, string(c.Value), NoTTL}.String())
		}
		rows = append(rows, strings.Join(cells, " "))
	}
}

func drawFamily(t *rapid.T, name string) *Family {
	f := &Family{Name: []byte(name), MaxVersions: rapid.IntRange(1, 3).Draw(t, "max versions"), TTL: rapid.SampledFrom([]int64{0, 4}).Draw(t, "ttl"), KeepDeleted: rapid.Bool().Draw(t, "keep deleted")}
	f.MinVersions = rapid.IntRange(0, f.MaxVersions).Draw(t, "min versions")
	return f
}

func drawCell(t *rapid.T, n int) modelCell {
	c := modelCell{
		row: string(few("row", 1).Draw(t, "row")), family: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "family"), qualifier: rapid.SampledFrom([]string{"", "\x00", "p", "q"}).Draw(t, "qualifier"),
		ts:  rapid.Int64Range(0, 9).Draw(t, "ts"),
		typ: rapid.SampledFrom([]Type{Put, Put, Put, Delete, DeleteFamilyVersion, DeleteColumn, DeleteFamily}).Draw(t, "type"),
		ttl: rapid.SampledFrom([]int64{NoTTL, NoTTL, 0, 3, 100}).Draw(t, "cell ttl"),
	}
	if c.typ == Put {
		c.value = fmt.Sprint(n)
	}
	if c.typ == DeleteFamily || c.typ == DeleteFamilyVersion {
		c.qualifier = ""
	}
	return c
}

func drawQuery(t *rapid.T) *Query {
	q := &Query{MaxVersions: rapid.IntRange(1, 4).Draw(t, "versions"), Times: AllTime, StoreLimit: -1, Now: 10, Reverse: rapid.Bool().Draw(t, "reverse")}
	if rapid.Bool().Draw(t, "timed") {
		q.Times.From = rapid.Int64Range(0, 9).Draw(t, "from")
		q.Times.To = rapid.Int64Range(q.Times.From, 10).Draw(t, "to")
	}
	q.Rows = Range{StartExclusive: rapid.Bool().Draw(t, "start exclusive"), StopInclusive: rapid.Bool().Draw(t, "stop inclusive")}
	q.Rows.Start, q.Rows.Stop = few("start", 1).Draw(t, "start"), few("stop", 1).Draw(t, "stop")
	if bytes.Compare(q.Rows.Start, q.Rows.Stop) > 0 {
		q.Rows.Start, q.Rows.Stop = q.Rows.Stop, q.Rows.Start
	}
	if rapid.Bool().Draw(t, "all rows") {
		q.Rows = Range{}
	}
	for _, f := range []string{"b", "a"} {
		switch rapid.IntRange(0, 2).Draw(t, "columns of "+f) {
		case 1:
			q.Columns = append(q.Columns, FamilyColumns{Family: []byte(f)})
		case 2:
			q.Columns = append(q.Columns, FamilyColumns{Family: []byte(f), Qualifiers: [][]byte{[]byte("q"), []byte(rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "qualifier"))}})
		}
	}
	return q
}

// Whatever was put and deleted, reads return what the definitions of HBase's semantics demand, before and after a major compaction, and a
// compaction leaves nothing that it should drop by definition.
func TestReadsAreAsDefined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open(t)
		defer s.Close()
		schema := Schema{drawFamily(t, "a"), drawFamily(t, "b")}
		var m model
		for n := range rapid.IntRange(0, 40).Draw(t, "cells") {
			c := drawCell(t, n)
			m.apply(c)
			b := s.NewBatch()
			if err := b.AddTTL(space, []byte(c.row), []byte(c.family), []byte(c.qualifier), c.ts, c.typ, []byte(c.value), c.ttl); err != nil {
				t.Fatal(err)
			}
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		q := drawQuery(t)
		want := m.read(schema, q)
		if got := readStore(t, s, schema, q); !slices.Equal(got, want) {
			t.Fatalf("%v\nquery %+v\ngot  %q\nwant %q", m, q, got, want)
		}
		if next, err := s.CompactStep(t.Context(), space, schema, Range{}, q.Now, nil); err != nil || next != nil {
			t.Fatal(next, err)
		}
		checkCompacted(t, s, schema, m, q)
	})
}

// checkCompacted reads everything after a compaction: exactly what was visible before, even in a raw scan. It skips families that keep
// deleted cells: a compaction counts those as versions, and may drop an older visible one.
func checkCompacted(t *rapid.T, s *Store, schema Schema, m model, q *Query) {
	for _, f := range schema {
		if f.KeepDeleted {
			continue
		}
		all := &Query{MaxVersions: math.MaxInt32, Times: AllTime, StoreLimit: -1, Now: q.Now, Columns: []FamilyColumns{{Family: f.Name}}}
		want := m.read(schema, all)
		for _, raw := range []bool{false, true} {
			all.Raw = raw
			if got := readStore(t, s, schema, all); !slices.Equal(got, want) {
				t.Fatalf("%v\nfamily %s, after a compaction, raw %v\ngot  %q\nwant %q", m, f.Name, raw, got, want)
			}
		}
	}
}
