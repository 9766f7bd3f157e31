package embedded

import (
	"bytes"
	"encoding/binary"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// comparator returns the order of its own value against the given one, as HBase's comparators do: negative when its own is
// smaller.
type comparator func(given []byte) int

// newComparator makes the comparator that a message names, or says that it is none of these.
func newComparator(m *hbasepb.Comparator) (comparator, error) {
	value, err := comparable(m)
	if err != nil {
		return nil, err
	}
	switch name, _ := strings.CutPrefix(m.GetName(), filterPackage); name {
	case "BinaryComparator":
		return func(given []byte) int { return bytes.Compare(value, given) }, nil
	case "BinaryPrefixComparator":
		return func(given []byte) int { return bytes.Compare(value, given[:min(len(given), len(value))]) }, nil
	case "LongComparator":
		return longComparator(value)
	case "NullComparator":
		return func(given []byte) int {
			if given == nil {
				return 0
			}
			return 1
		}, nil
	case "SubstringComparator":
		return substringComparator(m)
	}
	return nil, unsupported("the comparator %s", m.GetName())
}

// comparable returns the bytes that most comparators hold in their first field.
func comparable(m *hbasepb.Comparator) ([]byte, error) {
	switch name, _ := strings.CutPrefix(m.GetName(), filterPackage); name {
	case "BinaryComparator", "BinaryPrefixComparator", "LongComparator":
		b := new(hbasepb.BinaryComparator)
		if err := unmarshalFilter(m.GetSerializedComparator(), b); err != nil {
			return nil, err
		}
		return b.GetComparable().GetValue(), nil
	}
	return nil, nil
}

func longComparator(value []byte) (comparator, error) {
	if len(value) != 8 {
		return nil, final(classDoNotRetry, "LongComparator with a value of %d bytes", len(value))
	}
	own := int64(binary.BigEndian.Uint64(value))
	return func(given []byte) int {
		if len(given) != 8 {
			return 1
		}
		switch other := int64(binary.BigEndian.Uint64(given)); {
		case own < other:
			return -1
		case own > other:
			return 1
		}
		return 0
	}, nil
}

func substringComparator(m *hbasepb.Comparator) (comparator, error) {
	s := new(hbasepb.SubstringComparator)
	if err := unmarshalFilter(m.GetSerializedComparator(), s); err != nil {
		return nil, err
	}
	wanted := strings.ToLower(s.GetSubstr())
	return func(given []byte) int {
		if strings.Contains(strings.ToLower(string(given)), wanted) {
			return 0
		}
		return 1
	}, nil
}

// comparison is an operator and what it compares with.
type comparison struct {
	op      hbasepb.CompareType
	compare comparator
}

func newComparison(op hbasepb.CompareType, m *hbasepb.Comparator) (comparison, error) {
	c, err := newComparator(m)
	return comparison{op: op, compare: c}, err
}

func (c comparison) holds(given []byte) bool { return compares(c.op, c.compare(given)) }

// compareFilter builds the filters whose message is one CompareFilter; their four messages have the same fields.
func compareFilter(build func(comparison) store.Filter) filterBuilder {
	return func(raw []byte, _ int) (store.Filter, error) {
		m := new(hbasepb.RowFilter)
		if err := unmarshalFilter(raw, m); err != nil {
			return nil, err
		}
		c, err := newComparison(m.GetCompareFilter().GetCompareOp(), m.GetCompareFilter().GetComparator())
		if err != nil {
			return nil, err
		}
		return build(c), nil
	}
}

// rowCompare takes the rows whose key compares so.
type rowCompare struct {
	store.FilterBase
	c    comparison
	drop bool
}

func (f *rowCompare) Reset()                  { f.drop = false }
func (f *rowCompare) SkipRow(row []byte) bool { f.drop = !f.c.holds(row); return f.drop }
func (f *rowCompare) DropRow() bool           { return f.drop }
func (f *rowCompare) Cell(*store.Cell) store.Verdict {
	if f.drop {
		return store.NextRow
	}
	return store.Include
}

// cellCompare takes the cells of which a part compares so.
type cellCompare struct {
	store.FilterBase
	c    comparison
	part func(*store.Cell) []byte
	miss store.Verdict
}

func familyOfCell(c *store.Cell) []byte    { return c.Family }
func qualifierOfCell(c *store.Cell) []byte { return c.Qualifier }
func valueOfCell(c *store.Cell) []byte     { return notNil(c.Value) }

func (f *cellCompare) Cell(c *store.Cell) store.Verdict {
	if f.c.holds(f.part(c)) {
		return store.Include
	}
	return f.miss
}

// columnValue takes the rows in which a column's value compares so, and leaves that column out if exclude is set.
type columnValue struct {
	store.FilterBase
	m              *hbasepb.SingleColumnValueFilter
	c              comparison
	exclude        bool
	found, matched bool
}

func newColumnValue(m *hbasepb.SingleColumnValueFilter, exclude bool) (store.Filter, error) {
	c, err := newComparison(m.GetCompareOp(), m.GetComparator())
	return &columnValue{m: m, c: c, exclude: exclude}, err
}

func singleColumnValue(raw []byte, _ int) (store.Filter, error) {
	m := new(hbasepb.SingleColumnValueFilter)
	if err := unmarshalFilter(raw, m); err != nil {
		return nil, err
	}
	return newColumnValue(m, false)
}

func singleColumnValueExclude(raw []byte, _ int) (store.Filter, error) {
	m := new(hbasepb.SingleColumnValueExcludeFilter)
	if err := unmarshalFilter(raw, m); err != nil {
		return nil, err
	}
	return newColumnValue(m.GetSingleColumnValueFilter(), true)
}

func (f *columnValue) Reset()         { f.found, f.matched = false, false }
func (f *columnValue) WholeRow() bool { return true }
func (f *columnValue) is(c *store.Cell) bool {
	return bytes.Equal(c.Family, f.m.ColumnFamily) && bytes.Equal(c.Qualifier, f.m.ColumnQualifier)
}

func (f *columnValue) Cell(c *store.Cell) store.Verdict {
	latest := f.m.LatestVersionOnly == nil || f.m.GetLatestVersionOnly()
	switch {
	case f.matched:
		return store.Include
	case latest && f.found:
		return store.NextRow
	case !f.is(c):
		return store.Include
	}
	f.found = true
	if f.c.holds(notNil(c.Value)) {
		f.matched = true
	} else if latest {
		return store.NextRow
	}
	return store.Include
}

func (f *columnValue) DropRow() bool {
	if f.found {
		return !f.matched
	}
	return f.m.GetFilterIfMissing()
}

func (f *columnValue) DropCells(cells []store.Cell) []store.Cell {
	if !f.exclude {
		return cells
	}
	kept := cells[:0]
	for i := range cells {
		if !f.is(&cells[i]) {
			kept = append(kept, cells[i])
		}
	}
	return kept
}
