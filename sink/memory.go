package sink

import (
	"hash/maphash"
	"sync/atomic"

	"brine/event"
)

// memory remembers recently written rows (or cells) to detect different contents under one name. It is direct-mapped: it has one slot for
// each of memorySlots hashes, and a newer name replaces the older. So it detects only what is close in time, and takes 2 MiB.
type memory struct {
	seed  maphash.Seed
	slots []slot // nil: nobody wants to know, so nothing is remembered or hashed
}

// slot holds a name that was seen. Its word is 40 bits of the name's hash and 24 of the content's: a false match needs 40 equal bits
// besides the 17 that select the slot. word and at are not written atomically together, so at may, rarely, belong to a name seen just
// before or after.
type slot struct{ word, at atomic.Uint64 }

// place is the position of a record: 16 bits of its partition and 48 of its offset.
type place uint64

func placeOf(rec *event.Record) place { return place(rec.Partition)<<48 | place(rec.Offset)&(1<<48-1) }

func (p place) partition() int { return int(p >> 48) }
func (p place) offset() int64  { return int64(p & (1<<48 - 1)) }

const (
	slotBits    = 17
	memorySlots = 1 << slotBits
	contentBits = 24

	tied = 1<<contentBits - 1 // in place of a content: two different ones were seen
)

func newMemory(wanted bool) *memory {
	m := &memory{seed: maphash.MakeSeed()}
	if wanted {
		m.slots = make([]slot, memorySlots)
	}
	return m
}

// sum holds the hash of a row and the hash of what its event writes to it. The zero sum is that of a memory that remembers nothing.
type sum struct {
	seed         maphash.Seed
	row, content uint64
	counts       bool
}

func (m *memory) row(row []byte) sum {
	if m.slots == nil {
		return sum{}
	}
	return sum{seed: m.seed, row: maphash.Bytes(m.seed, row), counts: true}
}

// column returns the id of a column.
func (m *memory) column(family string, qualifier []byte) uint64 {
	return mix(maphash.String(m.seed, family), maphash.Bytes(m.seed, qualifier))
}

// add mixes a cell into the content.
func (s *sum) add(column uint64, value []byte) {
	if !s.counts {
		return
	}
	s.content = mix(s.content^maphash.Bytes(s.seed, value), column)
}

// collision reports whether this row was first seen with another content. Equal content is a redelivery.
func (m *memory) collision(s sum, version int64) bool {
	return s.counts && m.differs(s.row, mix(s.content, uint64(version)))
}

// tie reports whether this version of the row's column was first seen with another value, and where. It reports each tie once: what comes
// again later, as in a replay, adds nothing to it.
func (m *memory) tie(s sum, column uint64, version int64, value []byte, at place) (first place, ties bool) {
	if !s.counts {
		return 0, false
	}
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

// differs reports whether the name was first seen with another content. It keeps the first content, so that a replay finds it equal.
func (m *memory) differs(name, content uint64) bool {
	slot, word := m.slot(name, content)
	old := slot.word.Load()
	if old>>contentBits == word>>contentBits {
		return old != word
	}
	slot.word.Store(word)
	return false
}

// slot returns the slot of a name, and the word that stands for this content in it.
func (m *memory) slot(name, content uint64) (s *slot, word uint64) {
	if content >>= 64 - contentBits; content == tied {
		content--
	}
	return &m.slots[name>>(64-slotBits)], name<<contentBits | content
}

// mix hashes two numbers into one (the finalizer of splitmix64 over their combination).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
