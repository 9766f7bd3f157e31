package serve

import (
	"context"
	"iter"
	"sync"

	"brine/hbase"
	"brine/query"
	"brine/serve/written"
)

// reading is what an answer is read through. It marks rows before they are read, so that a later write by this process is known to be
// missing from the answer. What an index finds is not marked, because the index finds later what is written now.
type reading struct {
	rows  query.Client
	since func(table string) string // Options.Alone

	mu     sync.Mutex // several ranges may be read at a time
	mark   *written.Mark
	tables map[string]string // tables that were read; the value of since for each
	shared bool              // something was read that others may write
}

// newReading returns a reading that calls woken, unless it is nil, on the first write to a marked row. It returns nil if this process
// writes no rows. The caller closes the reading.
func (s *Server) newReading(woken func()) *reading {
	if s.opts.Written == nil {
		return nil
	}
	return &reading{rows: s.opts.Rows, since: s.opts.Alone, mark: s.opts.Written.Mark(woken), tables: map[string]string{}}
}

// reads records that a table is about to be read. The caller holds the mutex.
func (r *reading) reads(table string) {
	if _, known := r.tables[table]; known || r.shared {
		return
	}
	r.shared = true
	if r.since != nil {
		r.tables[table] = r.since(table)
		r.shared = r.tables[table] == ""
	}
}

// marks marks what of a table is about to be read. It releases the mutex even on a panic.
func (r *reading) marks(table string, mark func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads(table)
	mark()
}

// finds records that an index is queried.
func (r *reading) finds() {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.shared = true
	}
}

// alone reports whether all that was read comes from tables that only this process has written since before they were read.
func (r *reading) alone() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for table, since := range r.tables {
		if r.shared || r.since(table) != since {
			return false
		}
	}
	return len(r.tables) > 0
}

// Scan implements query.Client.
func (r *reading) Scan(ctx context.Context, table string, scan hbase.Scan) iter.Seq2[hbase.Result, error] {
	from, to := scan.Start, scan.Stop
	if scan.Reverse {
		from, to = to, from
	}
	r.marks(table, func() { r.mark.Range(table, from, to) })
	return r.rows.Scan(ctx, table, scan)
}

// GetAll implements query.Client.
func (r *reading) GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error) {
	r.marks(table, func() {
		for i := range gets {
			r.mark.Row(table, gets[i].Row)
		}
	})
	return r.rows.GetAll(ctx, table, gets)
}

// close removes the marks.
func (r *reading) close() {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.mark.Close()
	}
}

// rows returns the client that the answer is read from.
func (c *call) rows() query.Client {
	if c.reading != nil {
		return c.reading
	}
	return c.opts.Rows
}
