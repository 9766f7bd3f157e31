package query

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"time"

	"brine/hbase"
	"brine/rowkey"
	"brine/search"
)

// Selector reads selections from a client.
type Selector struct {
	Client Client
	Docs   search.Searcher // nil: no selection has Words
}

// Select reads the rows of a selection, except those that are marked deleted.
func (r Selector) Select(ctx context.Context, s *Selection) iter.Seq2[Selected, error] {
	if len(s.Words) > 0 {
		return s.found(ctx, r.Docs, r.Client)
	}
	return s.Select(ctx, r.Client)
}

// Regions returns the number of the table's regions that a selection reads, and the number of all its regions.
func (r Selector) Regions(ctx context.Context, s *Selection) (touched, all int, err error) {
	return s.Regions(ctx, r.Client)
}

// Selection describes what to read of a table by its key, for a caller that plans its own questions: package sqlconsole. Unlike a view's
// question it may cover the whole table. Computing its ranges does not access a store.
type Selection struct {
	Table   Table
	Any     []map[string]rowkey.Bound // rows whose key satisfies one of these; an empty map: all rows. No map: no row
	Within  rowkey.Range              // only rows whose keys lie in it; the zero Range contains all
	Merge   bool                      // order rows by what each of Any leaves open; otherwise by the key without its salt
	Reverse bool                      // in reverse order
	Limit   int                       // the number of rows to request from HBase, including those that are marked deleted; 0 means all
	Whole   bool                      // read all columns, declared or not
	Also    []ColumnName              // columns to read in addition to the table's
	Tests   []Test                    // HBase drops the rows that fail any of these
	Cells   bool                      // return the cells, too
	Cost    *Cost                     // increased while rows are returned; nil: not counted

	// Most is the number of rows that servers may read, including those that fail the Tests, and MostBytes that of their bytes; beyond it, the
	// error is ErrMost. Bytes of rows that fail are estimated, and only from HBase 2.6, as far as they lie in files. 0: any number
	Most      int
	MostBytes int64

	Words  []search.Clause // instead of Any: rows whose documents match these, in the order of Sort
	Sort   []search.Order  // of documents
	Splits int             // return each row as it was at each of the last Splits versions of its cells, one row per version; 0: as it is now
	AsOf   *AsOf           // rows as they were then; nil: as they are now
}

// ColumnName is a column of HBase.
type ColumnName struct{ Family, Qualifier string }

func (c ColumnName) String() string { return c.Family + ":" + c.Qualifier }

// Test compares the bytes of a column with a value. A row without the column fails.
type Test struct {
	Column ColumnName
	Op     hbase.CompareOp
	Value  []byte
	Prefix bool // compare only the first bytes, as many as Value has
}

// CompareOp is a comparison of the bytes of a column. It lets callers do without package hbase.
type CompareOp = hbase.CompareOp

// The comparisons of a Test.
const (
	Equal          = hbase.Equal
	NotEqual       = hbase.NotEqual
	Less           = hbase.Less
	LessOrEqual    = hbase.LessOrEqual
	Greater        = hbase.Greater
	GreaterOrEqual = hbase.GreaterOrEqual
)

// Selected is a row with its cells, if they are requested.
type Selected struct {
	Row
	Cells []Cell
}

// Cell is a cell as it was read.
type Cell struct {
	Column ColumnName
	Value  []byte
	Time   int64
}

// Select reads the rows of a selection, except those that are marked deleted.
func (s *Selection) Select(ctx context.Context, c Client) iter.Seq2[Selected, error] {
	return func(yield func(Selected, error) bool) {
		buckets, joins, err := s.buckets()
		if err != nil {
			yield(Selected{}, err)
			return
		}
		r := &reading{client: c, table: s.Table, columns: s.columns(), joins: joins, limit: s.Limit, reverse: s.Reverse, filter: s.filter(),
			versions: s.versions(), most: int64(s.Most), mostBytes: s.MostBytes}
		if r.bounded() {
			ctx = hbase.WithCallOptions(ctx, hbase.CallOptions{Timeout: boundedCall})
		}
		if s.Cost != nil {
			r.spent.Seen = map[string]bool{}
			defer r.account(s.Cost)
		}
		decoder, asked := newDecoder(s.Table), time.Now()
		for result, err := range r.results(ctx, buckets) {
			if err != nil {
				s.count(asked, 0)
				yield(Selected{}, err)
				return
			}
			size := sizeOf(result.Result)
			r.arrived.Add(int64(size))
			s.count(asked, size)
			rows, err := s.rowsOf(decoder, result)
			if err != nil {
				yield(Selected{Row: Row{Key: result.Row}}, err)
				return
			}
			for _, row := range rows {
				if r.given++; !yield(row, nil) {
					return
				}
			}
			asked = time.Now()
		}
		s.count(asked, 0)
	}
}

func (s *Selection) count(asked time.Time, size int) {
	if s.Cost != nil {
		s.Cost.Waited += time.Since(asked)
		s.Cost.Bytes += int64(size)
	}
}

func (s *Selection) selected(row Row, r hbase.Result) Selected {
	out := Selected{Row: row}
	if !s.Cells {
		return out
	}
	out.Cells = make([]Cell, len(r.Cells))
	for i := range r.Cells {
		c := &r.Cells[i]
		out.Cells[i] = Cell{ColumnName{string(c.Family), string(c.Qualifier)}, c.Value, c.Timestamp}
	}
	return out
}

