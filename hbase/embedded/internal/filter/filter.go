// Package filter has the HBase filters and comparators that the embedded server supports, built from the messages in which clients send
// them. internal/store applies a filter to rows and cells. LIMITS.md lists what is missing.
package filter

import (
	"bytes"
	"fmt"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

const (
	javaPackage     = "org.apache.hadoop.hbase.filter."
	maxDepth        = 32 // of nested lists
	keyOnlyLenBytes = 4
)

// UnsupportedError is returned for a filter or comparator that is not supported.
type UnsupportedError struct{ Name string } // "the filter org.apache.hadoop.hbase.filter.FuzzyRowFilter"

func (e *UnsupportedError) Error() string { return e.Name + " is not supported" }

// InvalidError is returned for a message that does not describe a filter.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

func invalid(format string, args ...any) error { return &InvalidError{fmt.Sprintf(format, args...)} }

// New returns the filter that a message describes. The error is an *UnsupportedError or an *InvalidError.
func New(f *hbasepb.Filter) (store.Filter, error) { return decode(f, 0) }

// decode is New inside depth other filters.
func decode(f *hbasepb.Filter, depth int) (store.Filter, error) {
	if depth > maxDepth {
		return nil, invalid("filters nested more than %d deep", maxDepth)
	}
	name, ok := strings.CutPrefix(f.GetName(), javaPackage)
	build := kinds[name]
	if !ok || build == nil {
		return nil, &UnsupportedError{"the filter " + f.GetName()}
	}
	return build(f.GetSerializedFilter(), depth)
}

type builder func(raw []byte, depth int) (store.Filter, error)

// kinds are the filters by class name. init fills it, because New and the builders of nested filters refer to each other.
var kinds map[string]builder

func init() {
	kinds = map[string]builder{
		"FirstKeyOnlyFilter":  func([]byte, int) (store.Filter, error) { return &firstKeyOnly{}, nil },
		"FilterAllFilter":     func([]byte, int) (store.Filter, error) { return &all{}, nil },
		"KeyOnlyFilter":       from(func(m *hbasepb.KeyOnlyFilter) store.Filter { return &keyOnly{length: m.GetLenAsVal()} }),
		"PageFilter":          from(func(m *hbasepb.PageFilter) store.Filter { return &page{size: m.GetPageSize()} }),
		"PrefixFilter":        from(func(m *hbasepb.PrefixFilter) store.Filter { return &prefix{prefix: m.GetPrefix()} }),
		"InclusiveStopFilter": from(func(m *hbasepb.InclusiveStopFilter) store.Filter { return &inclusiveStop{stop: m.GetStopRowKey()} }),
		"ColumnPrefixFilter": from(func(m *hbasepb.ColumnPrefixFilter) store.Filter {
			return &columnPrefixes{prefixes: [][]byte{m.GetPrefix()}}
		}),
		"MultipleColumnPrefixFilter": from(func(m *hbasepb.MultipleColumnPrefixFilter) store.Filter {
			return &columnPrefixes{prefixes: m.SortedPrefixes}
		}),
		"ColumnRangeFilter": from(func(m *hbasepb.ColumnRangeFilter) store.Filter { return &columnRange{m: m} }),
		"ColumnCountGetFilter": from(func(m *hbasepb.ColumnCountGetFilter) store.Filter {
			return &columnCount{limit: int(m.GetLimit())}
		}),
		"ColumnPaginationFilter":         newPagination,
		"TimestampsFilter":               from(func(m *hbasepb.TimestampsFilter) store.Filter { return newTimestamps(m.Timestamps) }),
		"RowFilter":                      comparing(func(c comparison) store.Filter { return &rowCompare{c: c} }),
		"FamilyFilter":                   comparingPart(familyOfCell, store.NextRow),
		"QualifierFilter":                comparingPart(qualifierOfCell, store.Skip),
		"ValueFilter":                    comparingPart(valueOfCell, store.Skip),
		"SingleColumnValueFilter":        singleColumnValue,
		"SingleColumnValueExcludeFilter": singleColumnValueExclude,
		"FilterList":                     newList,
		"FilterWrapper": nested(func() nester { return new(hbasepb.FilterWrapper) },
			func(f store.Filter) store.Filter { return f }),
		"SkipFilter": nested(func() nester { return new(hbasepb.SkipFilter) },
			func(f store.Filter) store.Filter { return &skipRow{Filter: f} }),
		"WhileMatchFilter": nested(func() nester { return new(hbasepb.WhileMatchFilter) },
			func(f store.Filter) store.Filter { return &whileMatch{Filter: f} }),
	}
}

func unmarshal(raw []byte, m proto.Message) error {
	if err := proto.Unmarshal(raw, m); err != nil {
		return invalid("%s: %v", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

func from[P any, M interface {
	*P
	proto.Message
}](build func(M) store.Filter) builder {
	return func(raw []byte, _ int) (store.Filter, error) {
		m := M(new(P))
		if err := unmarshal(raw, m); err != nil {
			return nil, err
		}
		return build(m), nil
	}
}

type nester interface {
	proto.Message
	GetFilter() *hbasepb.Filter
}

func nested(message func() nester, build func(store.Filter) store.Filter) builder {
	return func(raw []byte, depth int) (store.Filter, error) {
		m := message()
		if err := unmarshal(raw, m); err != nil {
			return nil, err
		}
		inner, err := decode(m.GetFilter(), depth+1)
		if err != nil {
			return nil, err
		}
		return build(inner), nil
	}
}

// all includes nothing.
type all struct{ store.FilterBase }

func (*all) Done() bool          { return true }
func (*all) SkipRow([]byte) bool { return true }

// firstKeyOnly includes the first cell of each row.
type firstKeyOnly struct {
	store.FilterBase
	found bool
}

func (f *firstKeyOnly) Reset() { f.found = false }
func (f *firstKeyOnly) Cell(*store.Cell) store.Verdict {
	if f.found {
		return store.NextRow
	}
	f.found = true
	return store.Include
}

// keyOnly empties values or replaces them with their length.
type keyOnly struct {
	store.FilterBase
	length bool
}

func (f *keyOnly) Transform(c *store.Cell) {
	if n := len(c.Value); f.length {
		c.Value = []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}[:keyOnlyLenBytes]
		return
	}
	c.Value = nil
}

// page ends the scan of a region after size rows.
type page struct {
	store.FilterBase
	size, rows int64
}

func (f *page) Done() bool     { return f.rows >= f.size }
func (f *page) DropRow() bool  { f.rows++; return f.rows > f.size }
func (f *page) WholeRow() bool { return true }

// prefix includes rows with a prefix and ends the scan after them.
type prefix struct {
	store.FilterBase
	prefix []byte
	passed bool
}

func (f *prefix) Done() bool { return f.passed }
func (f *prefix) SkipRow(row []byte) bool {
	n := min(len(row), len(f.prefix))
	if bytes.Compare(row[:n], f.prefix[:n]) > 0 {
		f.passed = true
	}
	return !bytes.HasPrefix(row, f.prefix)
}

// inclusiveStop ends the scan after a row.
type inclusiveStop struct {
	store.FilterBase
	stop []byte
	done bool
}

func (f *inclusiveStop) Done() bool { return f.done }
func (f *inclusiveStop) SkipRow(row []byte) bool {
	f.done = f.done || bytes.Compare(row, f.stop) > 0
	return f.done
}

// skipRow drops a row if the inner filter drops one of its cells.
type skipRow struct {
	store.Filter
	drop bool
}

func (f *skipRow) Reset() { f.Filter.Reset(); f.drop = false }
func (f *skipRow) Cell(c *store.Cell) store.Verdict {
	v := f.Filter.Cell(c)
	f.drop = f.drop || v != store.Include
	return v
}
func (f *skipRow) DropRow() bool  { return f.drop }
func (f *skipRow) WholeRow() bool { return true }

// whileMatch ends the scan at the first row or cell that the inner filter drops.
type whileMatch struct {
	store.Filter
	done bool
}

func (f *whileMatch) Done() bool { return f.done || f.Filter.Done() }
func (f *whileMatch) SkipRow(row []byte) bool {
	skip := f.Filter.SkipRow(row)
	f.done = f.done || skip
	return skip
}
func (f *whileMatch) Cell(c *store.Cell) store.Verdict {
	v := f.Filter.Cell(c)
	f.done = f.done || v != store.Include
	return v
}
func (f *whileMatch) DropRow() bool {
	drop := f.Filter.DropRow()
	f.done = f.done || drop
	return drop
}
func (f *whileMatch) WholeRow() bool { return true }
