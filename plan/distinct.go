package plan

// maxDistinct is the number of rows that are distinguished exactly, in about 100 MB per Tally. Beyond it, only rows whose hashes lie in an
// ever smaller part of all hashes are, and represent the others (Wegman's adaptive sampling; Flajolet, On adaptive sampling, 1990). The
// error of counts is then about 1/√maxDistinct = 0.07 %.
const maxDistinct = 1 << 21

// mark is what is stored about a row.
type mark struct {
	content uint64 // of the event that came first in the sample
	at      int64
	region  uint32
	differs bool // another event with this row has other content
}

// distinct is a set of rows by their hashes. Those with a hash above limit·2^−level are dropped.
type distinct struct {
	rows  map[uint64]mark
	limit int
	level uint
}

func newDistinct(limit int) distinct { return distinct{rows: make(map[uint64]mark), limit: limit} }

// scale returns the number of rows that each one in the set represents.
func (d *distinct) scale() int { return 1 << d.level }

func (d *distinct) holds(hash uint64) bool { return d.level == 0 || hash>>(64-d.level) == 0 }

// add reports whether the row is the first of its hash in the set.
func (d *distinct) add(hash uint64, m mark) (first bool) {
	if !d.holds(hash) {
		return false
	}
	was, ok := d.rows[hash]
	if ok {
		if m = was.and(m); m == was {
			return false
		}
	}
	d.rows[hash] = m
	for len(d.rows) > d.limit {
		d.level++
		for hash := range d.rows {
			if !d.holds(hash) {
				delete(d.rows, hash)
			}
		}
	}
	return !ok
}

// and combines two marks of a row, in either order.
func (m mark) and(o mark) mark {
	differs := m.differs || o.differs || m.content != o.content
	if o.at < m.at {
		m = o
	}
	m.differs = differs
	return m
}

func (d *distinct) merge(o *distinct) {
	if len(o.rows) > len(d.rows) {
		*d, *o = *o, *d
	}
	d.level = max(d.level, o.level)
	if d.level > 0 {
		for hash := range d.rows {
			if !d.holds(hash) {
				delete(d.rows, hash)
			}
		}
	}
	for hash, m := range o.rows {
		d.add(hash, m)
	}
}
