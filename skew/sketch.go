package skew

import (
	"bytes"
	"hash/maphash"
)

// sketch counts the heaviest of any number of keys in bounded memory: Space-Saving (Metwally, Agrawal, El Abbadi 2005). A key that
// has no counter takes over the smallest one with its count, which becomes the bound of its error: so a count is never too small,
// and too large by its error at most; and a key of more than total/len(counters) has a counter.
type sketch struct {
	seed     maphash.Seed
	total    int64
	counters []counter
	table    []int32 // by hash, with linear probing: the counter's position + 1; 0 is free

	// The counters in the order of their counts, in runs of equal ones, so that counting one more moves a counter to the end of
	// its run and no further.
	order []int32
	runs  []run
	free  []int32 // of runs
}

type counter struct {
	hash  uint64
	error int64
	run   int32
	pos   int32 // in order
	key   []byte
}

// run is the counters of one count.
type run struct {
	count       int64
	first, last int32 // in order
}

// maxHeavyKey is how much of a key is kept; keys that begin so are one.
const maxHeavyKey = 128

func newSketch(counters int) *sketch {
	table := 4
	for table < 4*counters {
		table *= 2
	}
	return &sketch{seed: maphash.MakeSeed(), counters: make([]counter, 0, counters), table: make([]int32, table),
		order: make([]int32, 0, counters)}
}

// add counts a key once more.
func (s *sketch) add(key []byte) { s.addTimes(key, 1) }

// addTimes counts a key so many times more.
func (s *sketch) addTimes(key []byte, times int64) {
	key = key[:min(len(key), maxHeavyKey)]
	h := maphash.Bytes(s.seed, key)
	s.total += times
	slot, i := s.find(h)
	switch {
	case i >= 0:
	case len(s.counters) < cap(s.counters):
		i = s.fresh(h, key)
		s.table[slot] = i + 1
	default:
		i = s.order[0]
		c := &s.counters[i]
		s.forget(c.hash)
		c.hash, c.error, c.key = h, s.runs[c.run].count, append(c.key[:0], key...)
		slot, _ = s.find(h)
		s.table[slot] = i + 1
	}
	s.increment(&s.counters[i], times)
}

// find returns the counter of a hash, else −1 and the slot to put it in.
func (s *sketch) find(h uint64) (slot uint64, i int32) {
	mask := uint64(len(s.table) - 1)
	for slot = h & mask; s.table[slot] != 0; slot = (slot + 1) & mask {
		if i := s.table[slot] - 1; s.counters[i].hash == h {
			return slot, i
		}
	}
	return slot, -1
}

// forget frees the slot of a hash, and moves up those that were put behind it because of it.
func (s *sketch) forget(h uint64) {
	mask := uint64(len(s.table) - 1)
	hole, _ := s.find(h)
	for slot := (hole + 1) & mask; s.table[slot] != 0; slot = (slot + 1) & mask {
		home := s.counters[s.table[slot]-1].hash & mask
		if (slot-home)&mask >= (slot-hole)&mask {
			s.table[hole] = s.table[slot]
			hole = slot
		}
	}
	s.table[hole] = 0
}

// fresh makes a counter of 0, which is counted at once. It is the only one of its run.
func (s *sketch) fresh(h uint64, key []byte) int32 {
	i := int32(len(s.counters))
	s.counters = append(s.counters, counter{hash: h, pos: i, key: bytes.Clone(key)})
	s.order = append(s.order, i)
	for pos := i; pos > 0; { // to the front: each run's first goes to its end
		r := &s.runs[s.counters[s.order[pos-1]].run]
		s.swap(pos, r.first)
		pos = r.first
		r.first, r.last = r.first+1, r.last+1
	}
	s.counters[i].run = s.newRun(run{0, 0, 0})
	return i
}

func (s *sketch) newRun(r run) int32 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.runs[i] = r
		return i
	}
	s.runs = append(s.runs, r)
	return int32(len(s.runs) - 1)
}

// increment counts c's key n times more: it goes to the end of its run, and past those whose counts it comes to exceed.
func (s *sketch) increment(c *counter, n int64) {
	count := s.runs[c.run].count + n
	for {
		r := &s.runs[c.run]
		s.swap(c.pos, r.last)
		next := int32(-1)
		if n := r.last + 1; int(n) < len(s.order) {
			next = s.counters[s.order[n]].run
		}
		if next < 0 || s.runs[next].count > count {
			if r.first == r.last {
				r.count = count
				return
			}
			r.last--
			c.run = s.newRun(run{count, c.pos, c.pos})
			return
		}
		if r.last--; r.last < r.first {
			s.free = append(s.free, c.run)
		}
		c.run = next
		s.runs[next].first--
		if s.runs[next].count == count {
			return
		}
	}
}

func (s *sketch) swap(i, j int32) {
	s.order[i], s.order[j] = s.order[j], s.order[i]
	s.counters[s.order[i]].pos, s.counters[s.order[j]].pos = i, j
}

// missing is how often a key without a counter was counted at most.
func (s *sketch) missing() int64 {
	if len(s.counters) < cap(s.counters) {
		return 0
	}
	return s.runs[s.counters[s.order[0]].run].count
}

func (s *sketch) reset() {
	s.counters, s.order, s.runs, s.free, s.total = s.counters[:0], s.order[:0], s.runs[:0], s.free[:0], 0
	clear(s.table)
}

func (s *sketch) of(key string) (rows, bound int64) {
	if _, i := s.find(maphash.String(s.seed, key)); i >= 0 {
		return s.runs[s.counters[i].run].count, s.counters[i].error
	}
	return s.missing(), s.missing()
}
