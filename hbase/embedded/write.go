package embedded

import (
	"context"
	"errors"
	"slices"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// writer applies mutations of one region that are checked, all or none.
type writer struct {
	k   *call
	r   *region
	b   *store.Batch
	now int64

	results []store.Cell // of increments and appends
}

// apply applies the mutations and returns the cells that increments and appends made. If condition is given it is asked
// first, with other writers kept out, and may refuse: then applied is false.
func (k *call) apply(ctx context.Context, r *region, ms []mutation, condition func() (bool, error)) (applied bool,
	results []store.Cell, err error) {
	c := k.node.cluster
	alone := condition != nil || c.opts.Applied != nil || slices.ContainsFunc(ms, func(m mutation) bool { return m.readsFirst() })
	leave, err := r.enter(k.node, alone)
	if err != nil {
		return false, nil, err
	}
	defer leave()
	if condition != nil {
		if ok, err := condition(); !ok || err != nil {
			return false, nil, err
		}
	}
	w := writer{k: k, r: r, b: c.store.NewBatch(), now: k.now()}
	for i := range ms {
		if err := w.add(ctx, &ms[i]); err != nil {
			return false, nil, errors.Join(err, w.b.Close())
		}
	}
	if err := w.b.Commit(); err != nil {
		return false, nil, err
	}
	r.writes.Add(int64(len(ms)))
	if c.opts.Applied != nil {
		for i := range ms {
			c.opts.Applied(k.applied(r, &ms[i]))
		}
	}
	return true, w.results, nil
}

func (k *call) applied(r *region, m *mutation) Applied {
	a := Applied{Node: k.node.place.index, Table: r.table.name.String(), Region: r.encoded, Row: slices.Clone(m.row), Cells: len(m.cells)}
	for i := range m.cells {
		a.Values = append(a.Values, slices.Clone(m.cells[i].Value))
	}
	return a
}

func (w *writer) add(ctx context.Context, m *mutation) error {
	switch m.kind {
	case hbasepb.MutationProto_INCREMENT, hbasepb.MutationProto_APPEND:
		return w.addDelta(ctx, m)
	case hbasepb.MutationProto_DELETE:
		if len(m.cells) == 0 {
			return w.addDeleteRow(m)
		}
	}
	for i := range m.cells {
		c := &m.cells[i]
		ts := c.Timestamp
		if ts == store.LatestTimestamp {
			ts = w.now
			if store.Type(c.Type) == store.Delete {
				var err error
				if ts, err = w.latest(ctx, m, i); err != nil {
					return err
				}
			}
		}
		if err := w.b.AddTTL(w.r.table.space, m.row, c.Family, c.Qualifier, ts, store.Type(c.Type), c.Value,
			m.ttl); errors.Is(err, store.ErrNoTTLs) {
			return final(classDoNotRetry, "%v", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// addDeleteRow deletes all families of a row: a delete that names none.
func (w *writer) addDeleteRow(m *mutation) error {
	ts := w.now
	if t := m.proto.Timestamp; t != nil && *t != store.LatestTimestamp {
		ts = int64(*t)
	}
	for _, f := range w.r.schema() {
		if err := w.b.AddTTL(w.r.table.space, m.row, f.Name, nil, ts, store.DeleteFamily, nil, m.ttl); err != nil {
			return err
		}
	}
	return nil
}

// latest returns the timestamp of the version that a delete of the newest version means; of several such deletes of one
// column in a mutation the first means the newest, the next the one before.
func (w *writer) latest(ctx context.Context, m *mutation, i int) (int64, error) {
	c := &m.cells[i]
	nth := 0
	for j := range m.cells[:i+1] {
		d := &m.cells[j]
		if store.Type(d.Type) == store.Delete && d.Timestamp == store.LatestTimestamp && string(d.Family) == string(c.Family) &&
			string(d.Qualifier) == string(c.Qualifier) {
			nth++
		}
	}
	cells, err := w.read(ctx, m.row, []store.FamilyColumns{{Family: c.Family, Qualifiers: [][]byte{c.Qualifier}}}, nth, store.AllTime)
	if err != nil || len(cells) < nth {
		return w.now, err
	}
	return cells[nth-1].Timestamp, nil
}

func (w *writer) read(ctx context.Context, row []byte, columns []store.FamilyColumns, versions int,
	times store.TimeRange) ([]store.Cell, error) {
	found, err := w.r.readRow(ctx, w.k.node.cluster.store, row, &store.Query{
		Columns: columns, MaxVersions: versions, Times: times, StoreLimit: -1, Now: w.now,
	})
	if err != nil {
		return nil, err
	}
	return found.Cells, nil
}
