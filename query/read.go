package query

import (
	"bytes"
	"context"
	"iter"

	"brine/hbase"
	"brine/rowkey"
)

// reading is one answer of the key under way. It belongs to the goroutine of the answer's loop.
type reading struct {
	client  Client
	table   Table
	columns []hbase.Column
	joins   bool // rows of two keys that are equal behind their leads are one
	reverse bool // each bucket's ranges are in descending order, and so are the rows of each
	filter  hbase.Filter

	versions int // of each cell; 0 means the newest
	limit    int // rows to give; 0 means all
	given    int
	spent    hbase.ScanMetrics
}

// left is the number of rows still to give; 0 means all.
func (r *reading) left() int { return r.limit - min(r.given, r.limit) }

// raw is a row as it was read, and the key, in Table.Keys, that it was found by: it says what the row's bytes mean.
type raw struct {
	hbase.Result
	key int
}

func (r *reading) results(ctx context.Context, buckets []bucket) iter.Seq2[raw, error] {
	if len(buckets) > 1 {
		return r.merged(ctx, buckets)
	}
	return func(yield func(raw, error) bool) {
		for _, b := range buckets {
			for _, x := range b.ranges {
				if !r.straight(ctx, b.key, x, yield) {
					return
				}
			}
		}
	}
}

// straight reads one range. A scan asks for no more rows than are still to be given, so that the server closes it with the
// answer; as many as turned out to be hidden are asked for again behind it. It is false when nothing more is wanted.
func (r *reading) straight(ctx context.Context, key int, x rowkey.Range, yield func(raw, error) bool) bool {
	for {
		want, got := r.left(), 0
		var last []byte
		for row, err := range r.rows(ctx, x, r.scan(key, x, want, &r.spent)) {
			if !yield(raw{row, key}, err) || err != nil {
				return false
			}
			got, last = got+1, row.Row
		}
		if want == 0 || got < want {
			return true
		}
		x = r.behind(x, last)
	}
}

// rows reads one range. HBase's reverse scans begin with the row at which the range stops, and end before the range's first row where
// nothing says which row comes before it: what is not in the range is left out.
func (r *reading) rows(ctx context.Context, x rowkey.Range, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	all := r.client.Scan(ctx, r.table.Name, scan)
	if !r.reverse {
		return all
	}
	return func(yield func(hbase.Result, error) bool) {
		left := scan.Limit - 1 // as scan has one more
		for row, err := range all {
			switch {
			case err == nil && bytes.Compare(row.Row, x.Start) < 0:
				return
			case err == nil && !x.Contains(row.Row):
				continue
			}
			if left--; !yield(row, err) || left == 0 {
				return
			}
		}
	}
}

// behind is what is left of a range behind a row of it.
func (r *reading) behind(x rowkey.Range, row []byte) rowkey.Range {
	if r.reverse {
		return rowkey.Range{Start: x.Start, Stop: row}
	}
	return rowkey.Range{Start: behindRow(row), Stop: x.Stop}
}

// before is a row less than row, with few or none between them; nil of the first one.
func before(row []byte) []byte {
	if len(row) == 0 {
		return nil
	}
	last := len(row) - 1
	out := bytes.Clone(row[:last])
	if row[last] == 0 {
		return out
	}
	return append(append(out, row[last]-1), bytes.Repeat([]byte{0xff}, 16)...)
}

func (r *reading) scan(key int, x rowkey.Range, limit int, spent *hbase.ScanMetrics) hbase.Scan {
	from, to := r.table.Keys.Versions(key)
	s := hbase.Scan{Start: x.Start, Stop: x.Stop, From: from, To: to, Limit: limit, Columns: r.columns, Filter: r.filter, Metrics: spent,
		MaxVersions: r.versions}
	if r.reverse {
		s.Reverse, s.Start, s.Stop = true, x.Stop, before(x.Start)
		if limit > 0 {
			s.Limit++ // the row at which the range stops may be given
		}
	}
	return s
}

// behindRow is the least row greater than row.
func behindRow(row []byte) []byte { return append(row[:len(row):len(row)], 0) }

func (r *reading) spend(m hbase.ScanMetrics) {
	r.spent.Calls += m.Calls
	r.spent.Regions += m.Regions
	r.spent.RowsScanned += m.RowsScanned
	for name := range m.Seen {
		r.spent.Seen[name] = true
	}
}

func (r *reading) account(c *Cost) {
	if c != nil {
		c.Rows += r.given
		c.Read += int(r.spent.RowsScanned)
		c.Calls += r.spent.Calls
		c.Scanners += r.spent.Regions
		c.Regions += len(r.spent.Seen)
	}
}
