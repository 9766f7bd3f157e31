package event

import (
	"maps"
	"sync"
	"unicode/utf8"
)

// Undeclared counts the names in records for which no field is declared, so that people see what publishers have added. It looks at one
// record in LookEach, starting with the first, and counts in how many of these a name occurs. It is safe for concurrent use: all decoders
// of a pipeline's half share it.
type Undeclared struct {
	mu     sync.Mutex
	looked uint64                // guarded by mu, like the fields below
	names  map[string]*sightings // at most MostUndeclared
	others int64                 // sightings of other names
	name   []byte                // scratch
}

// sightings are the records in which a name was seen.
type sightings struct {
	records int64
	last    uint64 // number of the last such record, as returned by look
}

const (
	// LookEach is how many records there are per record looked at.
	LookEach = 64
	// MostUndeclared bounds the names that are counted separately: a record may hold any number of them.
	MostUndeclared = 100
	longestName    = 100 // bytes; longer ones are truncated
)

// UndeclaredCounts is what an Undeclared has seen.
type UndeclaredCounts struct {
	Looked int64            // number of records looked at
	Names  map[string]int64 // how many of these hold a name, by its path
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

// look starts to look at a record and returns its number, from 1.
func (u *Undeclared) look() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.looked++
	return u.looked
}

// see counts a name below a path in a record. A record counts once, even if it holds the name several times or is read again.
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

// watch marks the nodes whose undeclared members are counted: all on the way to fields, except the envelope's own and the before-image.
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

// Looks reports whether undeclared members of the current record are counted. A Reader then passes each to Undeclared.
func (b *Builder) Looks() bool { return b.look != 0 }

// Undeclared counts a member of the object at n for which no field is declared.
func (b *Builder) Undeclared(n *Node, name []byte) {
	if b.look == 0 || !n.watched {
		return
	}
	if e := b.decoder.envelope; e != nil && e.Unwrapped && len(name) > 1 && name[0] == '_' && name[1] == '_' {
		return // the envelope's
	}
	b.decoder.schema.Undeclared.see(b.look, n.path, name)
}

// lookOut decides whether to look at the current record.
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
