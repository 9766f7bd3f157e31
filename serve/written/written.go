// Package written joins those who write rows in this process with those who show them: what was shown of rows is marked by the ranges of
// keys that it was read from, and a row that is written hits the marks whose ranges may hold it.
//
// The invariant: a row that anybody knows to be settled has hit every mark that was set on it before it was written, or while it was. Who
// reads sets its mark first and reads then; who writes calls Wrote once the row is durable, and before saying so. Whatever of the two
// comes first, either the reader has read the row, or its mark is hit. A mark may be hit by a row that is none of its ranges': ranges are
// known by what their keys begin with.
package written

import (
	"sync"
	"sync/atomic"
)

const (
	// maxPrefix bounds what a range is known by, and so for how many lengths a row is looked up.
	maxPrefix = 32
	// maxRanges bounds the ranges that a mark is on one by one; more of a table are the whole of it.
	maxRanges = 64
)

// Rows are the rows that this process writes. The zero value is ready, and a nil *Rows is nobody's. They are safe for concurrent use.
type Rows struct {
	marks atomic.Int64 // that are set

	mu     sync.RWMutex
	tables map[string]*table
}

// table is the marks on a table, by the prefixes that they are on. The mutex of Rows holds it.
type table struct {
	at      [maxPrefix + 1]map[string]*marks
	lengths [maxPrefix + 1]int // prefixes of each length
}

// marks are those on a prefix, but for some that are hit already.
//
// hit says that all of them are, and so that another row has nobody to tell: what is known to be old costs a writer one look, however much
// of it there is. It is set with the mutex of Rows held for reading, at the end of a walk, and taken back with that held for writing, where
// a mark is added. So no mark can come between the walk and hit: one that is set before the walk is taken by it, and one that is set after
// it has taken hit back, and waits for the next row. Who sees hit may rely on each mark being hit, since it is set after the last of them.
type marks struct {
	of  map[*Mark]struct{}
	hit atomic.Bool
}

// Keys are the keys of rows.
type Keys interface {
	Len() int
	Row(i int) []byte
}

// Wrote reports that rows of a table are durable, or may be. It costs a few nanoseconds while no mark is set, and allocates nothing.
func (r *Rows) Wrote(name string, keys Keys) {
	if r == nil || r.marks.Load() == 0 {
		return
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	t := r.tables[name]
	if t == nil {
		return
	}
	for i := range keys.Len() {
		t.hit(keys.Row(i))
	}
}

func (t *table) hit(row []byte) {
	for length, n := range t.lengths[:min(len(row), maxPrefix)+1] {
		if n == 0 {
			continue
		}
		p := t.at[length][string(row[:length])]
		if p == nil || p.hit.Load() {
			continue
		}
		for m := range p.of {
			m.take()
		}
		p.hit.Store(true)
	}
}

// Mark is on ranges of keys. Its methods are for one goroutine, but for Hit.
type Mark struct {
	rows   *Rows
	call   func() // nil: nobody is called
	hit    atomic.Bool
	on     []place
	closed bool
}

// place is a prefix of keys of a table.
type place struct{ table, prefix string }

// Mark returns a mark that is on nothing yet. The first row that hits it calls call, if it is not nil, on the goroutine that wrote the row:
// it returns at once, and calls nothing of this package. The mark is to be closed.
func (r *Rows) Mark(call func()) *Mark { return &Mark{rows: r, call: call} }

// Hit reports whether a row was written that may be of the ranges, since they were added.
func (m *Mark) Hit() bool { return m.hit.Load() }

func (m *Mark) take() {
	if !m.hit.Swap(true) && m.call != nil {
		m.call()
	}
}

// Places is on how many prefixes the mark is.
func (m *Mark) Places() int { return len(m.on) }

// Range adds the keys from start up to stop, which is not among them; an empty stop is the end of the table. They are read afterwards.
func (m *Mark) Range(name string, start, stop []byte) { m.add(name, common(start, stop)) }

// Row adds one key.
func (m *Mark) Row(name string, row []byte) { m.add(name, row) }

func (m *Mark) add(name string, prefix []byte) {
	if m.closed {
		return
	}
	p, of := place{name, string(prefix[:min(len(prefix), maxPrefix)])}, 0
	for i := range m.on {
		if m.on[i] == p || m.on[i] == (place{table: name}) {
			return
		}
		if m.on[i].table == name {
			of++
		}
	}
	if of == maxRanges {
		p.prefix = ""
	}
	m.on = append(m.on, p)
	m.rows.set(m, p)
}

// common is what all keys of a range begin with.
func common(start, stop []byte) []byte {
	n := 0
	for n < len(start) && n < len(stop) && start[n] == stop[n] {
		n++
	}
	if n < len(start) && n+1 == len(stop) && stop[n] == start[n]+1 {
		n++ // up to the next prefix
	}
	return start[:n]
}

func (r *Rows) set(m *Mark, p place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tables == nil {
		r.tables = map[string]*table{}
	}
	t := r.tables[p.table]
	if t == nil {
		t = &table{}
		r.tables[p.table] = t
	}
	length := len(p.prefix)
	if t.at[length] == nil {
		t.at[length] = map[string]*marks{}
	}
	on := t.at[length][p.prefix]
	if on == nil {
		on = &marks{of: map[*Mark]struct{}{}}
		t.at[length][p.prefix] = on
		t.lengths[length]++
	}
	if on.hit.Load() {
		clear(on.of) // they are hit, and need no telling again
		on.hit.Store(false)
	}
	on.of[m] = struct{}{}
	r.marks.Add(1)
}

// Close takes the mark away. Hit says afterwards what it said before.
func (m *Mark) Close() {
	m.closed = true
	if len(m.on) == 0 {
		return
	}
	r := m.rows
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range m.on {
		t, length := r.tables[p.table], len(p.prefix)
		r.marks.Add(-1)
		on := t.at[length][p.prefix]
		if on == nil { // the mark was hit, and is forgotten with those that were there
			continue
		}
		if delete(on.of, m); len(on.of) == 0 {
			delete(t.at[length], p.prefix)
			t.lengths[length]--
		}
	}
	m.on = nil
}
