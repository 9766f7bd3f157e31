package embedded

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// addDelta adds the cells of an increment or an append, in the order of their columns as its answer has them: the newest value
// of each column, if there is one, and the new part.
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
			ts = max(ts, old[0].Timestamp) // not hidden behind what it builds on
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

// wantsResults reports whether an increment's or append's client asked for the new cells, which is the default.
func wantsResults(p *hbasepb.MutationProto) bool {
	for _, a := range p.Attribute {
		if a.GetName() == "_rr_" {
			return len(a.Value) > 0 && a.Value[0] != 0
		}
	}
	return true
}

// deltas remembers the increments and appends that were done, by nonce: one that is sent again because its answer was lost
// is answered with what its columns hold now, and not done twice. HBase remembers them for half an hour; here keptDeltas are.
type deltas struct {
	mu   sync.Mutex
	done map[nonce]struct{}
	ring []nonce
	next int
}

const keptDeltas = 100_000

// deltaOf returns the nonce of the mutations, which are of one request; ok is false when there is none.
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

// again reports whether the mutations were done before, and returns what their columns hold.
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

// remember notes that the mutations are done.
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
