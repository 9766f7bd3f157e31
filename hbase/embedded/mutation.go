package embedded

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// mutation is a decoded change of one row. Its cells are views of the request.
type mutation struct {
	row   []byte
	kind  hbasepb.MutationProto_MutationType
	cells []wire.Cell
	ttl   int64 // store.NoTTL: no TTL of its own
	proto *hbasepb.MutationProto
}

// mutation decodes a mutation, taking its cells from the cell block or from the message. It always consumes all of the mutation's cells,
// even if it returns an error for one of them, so that the next mutation finds its own.
func (k *call) mutation(p *hbasepb.MutationProto, cells []wire.Cell) (m mutation, err error) {
	m = mutation{row: p.GetRow(), kind: p.GetMutateType(), ttl: store.NoTTL, proto: p, cells: cells[len(cells):]}
	for _, a := range p.Attribute {
		if a.GetName() == "_ttl" {
			defer func() { err = cmp.Or(err, m.setTTL(a.Value)) }()
		}
	}
	if p.AssociatedCellCount != nil {
		for range p.GetAssociatedCellCount() {
			c, err := k.cell()
			if err != nil {
				return m, err
			}
			m.cells = append(m.cells, c)
		}
		if len(m.row) == 0 && len(m.cells) > 0 {
			m.row = m.cells[0].Row
		}
	}
	for _, f := range p.ColumnValue {
		for _, q := range f.QualifierValue {
			if len(q.GetTags()) > 0 {
				return m, unsupported("cell tags")
			}
			m.cells = append(m.cells, protoCell(p, f.GetFamily(), q))
		}
	}
	return m, nil
}

// setTTL sets the mutation's TTL from an attribute's value, an int64.
func (m *mutation) setTTL(value []byte) error {
	switch {
	case m.kind == hbasepb.MutationProto_INCREMENT, m.kind == hbasepb.MutationProto_APPEND:
		return unsupported("a time to live of an increment or an append: set the column family's TTL")
	case len(value) != 8:
		return final(classIllegalArgument, "a time to live of %d bytes", len(value))
	}
	m.ttl = int64(binary.BigEndian.Uint64(value))
	return nil
}

// skip consumes the cells of a mutation that is not applied.
func (k *call) skip(p *hbasepb.MutationProto) {
	for range p.GetAssociatedCellCount() {
		if _, err := k.cell(); err != nil {
			return // the following mutations find no cells either, and fail
		}
	}
}

func protoCell(p *hbasepb.MutationProto, family []byte, q *hbasepb.MutationProto_ColumnValue_QualifierValue) wire.Cell {
	c := wire.Cell{Row: p.GetRow(), Family: family, Qualifier: q.GetQualifier(), Value: q.GetValue(),
		Timestamp: store.LatestTimestamp, Type: wire.Put}
	switch {
	case q.Timestamp != nil:
		c.Timestamp = int64(q.GetTimestamp())
	case p.Timestamp != nil:
		c.Timestamp = int64(p.GetTimestamp())
	}
	if p.GetMutateType() == hbasepb.MutationProto_DELETE || q.DeleteType != nil {
		switch q.GetDeleteType() {
		case hbasepb.MutationProto_DELETE_ONE_VERSION:
			c.Type = wire.Delete
		case hbasepb.MutationProto_DELETE_MULTIPLE_VERSIONS:
			c.Type = wire.DeleteColumn
		case hbasepb.MutationProto_DELETE_FAMILY:
			c.Type = wire.DeleteFamily
		case hbasepb.MutationProto_DELETE_FAMILY_VERSION:
			c.Type = wire.DeleteFamilyVersion
		}
	}
	return c
}

