package hbase

import (
	"errors"
	"fmt"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"

	"google.golang.org/protobuf/proto"
)

// Filter lets the region server leave out rows and cells of a Get or Scan. The types have the names and meanings of HBase's
// own; only those of this package are filters. What a filter leaves out was read nonetheless: Start and Stop of a Scan, and
// Columns, come before any filter; ScanMetrics counts rows read and rows returned apart.
//
// A filter starts over on every region, and when a scanner is opened again: a PageFilter gives up to Rows rows of each
// region, where Scan.Limit is exact.
type Filter interface {
	message() (*hbasepb.Filter, error)
}

// The filters of whole rows.
type (
	// PrefixFilter takes rows with a prefix. Scan.Start at the prefix saves reading those before it.
	PrefixFilter struct{ Prefix []byte }
	// PageFilter takes that many rows of each region.
	PageFilter struct{ Rows int }
	// InclusiveStopFilter ends the scan behind a row.
	InclusiveStopFilter struct{ Stop []byte }
	// RowFilter takes the rows whose key compares so.
	RowFilter struct {
		Op   CompareOp
		With Comparator
	}
	// FuzzyRowFilter takes rows that equal one of the patterns, and jumps from one to the next.
	FuzzyRowFilter struct{ Patterns []FuzzyPattern }
	// MultiRowRangeFilter takes rows in one of the ranges, and jumps from one to the next.
	MultiRowRangeFilter struct{ Ranges []RowRange }
	// SingleColumnValueFilter takes rows whose column's value compares so. The column must be among those read.
	SingleColumnValueFilter struct {
		Family, Qualifier []byte
		Op                CompareOp
		With              Comparator
		KeepIfMissing     bool // also rows without the column
		AnyVersion        bool // not only the newest value counts
	}
	// SkipFilter leaves out the whole row when its filter leaves out one cell.
	SkipFilter struct{ Filter Filter }
	// WhileMatchFilter ends the scan when its filter leaves out something.
	WhileMatchFilter struct{ Filter Filter }
)

// The filters of cells.
type (
	// FamilyFilter takes the cells of families that compare so.
	FamilyFilter struct {
		Op   CompareOp
		With Comparator
	}
	// QualifierFilter takes the cells whose qualifier compares so.
	QualifierFilter struct {
		Op   CompareOp
		With Comparator
	}
	// ValueFilter takes the cells whose value compares so.
	ValueFilter struct {
		Op   CompareOp
		With Comparator
	}
	// ColumnPrefixFilter takes the cells whose qualifier has a prefix.
	ColumnPrefixFilter struct{ Prefix []byte }
	// MultipleColumnPrefixFilter takes the cells whose qualifier has one of the prefixes.
	MultipleColumnPrefixFilter struct{ Prefixes [][]byte }
	// ColumnRangeFilter takes the cells whose qualifier lies in a range; nil is no bound.
	ColumnRangeFilter struct {
		Min, Max                   []byte
		MinExclusive, MaxInclusive bool
	}
	// ColumnPaginationFilter takes that many columns of each row, behind the first Offset ones.
	ColumnPaginationFilter struct{ Limit, Offset int }
	// TimestampsFilter takes the cells of exactly these timestamps.
	TimestampsFilter struct{ Timestamps []int64 }
	// KeyOnlyFilter takes all cells without their values, or with the values' lengths, in 4 bytes, as values.
	KeyOnlyFilter struct{ Lengths bool }
	// FirstKeyOnlyFilter takes the first cell of each row: for counting rows.
	FirstKeyOnlyFilter struct{}
)

// FilterList takes what all its filters take, or with Any what one of them takes.
type FilterList struct {
	Any     bool
	Filters []Filter
}

// FuzzyPattern is a row with wildcards: Any has a true for every byte of Row that may be any byte. The row may be longer.
type FuzzyPattern struct {
	Row []byte
	Any []bool
}

// RowRange is the rows from Start to Stop; nil is no bound.
type RowRange struct {
	Start, Stop                   []byte
	StartExclusive, StopInclusive bool
}

const filterPackage = remote.Package + "filter."

// pack makes a filter's message of its class and that class's own message. None has a required field left out.
func pack(class string, m proto.Message) (*hbasepb.Filter, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", class, err)
	}
	name := filterPackage + class
	return &hbasepb.Filter{Name: &name, SerializedFilter: b}, nil
}

// filterMessage is the message of a filter that may be absent.
func filterMessage(f Filter) (*hbasepb.Filter, error) {
	if f == nil {
		return nil, nil
	}
	return f.message()
}

func innerMessage(f Filter) (*hbasepb.Filter, error) {
	if f == nil {
		return nil, errors.New("a filter in a filter is nil")
	}
	return f.message()
}

func (f PrefixFilter) message() (*hbasepb.Filter, error) {
	return pack("PrefixFilter", &hbasepb.PrefixFilter{Prefix: f.Prefix})
}

func (f PageFilter) message() (*hbasepb.Filter, error) {
	return pack("PageFilter", &hbasepb.PageFilter{PageSize: proto.Int64(int64(f.Rows))})
}

func (f InclusiveStopFilter) message() (*hbasepb.Filter, error) {
	return pack("InclusiveStopFilter", &hbasepb.InclusiveStopFilter{StopRowKey: f.Stop})
}

