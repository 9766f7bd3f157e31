package filter

import (
	"bytes"
	"math"
	"slices"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// columnPrefixes includes columns that begin with one of several prefixes.
type columnPrefixes struct {
	store.FilterBase
	prefixes [][]byte
}

func (f *columnPrefixes) Cell(c *store.Cell) store.Verdict {
	beyond := true
	for _, p := range f.prefixes {
		if bytes.HasPrefix(c.Qualifier, p) {
			return store.Include
		}
		beyond = beyond && bytes.Compare(c.Qualifier, p) > 0
	}
	if beyond {
		return store.NextRow
	}
	return store.NextColumn
}

// columnRange includes the columns of a range.
type columnRange struct {
	store.FilterBase
	m *hbasepb.ColumnRangeFilter
}

func (f *columnRange) Cell(c *store.Cell) store.Verdict {
	if f.m.MinColumn != nil {
		if o := bytes.Compare(c.Qualifier, f.m.MinColumn); o < 0 || o == 0 && !f.m.GetMinColumnInclusive() {
			return store.NextColumn
		}
	}
	if f.m.MaxColumn != nil {
		if o := bytes.Compare(c.Qualifier, f.m.MaxColumn); o > 0 || o == 0 && !f.m.GetMaxColumnInclusive() {
			return store.NextRow
		}
	}
	return store.Include
}

// columnCount includes the first columns of a row. It is meant for gets: it ends a scan at the first row that has more.
type columnCount struct {
	store.FilterBase
	limit, count int
}

func (f *columnCount) Reset()     { f.count = 0 }
func (f *columnCount) Done() bool { return f.count > f.limit }
func (f *columnCount) Cell(*store.Cell) store.Verdict {
	if f.count++; f.count > f.limit {
		return store.NextColumn
	}
	return store.IncludeAndNextColumn
}

// pagination includes up to limit columns of a row, starting at an offset or at a named column.
type pagination struct {
	store.FilterBase
	limit, offset, count int
	from                 []byte
}

func newPagination(raw []byte, _ int) (store.Filter, error) {
	m := new(hbasepb.ColumnPaginationFilter)
	if err := unmarshal(raw, m); err != nil {
		return nil, err
	}
	return &pagination{limit: int(m.GetLimit()), offset: int(m.GetOffset()), from: m.ColumnOffset}, nil
}

func (f *pagination) Reset() { f.count = 0 }
func (f *pagination) Cell(c *store.Cell) store.Verdict {
	if f.from != nil {
		switch {
		case f.count >= f.limit:
			return store.NextRow
		case f.count == 0 && bytes.Compare(c.Qualifier, f.from) < 0:
			return store.NextColumn
		}
		f.count++
		return store.IncludeAndNextColumn
	}
	if f.count >= f.offset+f.limit {
		return store.NextRow
	}
	f.count++
	if f.count <= f.offset {
		return store.NextColumn
	}
	return store.IncludeAndNextColumn
}

// timestamps includes cells with one of several timestamps.
type timestamps struct {
	store.FilterBase
	wanted []int64
	oldest int64
}

func newTimestamps(wanted []int64) store.Filter {
	if len(wanted) == 0 {
		return &timestamps{oldest: math.MaxInt64}
	}
	return &timestamps{wanted: wanted, oldest: slices.Min(wanted)}
}

func (f *timestamps) Cell(c *store.Cell) store.Verdict {
	switch {
	case slices.Contains(f.wanted, c.Timestamp):
		return store.Include
	case c.Timestamp < f.oldest:
		return store.NextColumn
	}
	return store.Skip
}
