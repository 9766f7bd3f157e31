package hbase

import (
	"errors"
	"fmt"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"

	"google.golang.org/protobuf/proto"
)

// Filter makes the region server leave out rows and cells of a Get or Scan. The types have the names and meanings of HBase's own filters;
// only the types of this package are filters. The server still reads what a filter leaves out, unlike what Start, Stop and Columns of a
// Scan exclude. ScanMetrics counts rows read and rows returned separately.
//
// A filter starts over on every region and whenever a scanner is reopened. So a PageFilter returns up to Rows rows per region, whereas
// Scan.Limit is exact.
type Filter interface {
	message() (*hbasepb.Filter, error)
}

// Filters of whole rows.
type (
	// PrefixFilter accepts rows with a prefix. Set Scan.Start to the prefix to avoid reading the rows before it.
	PrefixFilter struct{ Prefix []byte }
	// PageFilter accepts that many rows per region.
	PageFilter struct{ Rows int }
	// InclusiveStopFilter ends the scan after a row.
	InclusiveStopFilter struct{ Stop []byte }
	// RowFilter accepts rows whose key compares as given.
	RowFilter struct {
		Op   CompareOp
		With Comparator
	}
	// FuzzyRowFilter accepts rows that match one of the patterns and skips from one to the next.
	FuzzyRowFilter struct{ Patterns []FuzzyPattern }
	// MultiRowRangeFilter accepts rows in one of the ranges and skips from one to the next.
	MultiRowRangeFilter struct{ Ranges []RowRange }
	// SingleColumnValueFilter accepts rows in which the value of the column compares as given. The scan must read the column.
	SingleColumnValueFilter struct {
		Family, Qualifier []byte
		Op                CompareOp
		With              Comparator
		KeepIfMissing     bool // also accept rows without the column
		AnyVersion        bool // test all versions instead of the newest one
	}
	// SkipFilter leaves out the whole row if its filter leaves out a cell.
	SkipFilter struct{ Filter Filter }
	// WhileMatchFilter ends the scan when its filter leaves something out.
	WhileMatchFilter struct{ Filter Filter }
)

// Filters of cells.
type (
	// FamilyFilter accepts cells whose family compares as given.
	FamilyFilter struct {
		Op   CompareOp
		With Comparator
	}
	// QualifierFilter accepts cells whose qualifier compares as given.
	QualifierFilter struct {
		Op   CompareOp
		With Comparator
	}
	// ValueFilter accepts cells whose value compares as given.
	ValueFilter struct {
		Op   CompareOp
		With Comparator
	}
	// ColumnPrefixFilter accepts cells whose qualifier has a prefix.
	ColumnPrefixFilter struct{ Prefix []byte }
	// MultipleColumnPrefixFilter accepts cells whose qualifier has one of the prefixes.
	MultipleColumnPrefixFilter struct{ Prefixes [][]byte }
	// ColumnRangeFilter accepts cells whose qualifier is in a range; nil means no bound.
	ColumnRangeFilter struct {
		Min, Max                   []byte
		MinExclusive, MaxInclusive bool
	}
	// ColumnPaginationFilter accepts at most Limit columns per row, after skipping the first Offset.
	ColumnPaginationFilter struct{ Limit, Offset int }
	// TimestampsFilter accepts cells with exactly these timestamps.
	TimestampsFilter struct{ Timestamps []int64 }
	// KeyOnlyFilter accepts all cells but drops their values, or replaces each value by its length in 4 bytes.
	KeyOnlyFilter struct{ Lengths bool }
	// FirstKeyOnlyFilter accepts the first cell of each row, which is enough to count rows.
	FirstKeyOnlyFilter struct{}
)

// FilterList accepts what all its filters accept, or with Any, what at least one accepts.
type FilterList struct {
	Any     bool
	Filters []Filter
}

// FuzzyPattern is a row with wildcards: Any is true for every byte of Row that may have any value. The matched row may be longer.
type FuzzyPattern struct {
	Row []byte
	Any []bool
}

// RowRange is the rows from Start to Stop; nil means no bound.
type RowRange struct {
	Start, Stop                   []byte
	StartExclusive, StopInclusive bool
}

const filterPackage = remote.Package + "filter."

// pack encodes a filter as its class name and the class's own message. No message lacks a required field.
func pack(class string, m proto.Message) (*hbasepb.Filter, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", class, err)
	}
	name := filterPackage + class
	return &hbasepb.Filter{Name: &name, SerializedFilter: b}, nil
}

// filterMessage encodes a filter that may be nil.
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
			return nil, fmt.Errorf("FuzzyRowFilter: row %q has %d bytes, but its mask has %d", p.Row, len(p.Row), len(p.Any))
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
