package skew

import (
	"bytes"
	"hash/maphash"
)

// sketch counts the heaviest of any number of keys in bounded memory: Space-Saving (Metwally, Agrawal, El Abbadi 2005). A key without a
// counter takes over the smallest counter with its count, which becomes the bound of its error. So a count is never too small, and too
// large by at most its error; and a key with more than total/len(counters) has a counter.
type sketch struct {
	seed     maphash.Seed
	total    int64
	counters []counter
	table    []int32 // by hash, with linear probing: the counter's position + 1; 0 is free

	// The counters in order of their counts, in runs of equal counts, so that counting one more moves a counter only to the end of its run.
	order []int32
	runs  []run
	free  []int32 // free runs
}

type counter struct {
	hash  uint64
	error int64
	run   int32
	pos   int32 // position in order
	key   []byte
}

// run is the counters with the same count.
type run struct {
	count       int64
	first, last int32 // in order
}

// maxHeavyKey is the number of bytes kept of a key. Keys that share these count as one.
const maxHeavyKey = 128

func newSketch(counters int) *sketch {
	table := 4
	for table < 4*counters {
		table *= 2
	}
	return &sketch{seed: maphash.MakeSeed(), counters: make([]counter, 0, counters), table: make([]int32, table),
		order: make([]int32, 0, counters)}
}

// add adds one to the count of a key.
func (s *sketch) add(key []byte) { s.addTimes(key, 1) }

// addTimes adds times to the count of a key.
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

// find returns the counter of a hash, or −1 and the slot to put it in.
func (s *sketch) find(h uint64) (slot uint64, i int32) {
	mask := uint64(len(s.table) - 1)
	for slot = h & mask; s.table[slot] != 0; slot = (slot + 1) & mask {
		if i := s.table[slot] - 1; s.counters[i].hash == h {
			return slot, i
		}
	}
	return slot, -1
}

// forget frees the slot of a hash, and moves up the entries that were put after it because it was taken.
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

// fresh returns a new counter of 0, alone in its run. The caller counts it at once.
func (s *sketch) fresh(h uint64, key []byte) int32 {
	i := int32(len(s.counters))
	s.counters = append(s.counters, counter{hash: h, pos: i, key: bytes.Clone(key)})
	s.order = append(s.order, i)
	for pos := i; pos > 0; { // move it to the front: the first of each run moves to the run's end
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

// increment counts c's key n more times: c moves to the end of its run, and past the counters that it now exceeds.
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

// missing returns the most times that a key without a counter can have been counted.
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
