package hbase

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"brine/hbase"
)

const (
	table       = "chaos"
	slots       = 8    // regions of the new table
	rowsPerSlot = 1000 // a row's key is its slot and its number
	tie         = 4    // number of consecutive mutations of a row that write one cell at one timestamp
)

// The n-th mutation of a row writes three cells to the family e:
//
//	v @ n      n and a digest of row and n: shows which mutations are there
//	d @ n      the digest repeated: the other cells of a mutation must be there if v is
//	o @ n/tie  n: of mutations that write at one timestamp, the last one given must win
var (
	family               = []byte("e")
	version, data, order = []byte("v"), []byte("d"), []byte("o")
)

// fate is what is known about a mutation.
type fate byte

const (
	given        fate = iota // no answer: it may be there
	acknowledged             // it must be there
	refused                  // given up with an error: it may be there
)

// row is the mutations of one row: the fate of mutation n is fates[n-1]. The model's mutex guards it.
type row struct{ fates []fate }

// model is what must be in the table.
type model struct {
	mu      sync.Mutex
	rows    [slots][rowsPerSlot]row
	refused int
}

// mark identifies one mutation.
type mark struct{ slot, row, n int }

func key(slot, row int) []byte { return fmt.Appendf(nil, "%d-%04d", slot, row) }

// give adds the next mutation of a row to a batch.
func (m *model) give(b *hbase.Batch, slot, row int) mark {
	m.mu.Lock()
	r := &m.rows[slot][row]
	r.fates = append(r.fates, given)
	n := len(r.fates)
	m.mu.Unlock()
	k := key(slot, row)
	b.Mutate(k)
	b.Put(family, data, int64(n), dataOf(k, n))
	b.Put(family, order, int64(n/tie), orderOf(n))
	b.Put(family, version, int64(n), versionOf(k, n))
	return mark{slot, row, n}
}

// settle records the outcomes of a batch's mutations.
func (m *model) settle(marks []mark, failed []hbase.MutationError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range marks {
		m.rows[k.slot][k.row].fates[k.n-1] = acknowledged
	}
	for _, f := range failed {
		k := marks[f.Index]
		m.rows[k.slot][k.row].fates[k.n-1] = refused
	}
	m.refused += len(failed)
}

// fates returns the fates of a row's mutations so far.
func (m *model) fates(slot, row int) []fate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.rows[slot][row].fates)
}

func (m *model) refusals() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

// count returns the number of mutations per fate.
func (m *model) count() (n [3]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for slot := range m.rows {
		for i := range m.rows[slot] {
			for _, f := range m.rows[slot][i].fates {
				n[f]++
			}
		}
	}
	return n
}

func digest(key []byte, n int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(key)
	_ = binary.Write(h, binary.BigEndian, uint64(n))
	return h.Sum64()
}

func orderOf(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func versionOf(key []byte, n int) []byte {
	return binary.BigEndian.AppendUint64(orderOf(n), digest(key, n))
}

func dataOf(key []byte, n int) (out []byte) {
	for range 6 {
		out = binary.BigEndian.AppendUint64(out, digest(key, n))
	}
	return out
}
