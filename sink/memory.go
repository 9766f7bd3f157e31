package sink

import (
	"hash/maphash"
	"sync/atomic"

	"brine/event"
)

// memory remembers rows (or cells) written of late, to see two different contents on one of them. It is direct-mapped: one
// slot for each of memorySlots hashes, a newer name replacing the older. So it sees what lies near in time, and holds 2 MiB.
type memory struct {
	seed  maphash.Seed
	slots []slot
}

// slot is a name that was seen. Its word is 40 bits of the name's hash and 24 of the content's: a false sighting needs 40 equal bits
// beside the slot's 17. Word and place are not written as one: a place may, rarely, be that of a name seen just before or after.
type slot struct{ word, at atomic.Uint64 }

// place is where a record lies: 16 bits of its partition and 48 of its offset.
type place uint64

func placeOf(rec *event.Record) place { return place(rec.Partition)<<48 | place(rec.Offset)&(1<<48-1) }

func (p place) partition() int { return int(p >> 48) }
func (p place) offset() int64  { return int64(p & (1<<48 - 1)) }

const (
	slotBits    = 17
	memorySlots = 1 << slotBits
	contentBits = 24

	tied = 1<<contentBits - 1 // instead of a content: two were seen
)

func newMemory() *memory {
	return &memory{seed: maphash.MakeSeed(), slots: make([]slot, memorySlots)}
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

// tie reports whether this version of the row's column was seen first with another value, and where. It does so once: what comes
// again later, as at a replay, ties no more than it did.
func (m *memory) tie(s sum, column uint64, version int64, value []byte, at place) (first place, ties bool) {
	name := mix(mix(s.row, column), uint64(version))
	slot, word := m.slot(name, maphash.Bytes(m.seed, value))
	old := slot.word.Load()
	switch {
	case old>>contentBits != word>>contentBits:
		slot.word.Store(word)
		slot.at.Store(uint64(at))
	case old != word && old&tied != tied:
		slot.word.Store(word | tied)
		return place(slot.at.Load()), true
	}
	return 0, false
}

// differs keeps the first content of a name: one that comes again, as at a replay, is then found equal.
func (m *memory) differs(name, content uint64) bool {
	slot, word := m.slot(name, content)
	old := slot.word.Load()
	if old>>contentBits == word>>contentBits {
		return old != word
	}
	slot.word.Store(word)
	return false
}

// slot is that of a name, and the word for this content in it.
func (m *memory) slot(name, content uint64) (s *slot, word uint64) {
	if content >>= 64 - contentBits; content == tied {
		content--
	}
	return &m.slots[name>>(64-slotBits)], name<<contentBits | content
}

// mix makes one hash of two numbers (the finalizer of splitmix64 over their combination).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
