package sink

import (
	"hash/maphash"
	"sync/atomic"
)

// memory remembers rows (or cells) written of late, to see two different contents on one of them. It is direct-mapped: one
// word for each of memorySlots hashes, a newer name replacing the older. So it sees what lies near in time, and holds 1 MiB.
// A word is 40 bits of the name's hash and 24 of the content's: a false sighting needs 40 equal bits beside the slot's 17.
type memory struct {
	seed  maphash.Seed
	slots []atomic.Uint64
}

const (
	slotBits    = 17
	memorySlots = 1 << slotBits
	contentBits = 24
)

func newMemory() *memory {
	return &memory{seed: maphash.MakeSeed(), slots: make([]atomic.Uint64, memorySlots)}
}

// sum is the hashes of a row and of what its event writes to it.
type sum struct {
	seed         maphash.Seed
	row, content uint64
}

func (m *memory) row(row []byte) sum { return sum{seed: m.seed, row: maphash.Bytes(m.seed, row)} }

// column is a column's number.
func (m *memory) column(family string, qualifier []byte) uint64 {
	return mix(maphash.String(m.seed, family), maphash.Bytes(m.seed, qualifier))
}

// add takes a cell into the content.
func (s *sum) add(column uint64, value []byte) {
	s.content = mix(s.content^maphash.Bytes(s.seed, value), column)
}

// collision reports whether this row was seen first with another content. With the same, it is a redelivery.
func (m *memory) collision(s sum, version int64) bool {
	return m.differs(s.row, mix(s.content, uint64(version)))
}

// tie reports whether this version of the row's column was seen first with another value.
func (m *memory) tie(s sum, column uint64, version int64, value []byte) bool {
	return m.differs(mix(mix(s.row, column), uint64(version)), maphash.Bytes(m.seed, value))
}

// differs keeps the first content of a name: one that comes again, as at a replay, is then found equal.
func (m *memory) differs(name, content uint64) bool {
	slot := &m.slots[name>>(64-slotBits)]
	word := name<<contentBits | content>>(64-contentBits)
	old := slot.Load()
	if old>>contentBits == word>>contentBits {
		return old != word
	}
	slot.Store(word)
	return false
}

// mix makes one hash of two numbers (the finalizer of splitmix64 over their combination).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
