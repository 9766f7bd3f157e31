package indexer

import (
	"bytes"
	"time"
)

// recent holds the documents that partial changes have lately written, so that the next change of one can be merged without a read, and
// written on the condition that nobody else has written the document since. It belongs to one lane, which is the only one in this process
// that writes those documents.
//
// A write never relies on it alone: the index refuses the write if its document differs from the held one, and the document is then read. A
// change is not considered done because the held document already contains it, either: the document is then read, too.
type recent struct {
	most  int                     // the size of one generation in bytes, including its map
	gens  [generations]generation // writes go to the first; when it is full, the last is emptied and becomes the first
	homes map[string]*home        // by Op.Index
}

const (
	generations = 4
	entryBytes  = 96 // of an entry in its map
)

// generation holds documents until all of them are dropped at once.
type generation struct {
	at    map[uint64]entry // by the op's hash
	bytes []byte           // for each entry the id, then the fields (merger.appendHeld)
}

type entry struct {
	from, fields, to   int // in bytes
	seqNo, primaryTerm int64
	home               *home
}

// home is the actual index that a name stands for. Sequence numbers are valid only there: another index that takes its place may have a
// document with the same number.
type home struct {
	name string
	seen time.Time // when an answer last named it
}

const homeLasts = 10 * time.Second // without an answer, until the name may stand for another index

func newRecent(most int) *recent {
	r := &recent{most: most / generations, homes: map[string]*home{}}
	for i := range r.gens {
		r.gens[i].at = map[uint64]entry{}
	}
	return r
}

// held is a document as it was last written; it is valid until the next keep.
type held struct {
	fields             []byte // nil: it is not held
	seqNo, primaryTerm int64
}

// take returns the held document of an op, and removes it.
func (r *recent) take(o *op, now time.Time) held {
	for i := range r.gens {
		g := &r.gens[i]
		e, ok := g.at[o.hash]
		if !ok {
			continue
		}
		delete(g.at, o.hash)
		if e.home != r.homes[o.index] || now.Sub(e.home.seen) > homeLasts || !bytes.Equal(g.bytes[e.from:e.fields], o.id) {
			break
		}
		return held{g.bytes[e.fields:e.to:e.to], e.seqNo, e.primaryTerm}
	}
	return held{}
}

// keep holds the document that an op has written, as the engine has answered.
func (r *recent) keep(o *op, fields []byte, written *Result, now time.Time) {
	if written.Home == "" {
		return
	}
	h := r.homes[o.index]
	if h == nil || h.name != written.Home {
		h = &home{name: written.Home}
		r.homes[o.index] = h
	}
	h.seen = now
	size := len(o.id) + len(fields)
	g := &r.gens[0]
	if len(g.bytes)+size+entryBytes*(len(g.at)+1) > r.most {
		if size+entryBytes > r.most {
			return
		}
		g = r.turn()
	}
	from := len(g.bytes)
	g.bytes = append(append(g.bytes, o.id...), fields...)
	g.at[o.hash] = entry{from, from + len(o.id), len(g.bytes), written.SeqNo, written.PrimaryTerm, h}
}

// turn drops the oldest generation and makes it the first.
func (r *recent) turn() *generation {
	oldest := r.gens[generations-1]
	copy(r.gens[1:], r.gens[:])
	clear(oldest.at)
	oldest.bytes = oldest.bytes[:0]
	r.gens[0] = oldest
	return &r.gens[0]
}

// forget makes sure that every document is read again, because the index may have changed.
func (r *recent) forget() { clear(r.homes) }
