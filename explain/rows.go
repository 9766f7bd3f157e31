package explain

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
	"brine/verify"
)

// mutations is the client of a sink that records mutations instead of sending them, for one event at a time.
type mutations struct {
	list    []mutation
	expired []sink.ExpiredInfo
}

type mutation struct {
	table string
	row   []byte
	ttl   int64
	cells []hbase.Cell
}

func (m *mutations) expire(i sink.ExpiredInfo) { m.expired = append(m.expired, i) }

// Release implements sink.Client. It does nothing, because nothing is held back.
func (m *mutations) Release() {}

// Hurry implements sink.Client. It does nothing, because nothing waits.
func (m *mutations) Hurry() {}

// Submit implements sink.Client.
func (m *mutations) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	for i := range b.Len() {
		one := mutation{table: b.Table(), row: bytes.Clone(b.Row(i)), ttl: b.TTLOf(i)}
		for c := range b.Cells(i) {
			c.Family, c.Qualifier, c.Value = bytes.Clone(c.Family), bytes.Clone(c.Qualifier), bytes.Clone(c.Value)
			one.cells = append(one.cells, c)
		}
		m.list = append(m.list, one)
	}
	return kept{}
}

// kept is the flight of mutations that are all recorded.
type kept struct{}

func (kept) Wait(context.Context) ([]hbase.MutationError, error) { return nil, nil }

func (kept) WaitPending(context.Context) (*hbase.Batch, []int32, error) { return nil, nil, nil }

// writeRows adds the rows that the event writes.
func (w *writes) writeRows(ctx context.Context, ev *event.Event, out *Event) error {
	w.made = mutations{}
	failures, err := event.Settle(ctx, w.rows.Submit(ctx, &event.Batch{Events: []event.Event{*ev}}))
	if err != nil {
		return err
	}
	for _, f := range failures {
		out.Rejected = append(out.Rejected, *w.source.rejected(Rows, f.Reason, f.Err))
	}
	for i := range w.made.list {
		row, err := w.row(ctx, &w.made.list[i], ev.Version)
		if err != nil {
			return err
		}
		out.Rows = append(out.Rows, *row)
	}
	return nil
}

// row compares a mutation with the stored row.
func (w *writes) row(ctx context.Context, m *mutation, version int64) (*Row, error) {
	out := &Row{Table: m.table, Row: rowkey.Binary(m.row), TTL: m.ttl, Cells: []Cell{}, Parts: []rowkey.Part{}}
	w.key(out, m, version)
	found, err := w.client().GetAll(ctx, m.table, []hbase.Get{{Row: m.row}})
	if err == nil {
		err = w.region(ctx, out, m.row)
	}
	switch {
	case errors.Is(err, hbase.ErrNoTable):
		out.Problem = "the table does not exist"
	case err != nil:
		return nil, err
	}
	for i := range m.cells {
		c := &m.cells[i]
		cell := Cell{Column: string(c.Family), Version: c.Timestamp}
		switch c.Type {
		case hbase.Put:
			cell.Write, cell.Column = "put", columnOf(c)
			cell.Value = w.shown(m.table, c)
		case hbase.DeleteColumn:
			cell.Write, cell.Column = "delete_column", columnOf(c)
		default:
			cell.Write = "delete_family"
		}
		if out.Problem == "" {
			if err := w.compare(ctx, m, c, found[0].Cells, &cell); err != nil {
				return nil, err
			}
		}
		out.Cells = append(out.Cells, cell)
	}
	return out, nil
}

func (w *writes) client() *hbase.Client { return w.opts.Client }

func columnOf(c *hbase.Cell) string { return string(c.Family) + ":" + string(c.Qualifier) }

// shown returns the value of a cell for people.
func (w *writes) shown(table string, c *hbase.Cell) *sink.Shown {
	value := w.source.Rows.Show(table, columnOf(c), c.Value)
	return &value
}

// key sets how the row's key is made.
func (w *writes) key(out *Row, m *mutation, version int64) {
	i := slices.IndexFunc(w.source.Rows.Rows, func(r sink.Rows) bool { return r.Table.Name == m.table })
	keys := w.source.Rows.Rows[i].Table.Keys
	key := keys[keys.At(version)].Key
	out.Key = key.String()
	out.Parts, _ = key.Explain(m.row) // the parts are those that could be read
	if salt := key.Salt(); salt.Buckets() > 0 {
		bucket := salt.Bucket(m.row)
		out.Bucket = &bucket
	}
}

// region sets the region and server of the row.
func (w *writes) region(ctx context.Context, out *Row, row []byte) error {
	all, known := w.regions[out.Table]
	if !known {
		var err error
		if all, err = w.client().Regions(ctx, out.Table); err != nil {
			return err
		}
		w.regions[out.Table] = all
	}
	for i := range all {
		r := &all[i]
		if bytes.Compare(r.Start, row) <= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0) {
			out.Region, out.Server = r.Encoded, r.Server
		}
	}
	return nil
}

// compare sets the state of what the event writes.
func (w *writes) compare(ctx context.Context, m *mutation, c *hbase.Cell, found []hbase.Cell, out *Cell) error {
	if c.Type != hbase.Put {
		out.State = Gone
		if undone(m, c, found) {
			out.State = There
		}
		return nil
	}
	i := slices.IndexFunc(found, func(f hbase.Cell) bool {
		return bytes.Equal(f.Family, c.Family) && bytes.Equal(f.Qualifier, c.Qualifier)
	})
	if i >= 0 {
		f := &found[i]
		switch out.State = stateOf(f.Timestamp, c.Timestamp, bytes.Equal(f.Value, c.Value)); out.State {
		case Same:
		default:
			out.Now, out.At = w.shown(m.table, f), &f.Timestamp
		}
		if out.State != Older {
			return nil
		}
	}
	marker, err := verify.Hiding(ctx, w.client(), m.table, m.row, columnOf(c), c.Timestamp)
	switch {
	case err != nil:
		return err
	case marker >= 0:
		out.State, out.Now, out.At = Hidden, nil, &marker
	case slices.ContainsFunc(w.made.expired, func(e sink.ExpiredInfo) bool { return e.Table == m.table && e.Family == string(c.Family) }):
		out.State = Expired
	case i < 0:
		out.State = Missing
	}
	return nil
}

// stateOf returns the state of a put with this version if a cell is stored.
func stateOf(now, version int64, same bool) State {
	switch {
	case now > version:
		return Newer
	case now < version:
		return Older
	case same:
		return Same
	}
	return Tied
}

// undone reports whether something exists that a delete should have deleted. Puts of the same mutation may have the delete's version.
func undone(m *mutation, c *hbase.Cell, found []hbase.Cell) bool {
	return slices.ContainsFunc(found, func(f hbase.Cell) bool {
		return f.Timestamp <= c.Timestamp && bytes.Equal(f.Family, c.Family) &&
			(c.Type == hbase.DeleteFamily || bytes.Equal(f.Qualifier, c.Qualifier)) &&
			!slices.ContainsFunc(m.cells, func(own hbase.Cell) bool {
				return own.Type == hbase.Put && own.Timestamp == f.Timestamp && columnOf(&own) == columnOf(&f)
			})
	})
}
