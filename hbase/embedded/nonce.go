package embedded

import (
	"context"
	"sync"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// deltas remembers the increments and appends that were done, by nonce: one that is sent again because its answer was lost
// is answered with what its columns hold now, and not done twice. HBase remembers them for half an hour; so many here.
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