func (f FuzzyRowFilter) message() (*hbasepb.Filter, error) {
	m := &hbasepb.FuzzyRowFilter{IsMaskV2: proto.Bool(true)}
	for _, p := range f.Patterns {
		if len(p.Any) != len(p.Row) {
			return nil, fmt.Errorf("FuzzyRowFilter: row %q has %d bytes, its mask %d", p.Row, len(p.Row), len(p.Any))
		}
		mask := make([]byte, len(p.Any))
		for i, wild := range p.Any {
			if wild {
				mask[i] = 1
			}
		}
		m.FuzzyKeysData = append(m.FuzzyKeysData, &hbasepb.BytesBytesPair{First: p.Row, Second: mask})
	}
	return pack("FuzzyRowFilter", m)
}

func (f MultiRowRangeFilter) message() (*hbasepb.Filter, error) {
	m := new(hbasepb.MultiRowRangeFilter)
	for _, r := range f.Ranges {
		m.RowRangeList = append(m.RowRangeList, &hbasepb.RowRange{
			StartRow: r.Start, StartRowInclusive: proto.Bool(!r.StartExclusive), StopRow: r.Stop, StopRowInclusive: &r.StopInclusive,
		})
	}
	return pack("MultiRowRangeFilter", m)
}

func (f SingleColumnValueFilter) message() (*hbasepb.Filter, error) {
	with, err := comparatorMessage(f.With)
	if err != nil {
		return nil, err
	}
	return pack("SingleColumnValueFilter", &hbasepb.SingleColumnValueFilter{
		ColumnFamily: f.Family, ColumnQualifier: f.Qualifier, CompareOp: f.Op.message(), Comparator: with,
		FilterIfMissing: proto.Bool(!f.KeepIfMissing), LatestVersionOnly: proto.Bool(!f.AnyVersion),
	})
}

func (f SkipFilter) message() (*hbasepb.Filter, error) {
	inner, err := innerMessage(f.Filter)
	if err != nil {
		return nil, err
	}
	return pack("SkipFilter", &hbasepb.SkipFilter{Filter: inner})
}

func (f WhileMatchFilter) message() (*hbasepb.Filter, error) {
	inner, err := innerMessage(f.Filter)
	if err != nil {
		return nil, err
	}
	return pack("WhileMatchFilter", &hbasepb.WhileMatchFilter{Filter: inner})
}

func (f FilterList) message() (*hbasepb.Filter, error) {
	m := &hbasepb.FilterList{Operator: hbasepb.FilterList_MUST_PASS_ALL.Enum()}
	if f.Any {
		m.Operator = hbasepb.FilterList_MUST_PASS_ONE.Enum()
	}
	for _, one := range f.Filters {
		inner, err := innerMessage(one)
		if err != nil {
			return nil, err
		}
		m.Filters = append(m.Filters, inner)
	}
	return pack("FilterList", m)
}

func (f ColumnPrefixFilter) message() (*hbasepb.Filter, error) {
	return pack("ColumnPrefixFilter", &hbasepb.ColumnPrefixFilter{Prefix: f.Prefix})
}

func (f MultipleColumnPrefixFilter) message() (*hbasepb.Filter, error) {
	return pack("MultipleColumnPrefixFilter", &hbasepb.MultipleColumnPrefixFilter{SortedPrefixes: f.Prefixes})
}

func (f ColumnRangeFilter) message() (*hbasepb.Filter, error) {
	return pack("ColumnRangeFilter", &hbasepb.ColumnRangeFilter{
		MinColumn: f.Min, MinColumnInclusive: proto.Bool(!f.MinExclusive), MaxColumn: f.Max, MaxColumnInclusive: &f.MaxInclusive,
	})
}

func (f ColumnPaginationFilter) message() (*hbasepb.Filter, error) {
	m := &hbasepb.ColumnPaginationFilter{Limit: proto.Int32(int32(f.Limit)), Offset: proto.Int32(int32(f.Offset))}
	return pack("ColumnPaginationFilter", m)
}

func (f TimestampsFilter) message() (*hbasepb.Filter, error) {
	return pack("TimestampsFilter", &hbasepb.TimestampsFilter{Timestamps: f.Timestamps})
}

func (f KeyOnlyFilter) message() (*hbasepb.Filter, error) {
	return pack("KeyOnlyFilter", &hbasepb.KeyOnlyFilter{LenAsVal: &f.Lengths})
}

func (FirstKeyOnlyFilter) message() (*hbasepb.Filter, error) {
	return &hbasepb.Filter{Name: proto.String(filterPackage + "FirstKeyOnlyFilter")}, nil
}

func (f RowFilter) message() (*hbasepb.Filter, error) {
	m, err := compareMessage(f.Op, f.With)
	if err != nil {
		return nil, err
	}
	return pack("RowFilter", &hbasepb.RowFilter{CompareFilter: m})
}

func (f FamilyFilter) message() (*hbasepb.Filter, error) {
	m, err := compareMessage(f.Op, f.With)
	if err != nil {
		return nil, err
	}
	return pack("FamilyFilter", &hbasepb.FamilyFilter{CompareFilter: m})
}

func (f QualifierFilter) message() (*hbasepb.Filter, error) {
	m, err := compareMessage(f.Op, f.With)
	if err != nil {
		return nil, err
	}
	return pack("QualifierFilter", &hbasepb.QualifierFilter{CompareFilter: m})
}

func (f ValueFilter) message() (*hbasepb.Filter, error) {
	m, err := compareMessage(f.Op, f.With)
	if err != nil {
		return nil, err
	}
	return pack("ValueFilter", &hbasepb.ValueFilter{CompareFilter: m})
}