// columns returns the columns to read; nil means all.
func (s *Selection) columns() []hbase.Column {
	if s.Whole {
		return nil
	}
	cols := s.Table.columns()
	for _, c := range s.Also {
		cols = append(cols, hbase.Column{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier)})
	}
	return cols
}

func (s *Selection) filter() hbase.Filter {
	var all []hbase.Filter
	for _, t := range s.Tests {
		f := hbase.SingleColumnValueFilter{Family: []byte(t.Column.Family), Qualifier: []byte(t.Column.Qualifier), Op: t.Op,
			With: hbase.Bytes(t.Value)}
		if t.Prefix {
			f.With = hbase.Prefix(t.Value)
		}
		all = append(all, f)
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return hbase.FilterList{Filters: all}
}

// buckets returns what to read, like Table.buckets for a view. It joins adjacent ranges of several conditions.
func (s *Selection) buckets() (out []bucket, joins bool, err error) {
	switch {
	case len(s.Any) == 0:
		return nil, false, nil
	case len(s.Table.Keys) > 1 && len(s.Any) > 1:
		return nil, false, refuse("bind it to one value", "table %s has several keys, whose rows are merged under one condition at a time",
			s.Table.Name)
	case len(s.Table.Keys) > 1:
		out, joins, err = s.Table.buckets(s.Any[0], "")
	default:
		out, err = s.joined()
	}
	if len(s.Within.Start) > 0 || s.Within.Stop != nil {
		out = within(out, s.Within)
	}
	if s.Reverse {
		for _, b := range out {
			slices.Reverse(b.ranges)
		}
	}
	return out, joins, err
}

// within returns the part of buckets that lies in a range.
func within(buckets []bucket, r rowkey.Range) (left []bucket) {
	for _, b := range buckets {
		ranges := b.ranges
		b.ranges = nil
		for _, x := range ranges {
			if bytes.Compare(x.Start, r.Start) < 0 {
				x.Start = r.Start
			}
			if x.Stop == nil || r.Stop != nil && bytes.Compare(r.Stop, x.Stop) < 0 {
				x.Stop = r.Stop
			}
			if x.Stop == nil || bytes.Compare(x.Start, x.Stop) < 0 {
				b.ranges = append(b.ranges, x)
			}
		}
		if len(b.ranges) > 0 {
			left = append(left, b)
		}
	}
	return left
}

// joined returns the buckets of a table with one key.
func (s *Selection) joined() (out []bucket, err error) {
	key := s.Table.Keys[0].Key
	var leads []string
	byLead := map[string][]rowkey.Range{}
	for _, where := range s.Any {
		ranges, err := key.Ranges(where)
		if err != nil {
			return nil, err
		}
		lead := key.SaltWidth()
		if s.Merge {
			tail, err := key.Tail(where)
			if err != nil {
				return nil, err
			}
			lead = tail.At
		}
		for _, r := range ranges {
			at := string(r.Start[:lead])
			if byLead[at] == nil {
				leads = append(leads, at)
			}
			byLead[at] = append(byLead[at], r)
		}
	}
	slices.Sort(leads)
	for _, at := range leads {
		out = append(out, bucket{lead: len(at), ranges: united(byLead[at])})
	}
	return out, nil
}

// united returns the union of ranges as disjoint ranges in ascending order.
func united(ranges []rowkey.Range) []rowkey.Range {
	slices.SortFunc(ranges, func(a, b rowkey.Range) int { return bytes.Compare(a.Start, b.Start) })
	out := ranges[:1]
	for _, r := range ranges[1:] {
		last := &out[len(out)-1]
		switch {
		case last.Stop != nil && bytes.Compare(r.Start, last.Stop) > 0:
			out = append(out, r)
		case last.Stop != nil && (r.Stop == nil || bytes.Compare(r.Stop, last.Stop) > 0):
			last.Stop = r.Stop
		}
	}
	return out
}

// Scans returns the ranges to read.
func (s *Selection) Scans() ([]rowkey.Scan, error) {
	buckets, _, err := s.buckets()
	var out []rowkey.Scan
	for _, b := range buckets {
		from, to := s.Table.Keys.Versions(b.key)
		for _, r := range b.ranges {
			out = append(out, rowkey.Scan{Range: r, From: from, To: to})
		}
	}
	return out, err
}

// Regions returns the number of the table's regions that the selection reads, and of all its regions. It asks HBase for them, and returns 0
// for a client that cannot report regions.
func (s *Selection) Regions(ctx context.Context, c Client) (touched, all int, err error) {
	client, ok := c.(interface {
		Regions(ctx context.Context, table string) ([]hbase.Region, error)
	})
	if !ok {
		return 0, 0, nil
	}
	regions, err := client.Regions(ctx, s.Table.Name)
	if err != nil {
		return 0, 0, err
	}
	scans, err := s.Scans()
	for _, r := range regions {
		if slices.ContainsFunc(scans, func(s rowkey.Scan) bool {
			return (len(r.End) == 0 || bytes.Compare(s.Start, r.End) < 0) && (s.Stop == nil || bytes.Compare(r.Start, s.Stop) < 0)
		}) {
			touched++
		}
	}
	return touched, len(regions), err
}