// checkSizes returns an exception if a cell is too large. As in HBase, it fails all mutations that are applied together with this one.
func (m *mutation) checkSizes(limit int) error {
	for i := range m.cells {
		c := &m.cells[i]
		if size := wire.CellSize(len(c.Row), len(c.Family), len(c.Qualifier), len(c.Value)); size > limit {
			return final(classDoNotRetry, "Cell[%q/%s:%q/%d] with size %d exceeds limit of %d bytes", c.Row, c.Family, c.Qualifier,
				c.Timestamp, size, limit)
		}
	}
	return nil
}

// check returns the exception for this mutation alone, if any.
func (m *mutation) check(r *region) error {
	if len(m.row) > wire.MaxRowLen {
		return final(classIllegalArgument, "Row length %d is > %d", len(m.row), wire.MaxRowLen)
	}
	if err := r.check(m.row, "batchMutate"); err != nil {
		return err
	}
	families := r.schema()
	for i := range m.cells {
		c := &m.cells[i]
		switch t := store.Type(c.Type); {
		case !bytes.Equal(c.Row, m.row):
			return final(hbasePackage+"client.WrongRowIOException", "The row in %q doesn't match the original one %q", c.Row, m.row)
		case !t.Valid():
			return final(classDoNotRetry, "cell type %d", c.Type)
		case m.kind == hbasepb.MutationProto_DELETE && !t.IsDelete():
			return final(classDoNotRetry, "a delete of row %q holds a put", m.row)
		case families.Find(c.Family) == nil:
			return final(classNoFamily, "Column family %s does not exist in region %s in table %s", c.Family, r.name, r.table.name)
		}
	}
	return nil
}

// readsFirst reports whether the mutation reads existing cells first, so that no other write may come in between.
func (m *mutation) readsFirst() bool {
	if m.kind == hbasepb.MutationProto_INCREMENT || m.kind == hbasepb.MutationProto_APPEND {
		return true
	}
	for i := range m.cells {
		if c := &m.cells[i]; store.Type(c.Type) == store.Delete && c.Timestamp == store.LatestTimestamp {
			return true
		}
	}
	return false
}

// writer applies checked mutations of one region, all or none.
type writer struct {
	k   *call
	r   *region
	b   *store.Batch
	now int64

	results []store.Cell // results of increments and appends
}

