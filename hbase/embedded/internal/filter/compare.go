package filter

import (
	"bytes"
	"encoding/binary"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// Comparator compares its own value to the given one, as HBase's comparators do: the result is negative if its own is smaller.
type Comparator func(given []byte) int

// NewComparator returns the comparator that a message describes. The error is an *UnsupportedError or an *InvalidError.
func NewComparator(m *hbasepb.Comparator) (Comparator, error) {
	value, err := Operand(m)
	if err != nil {
		return nil, err
	}
	switch name, _ := strings.CutPrefix(m.GetName(), javaPackage); name {
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
	return nil, &UnsupportedError{"the comparator " + m.GetName()}
}

// Operand returns the operand that most comparators have in their first field.
func Operand(m *hbasepb.Comparator) ([]byte, error) {
	switch name, _ := strings.CutPrefix(m.GetName(), javaPackage); name {
	case "BinaryComparator", "BinaryPrefixComparator", "LongComparator":
		b := new(hbasepb.BinaryComparator)
		if err := unmarshal(m.GetSerializedComparator(), b); err != nil {
			return nil, err
		}
		return b.GetComparable().GetValue(), nil
	}
	return nil, nil
}

func longComparator(value []byte) (Comparator, error) {
	if len(value) != 8 {
		return nil, invalid("LongComparator with a value of %d bytes", len(value))
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

func substringComparator(m *hbasepb.Comparator) (Comparator, error) {
	s := new(hbasepb.SubstringComparator)
	if err := unmarshal(m.GetSerializedComparator(), s); err != nil {
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

// Holds reports whether "cell op value" is true if value.compareTo(cell) returned order, which is HBase's way round.
func Holds(op hbasepb.CompareType, order int) bool {
	switch op {
	case hbasepb.CompareType_LESS:
		return order > 0
	case hbasepb.CompareType_LESS_OR_EQUAL:
		return order >= 0
	case hbasepb.CompareType_EQUAL:
		return order == 0
	case hbasepb.CompareType_NOT_EQUAL:
		return order != 0
	case hbasepb.CompareType_GREATER_OR_EQUAL:
		return order <= 0
	case hbasepb.CompareType_GREATER:
		return order < 0
	}
	return false
}

// comparison is an operator with its operand.
type comparison struct {
	op      hbasepb.CompareType
	compare Comparator
}

func newComparison(op hbasepb.CompareType, m *hbasepb.Comparator) (comparison, error) {
	c, err := NewComparator(m)
	return comparison{op: op, compare: c}, err
}

func (c comparison) holds(given []byte) bool { return Holds(c.op, c.compare(given)) }

// comparing returns a builder of filters whose message is one CompareFilter; their four messages have the same fields.
func comparing(build func(comparison) store.Filter) builder {
	return func(raw []byte, _ int) (store.Filter, error) {
		m := new(hbasepb.RowFilter)
		if err := unmarshal(raw, m); err != nil {
			return nil, err
		}
		c, err := newComparison(m.GetCompareFilter().GetCompareOp(), m.GetCompareFilter().GetComparator())
		if err != nil {
			return nil, err
		}
		return build(c), nil
	}
}

// comparingPart returns a builder of a filter that compares a part of each cell; miss is its verdict if the comparison is false.
func comparingPart(part func(*store.Cell) []byte, miss store.Verdict) builder {
	return comparing(func(c comparison) store.Filter { return &cellCompare{c: c, part: part, miss: miss} })
}

// rowCompare includes rows whose key satisfies the comparison.
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

// cellCompare includes cells of which a part satisfies the comparison.
type cellCompare struct {
	store.FilterBase
	c    comparison
	part func(*store.Cell) []byte
	miss store.Verdict
}

func familyOfCell(c *store.Cell) []byte    { return c.Family }
func qualifierOfCell(c *store.Cell) []byte { return c.Qualifier }

// valueOfCell returns the cell's value, which is never nil, because to a NullComparator an empty value is not null.
func valueOfCell(c *store.Cell) []byte {
	if c.Value == nil {
		return []byte{}
	}
	return c.Value
}

func (f *cellCompare) Cell(c *store.Cell) store.Verdict {
	if f.c.holds(f.part(c)) {
		return store.Include
	}
	return f.miss
}

// columnValue includes rows in which a column's value satisfies the comparison. If exclude is set it drops that column.
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
	if err := unmarshal(raw, m); err != nil {
		return nil, err
	}
	return newColumnValue(m, false)
}

func singleColumnValueExclude(raw []byte, _ int) (store.Filter, error) {
	m := new(hbasepb.SingleColumnValueExcludeFilter)
	if err := unmarshal(raw, m); err != nil {
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
	if f.c.holds(valueOfCell(c)) {
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
