// Package written connects the writers of rows in this process with those who show them. What was shown is marked by the key ranges that it
// was read from, and a row that is written hits the marks whose ranges may hold it.
//
// The invariant: a row that anybody knows to be settled has hit every mark that was set before or while it was written. A reader sets its
// mark first and then reads; a writer calls Wrote once the row is durable, and before it reports that. So either the reader has read the
// row, or its mark is hit. A mark may also be hit by a row outside its ranges, because ranges are known only by their common prefixes.
package written

import (
	"sync"
	"sync/atomic"
)

const (
	// maxPrefix limits the prefix of a range, and so the number of lengths for which a row is looked up.
	maxPrefix = 32
	// maxRanges limits the ranges of a mark in a table; beyond it, the mark covers the whole table.
	maxRanges = 64
)

// Rows tracks the rows that this process writes. The zero value is ready to use, and a nil *Rows ignores writes. It is safe for concurrent
// use.
type Rows struct {
	marks atomic.Int64 // the number of places with marks

	mu     sync.RWMutex
	tables map[string]*table
}

// table is the marks on a table, by prefix. The mutex of Rows guards it.
type table struct {
	at      [maxPrefix + 1]map[string]*marks
	lengths [maxPrefix + 1]int // number of prefixes of each length
}

// marks are the marks on a prefix, except some that are already hit.
//
// hit says that all of them are hit, so that another row need not visit them: once a prefix is stale, each further row costs the writer one
// load. hit is set with the mutex of Rows held for reading, at the end of a walk, and cleared with the mutex held for writing, when a mark
// is added. So no mark can be added between the walk and setting hit: a mark added before the walk is visited by it, and a mark added after
// it clears hit and waits for the next row. Whoever sees hit can rely on each mark being hit, because hit is set after the last of them.
type marks struct {
	of  map[*Mark]struct{}
	hit atomic.Bool
}

// Keys are the keys of rows.
type Keys interface {
	Len() int
	Row(i int) []byte
}

// Wrote reports that rows of a table are durable, or may be. Without any mark it takes a few nanoseconds, and it does not allocate.
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

// Mark is a mark on ranges of keys. Its methods, except Hit, are not safe for concurrent use.
type Mark struct {
	rows   *Rows
	call   func() // may be nil
	hit    atomic.Bool
	on     []place
	closed bool
}

// place is a prefix of keys of a table.
type place struct{ table, prefix string }

// Mark returns a mark without ranges. The first row that hits it calls call, unless it is nil, on the goroutine that wrote the row. call
// must return at once, and must not call this package. The caller closes the mark.
func (r *Rows) Mark(call func()) *Mark { return &Mark{rows: r, call: call} }

// Hit reports whether a row that may be in the ranges was written after they were added.
func (m *Mark) Hit() bool { return m.hit.Load() }

func (m *Mark) take() {
	if !m.hit.Swap(true) && m.call != nil {
		m.call()
	}
}

// Places returns the number of prefixes that the mark is on.
func (m *Mark) Places() int { return len(m.on) }

// Range adds the keys in [start, stop); an empty stop is the end of the table. The caller reads them afterwards.
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

// common returns the common prefix of all keys of a range.
func common(start, stop []byte) []byte {
	n := 0
	for n < len(start) && n < len(stop) && start[n] == stop[n] {
		n++
	}
	if n < len(start) && n+1 == len(stop) && stop[n] == start[n]+1 {
		n++ // stop is the next prefix
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
		clear(on.of) // they are hit, and need no further visit
		on.hit.Store(false)
	}
	on.of[m] = struct{}{}
	r.marks.Add(1)
}

// Close removes the mark. Hit keeps its value.
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
		if on == nil { // the mark was hit, and was cleared with the others
			continue
		}
		if delete(on.of, m); len(on.of) == 0 {
			delete(t.at[length], p.prefix)
			t.lengths[length]--
		}
	}
	m.on = nil
}
