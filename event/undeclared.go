package event

import (
	"maps"
	"sync"
	"unicode/utf8"
)

// Undeclared counts the names that records hold and that no field is declared of, so that somebody sees what publishers have added. It
// looks at one record in LookEach, the first included, and counts in how many of these a name is. It is safe for concurrent use: all
// decoders of a pipeline's half share it.
type Undeclared struct {
	mu     sync.Mutex
	looked uint64                // guarded by mu, as all that follows
	names  map[string]*sightings // MostUndeclared at most
	others int64                 // sightings of further names
	name   []byte                // scratch
}

// sightings are the records that a name was seen in.
type sightings struct {
	records int64
	last    uint64 // the record of the last one, as look counts them
}

const (
	// LookEach says that one record in so many is looked at.
	LookEach = 64
	// MostUndeclared bounds the names that are counted apart: a record may hold any number of them.
	MostUndeclared = 100
	longestName    = 100 // bytes; longer ones are cut
)

// UndeclaredCounts is what an Undeclared has seen.
type UndeclaredCounts struct {
	Looked int64            // records that were looked at
	Names  map[string]int64 // records of these that hold a name, by the path of it
	Others int64            // sightings of names beyond MostUndeclared
}

// Counts returns what was seen so far.
func (u *Undeclared) Counts() UndeclaredCounts {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := UndeclaredCounts{Looked: int64(u.looked), Names: make(map[string]int64, len(u.names)), Others: u.others}
	for name, s := range u.names {
		out.Names[name] = s.records
	}
	return out
}

// Equal reports whether two counts are the same.
func (c UndeclaredCounts) Equal(d UndeclaredCounts) bool {
	return c.Looked == d.Looked && c.Others == d.Others && maps.Equal(c.Names, d.Names)
}

// look begins to look at a record and returns its number, from 1 on.
func (u *Undeclared) look() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.looked++
	return u.looked
}

// see counts a name below a path in a record. A record that holds it several times, or that is read again, counts once.
func (u *Undeclared) see(record uint64, path string, name []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.name = u.name[:0]
	if path != "" {
		u.name = append(append(u.name, path...), '.')
	}
	u.name = append(u.name, name...)
	for len(u.name) > longestName { // by whole characters
		_, size := utf8.DecodeLastRune(u.name)
		u.name = u.name[:len(u.name)-size]
	}
	s := u.names[string(u.name)]
	switch {
	case s != nil:
	case len(u.names) == MostUndeclared:
		u.others++
		return
	default:
		if u.names == nil {
			u.names = map[string]*sightings{}
		}
		s = &sightings{}
		u.names[string(u.name)] = s
	}
	if s.last != record {
		s.records, s.last = s.records+1, record
	}
}

// watch marks the nodes whose undeclared members are counted: all on the way to fields, but the envelope's own and the before-image.
func (d *Decoder) watch() {
	top := d.root
	switch e := d.envelope; {
	case e == nil || e.Unwrapped:
	case d.images.after != nil:
		top = d.images.after
	}
	top.watch(d.images.before)
}

func (n *Node) watch(but *Node) {
	if n == but || n.field >= 0 {
		return
	}
	n.watched = true
	for _, m := range n.children {
		m.watch(but)
	}
}

// Looks reports whether the members of the record at hand that nobody declared are counted: then a Reader hands each to Undeclared.
func (b *Builder) Looks() bool { return b.look != 0 }

// Undeclared counts a member of the object at n that no field is declared of.
func (b *Builder) Undeclared(n *Node, name []byte) {
	if b.look == 0 || !n.watched {
		return
	}
	if e := b.decoder.envelope; e != nil && e.Unwrapped && len(name) > 1 && name[0] == '_' && name[1] == '_' {
		return // the envelope's
	}
	b.decoder.schema.Undeclared.see(b.look, n.path, name)
}

// lookOut decides whether the record at hand is looked at.
func (b *Builder) lookOut() {
	b.look = 0
	u := b.decoder.schema.Undeclared
	if u == nil {
		return
	}
	if b.records%LookEach == 0 {
		b.look = u.look()
	}
	b.records++
}
