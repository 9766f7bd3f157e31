package query

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"brine/hbase"
	"brine/rowkey"
)

// reading is one answer of the key in progress. It belongs to the goroutine of the answer's loop.
type reading struct {
	client  Client
	table   Table
	columns []hbase.Column
	joins   bool // rows of two keys that are equal behind their leads are one row
	reverse bool // each bucket's ranges, and the rows in each, are in descending order
	filter  hbase.Filter

	versions int // of each cell; 0 means the newest
	limit    int // rows to return; 0 means all
	given    int
	spent    hbase.ScanMetrics

	most, mostBytes          int64        // rows that servers may read, and bytes; 0 means any number
	looked, dropped, arrived atomic.Int64 // rows that servers have read; bytes of those that they dropped, about, and of the others
}

func (r *reading) bounded() bool { return r.most > 0 || r.mostBytes > 0 }

// left returns the number of rows still to return; 0 means all.
func (r *reading) left() int { return r.limit - min(r.given, r.limit) }

// raw is a row as it was read, and the index in Table.Keys of the key that found it, which gives the row's bytes their meaning.
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

// straight reads one range. A scan requests only as many rows as are still to be returned, so that the server closes it with the answer. If
// some turn out to be hidden, straight requests as many again after the last row. It returns false if the caller wants no more.
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

// rows reads one range, and drops rows outside of it. A reverse scan of HBase begins with the row at which the range stops. It has to end
// before the range's first row, but the row right before that is not known.
func (r *reading) rows(ctx context.Context, x rowkey.Range, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	all := r.client.Scan(ctx, r.table.Name, scan)
	if !r.reverse {
		return all
	}
	return func(yield func(hbase.Result, error) bool) {
		left := scan.Limit - 1 // scan has one more
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

// behind returns the part of a range after one of its rows.
func (r *reading) behind(x rowkey.Range, row []byte) rowkey.Range {
	if r.reverse {
		return rowkey.Range{Start: x.Start, Stop: row}
	}
	return rowkey.Range{Start: behindRow(row), Stop: x.Stop}
}

// before returns a row less than row, with few or none between them, or nil for the first row.
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
	if r.bounded() {
		s.Progress = r.progress
	}
	if r.reverse {
		s.Reverse, s.Start, s.Stop = true, x.Stop, before(x.Start)
		if limit > 0 {
			s.Limit++ // the scan may return the row at which the range stops
		}
	}
	return s
}

// boundedCall is the time-out of the calls of a selection with a Most. Servers answer within half of it, even if their filters have dropped
// all rows so far, so they exceed the bound by at most about that time.
const boundedCall = 4 * time.Second

// ErrMost is the error of a selection for which servers have read more than Selection.Most rows, or Selection.MostBytes.
var ErrMost = errors.New("more was read than allowed")

// progress counts what servers have read. They do not tell the sizes of rows that they dropped, only of all blocks that they read: of
// these, dropped rows count by their share of the rows.
func (r *reading) progress(p hbase.ScanProgress) error {
	rows := r.looked.Add(p.Rows)
	dropped := r.dropped.Load()
	if p.Rows > 0 {
		dropped = r.dropped.Add(int64(float64(p.Bytes) * float64(min(p.Filtered, p.Rows)) / float64(p.Rows)))
	}
	if r.most > 0 && rows > r.most || r.mostBytes > 0 && dropped+r.arrived.Load() > r.mostBytes {
		return ErrMost
	}
	return nil
}

// behindRow returns the least row greater than row.
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
		c.Dropped += r.dropped.Load()
	}
}
