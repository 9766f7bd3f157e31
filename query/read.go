package query

import (
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
	limit   int  // rows to give; 0 means all
	given   int
	spent   hbase.ScanMetrics
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
		for row, err := range r.client.Scan(ctx, r.table.Name, r.scan(key, x, want, &r.spent)) {
			if !yield(raw{row, key}, err) || err != nil {
				return false
			}
			got, last = got+1, row.Row
		}
		if want == 0 || got < want {
			return true
		}
		x.Start = behindRow(last)
	}
}

func (r *reading) scan(key int, x rowkey.Range, limit int, spent *hbase.ScanMetrics) hbase.Scan {
	from, to := r.table.Keys.Versions(key)
	return hbase.Scan{Start: x.Start, Stop: x.Stop, From: from, To: to, Limit: limit, Columns: r.columns, Metrics: spent}
}

// behindRow is the least row greater than row.
func behindRow(row []byte) []byte { return append(row[:len(row):len(row)], 0) }

func (r *reading) spend(m hbase.ScanMetrics) {
	r.spent.Calls += m.Calls
	r.spent.Regions += m.Regions
	r.spent.RowsScanned += m.RowsScanned
}

func (r *reading) account(c *Cost) {
	if c != nil {
		c.Rows += r.given
		c.Read += int(r.spent.RowsScanned)
		c.Calls += r.spent.Calls
		c.Scanners += r.spent.Regions
	}
}
