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

// Select reads the rows of a selection, those that are marked deleted left out.
func (r Selector) Select(ctx context.Context, s *Selection) iter.Seq2[Selected, error] {
	if len(s.Words) > 0 {
		return s.found(ctx, r.Docs, r.Client)
	}
	return s.Select(ctx, r.Client)
}

// Regions says in how many of the table's regions a selection reads.
func (r Selector) Regions(ctx context.Context, s *Selection) (touched, all int, err error) {
	return s.Regions(ctx, r.Client)
}

// Selection says what is read of a table by its key, for a caller that plans its own questions: package sqlconsole. Unlike a view's
// question it may name the whole table. Making its ranges asks no store.
type Selection struct {
	Table   Table
	Any     []map[string]rowkey.Bound // rows whose key satisfies one of these; an empty one: all rows. None: no row
	Within  rowkey.Range              // only rows whose keys lie here; the zero Range has all
	Merge   bool                      // rows come in the order of what each of Any leaves open; else in that of the key behind its salt
	Reverse bool                      // in the opposite order
	Limit   int                       // rows to ask HBase for, those that are marked deleted included; 0 means all
	Whole   bool                      // read all columns, declared or not
	Also    []ColumnName              // columns that are read beside the table's
	Tests   []Test                    // HBase leaves out the rows that fail one of them
	Cells   bool                      // give the cells too
	Cost    *Cost                     // counted up while rows are given; nil: not counted

	Words  []search.Clause // instead of Any: rows whose documents match these, in the order of Sort
	Sort   []search.Order  // of documents
	Splits int             // each row as it was at each of the last so many versions of its cells: a row for each; 0: as it is
	AsOf   *AsOf           // rows as they were; nil: as they are
}

// ColumnName is a column as HBase has it.
type ColumnName struct{ Family, Qualifier string }

func (c ColumnName) String() string { return c.Family + ":" + c.Qualifier }

// Test compares the bytes of a column with a value, byte by byte. A row without the column fails.
type Test struct {
	Column ColumnName
	Op     hbase.CompareOp
	Value  []byte
	Prefix bool // only the first bytes are compared, as many as Value has
}

// CompareOp is how the bytes of a column must compare; its values are for callers that do not import package hbase.
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

// Selected is a row with its cells, if they are asked for.
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

// Select reads the rows of a selection, those that are marked deleted left out.
func (s *Selection) Select(ctx context.Context, c Client) iter.Seq2[Selected, error] {
	return func(yield func(Selected, error) bool) {
		buckets, joins, err := s.buckets()
		if err != nil {
			yield(Selected{}, err)
			return
		}
		r := &reading{client: c, table: s.Table, columns: s.columns(), joins: joins, limit: s.Limit, reverse: s.Reverse, filter: s.filter(),
			versions: s.versions()}
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
			s.count(asked, sizeOf(result.Result))
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

// columns are those that are read; nil means all.
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

// buckets returns what is read, as Table.buckets does for a view. The ranges of several conditions are joined where they meet.
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

// within is what of buckets lies in a range.
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

// joined is the buckets of a table with one key.
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

// united is the rows of all ranges, as ranges that are apart and ascending.
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

// Scans are the ranges that are read.
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

// Regions says in how many of the table's regions the selection reads. It asks HBase where they are, and knows none of a client that
// cannot say.
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