// apply applies the mutations and returns the cells that increments and appends produced. If condition is not nil, apply calls it first,
// with other writers locked out; if it returns false, nothing is applied and applied is false.
func (k *call) apply(ctx context.Context, r *region, ms []mutation, condition func() (bool, error)) (applied bool,
	results []store.Cell, err error) {
	if err := r.writable(); err != nil {
		return false, nil, err
	}
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

// addDeleteRow deletes all families of a row, for a delete that names none.
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

// latest returns the timestamp that a delete of the newest version refers to. If a mutation has several such deletes of one column, the
// first refers to the newest version, the next to the one before, and so on.
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

// addDelta adds the cells of an increment or an append, ordered by column as in its answer. Each combines the newest value of the column,
// if there is one, with the new part.
func (w *writer) addDelta(ctx context.Context, m *mutation) error {
	slices.SortStableFunc(m.cells, func(a, b wire.Cell) int {
		return cmp.Or(bytes.Compare(a.Family, b.Family), bytes.Compare(a.Qualifier, b.Qualifier))
	})
	times := timeRange(m.proto.TimeRange)
	for i := range m.cells {
		c := &m.cells[i]
		old, err := w.read(ctx, m.row, []store.FamilyColumns{{Family: c.Family, Qualifiers: [][]byte{c.Qualifier}}}, 1, times)
		if err != nil {
			return err
		}
		ts := w.now
		if c.Timestamp != store.LatestTimestamp {
			ts = c.Timestamp
		}
		var before []byte
		if len(old) > 0 {
			before = old[0].Value
			ts = max(ts, old[0].Timestamp) // so that the value it is based on does not hide it
		}
		value, err := combine(m.kind, c, before)
		if err != nil {
			return err
		}
		if size := wire.CellSize(len(m.row), len(c.Family), len(c.Qualifier), len(value)); size > w.k.node.cluster.opts.MaxCell {
			return final(classDoNotRetry, "Cell[%q/%s:%q] with size %d exceeds limit of %d bytes", m.row, c.Family, c.Qualifier, size,
				w.k.node.cluster.opts.MaxCell)
		}
		if err := w.b.Add(w.r.table.space, m.row, c.Family, c.Qualifier, ts, store.Put, value); err != nil {
			return err
		}
		w.results = append(w.results, store.Cell{Row: m.row, Family: c.Family, Qualifier: c.Qualifier, Timestamp: ts,
			Type: store.Put, Value: value})
	}
	return nil
}

func combine(kind hbasepb.MutationProto_MutationType, c *wire.Cell, before []byte) ([]byte, error) {
	if kind == hbasepb.MutationProto_APPEND {
		return append(append([]byte{}, before...), c.Value...), nil
	}
	for _, v := range [][]byte{before, c.Value} {
		if v != nil && len(v) != 8 {
			return nil, final(classDoNotRetry, "Field is not a long, it's %d bytes wide", len(v))
		}
	}
	sum := binary.BigEndian.Uint64(c.Value)
	if before != nil {
		sum += binary.BigEndian.Uint64(before)
	}
	return binary.BigEndian.AppendUint64(nil, sum), nil
}

// wantsResults reports whether the client wants the new cells of an increment or append, which is the default.
func wantsResults(p *hbasepb.MutationProto) bool {
	for _, a := range p.Attribute {
		if a.GetName() == "_rr_" {
			return len(a.Value) > 0 && a.Value[0] != 0
		}
	}
	return true
}

// deltas remembers the nonces of applied increments and appends. A request that is sent again because its answer was lost is answered with
// the current values of its columns and is not applied twice. HBase remembers nonces for half an hour; deltas remembers the last
// keptDeltas.
type deltas struct {
	mu   sync.Mutex
	done map[nonce]struct{}
	ring []nonce
	next int
}

const keptDeltas = 100_000

// deltaOf returns the nonce of the mutations, which belong to one request; ok is false if there is none.
func deltaOf(ms []mutation, group uint64) (n nonce, ok bool) {
	for i := range ms {
		switch ms[i].kind {
		case hbasepb.MutationProto_INCREMENT, hbasepb.MutationProto_APPEND:
			if id := ms[i].proto.GetNonce(); id != 0 {
				return nonce{group, id}, true
			}
		}
	}
	return n, false
}

// again reports whether the mutations were applied before, and returns the current cells of their columns.
func (k *call) again(ctx context.Context, r *region, ms []mutation, group uint64) (bool, []store.Cell, error) {
	n, ok := deltaOf(ms, group)
	if !ok || !k.node.cluster.deltas.has(n) {
		return false, nil, nil
	}
	leave, err := r.enter(k.node, false)
	if err != nil {
		return false, nil, err
	}
	defer leave()
	w := writer{k: k, r: r, now: k.now()}
	var cells []store.Cell
	for i := range ms {
		for j := range ms[i].cells {
			c := &ms[i].cells[j]
			found, err := w.read(ctx, ms[i].row, []store.FamilyColumns{{Family: c.Family, Qualifiers: [][]byte{c.Qualifier}}}, 1, store.AllTime)
			if err != nil {
				return false, nil, err
			}
			cells = append(cells, found...)
		}
	}
	return true, cells, nil
}

// remember records the mutations as applied.
func (k *call) remember(ms []mutation, group uint64) {
	if n, ok := deltaOf(ms, group); ok {
		k.node.cluster.deltas.add(n)
	}
}

func (d *deltas) has(n nonce) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.done[n]
	return ok
}

func (d *deltas) add(n nonce) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done == nil {
		d.done, d.ring = make(map[nonce]struct{}), make([]nonce, keptDeltas)
	}
	delete(d.done, d.ring[d.next])
	d.done[n], d.ring[d.next] = struct{}{}, n
	d.next = (d.next + 1) % keptDeltas
}
