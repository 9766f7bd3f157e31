package indexer

import (
	"bytes"
	"time"
)

// recent holds what partial changes have lately made of documents, so that the next change of one is merged without a read, and written
// under the condition that nobody else has written the document since. It belongs to one lane, which alone writes those documents in this
// process.
//
// What is written never rests on it alone: the index refuses a write whose document is another than the held one, which is then read.
// Nor is a change taken for done because the held document has it already: that too is read.
type recent struct {
	most  int                     // bytes of one generation, with what its map takes
	gens  [generations]generation // the first takes what is written; when it is full, the last is emptied and becomes the first
	homes map[string]*home        // by Op.Index
}

const (
	generations = 4
	entryBytes  = 96 // of an entry in its map
)

// generation holds documents until all of them are forgotten at once.
type generation struct {
	at    map[uint64]entry // by the op's hash
	bytes []byte           // of each entry the id, then the fields (merger.appendHeld)
}

type entry struct {
	from, fields, to   int // in bytes
	seqNo, primaryTerm int64
	home               *home
}

// home is the index itself that a name stands for. Sequence numbers mean something only there: another index that takes its place may have
// a document of the same number.
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

// held is a document as it was last written; it lasts until the next keep.
type held struct {
	fields             []byte // nil: it is not held
	seqNo, primaryTerm int64
}

// take returns what is held of an op's document, and holds it no longer.
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

// keep holds what an op's document has been made, as the engine has answered.
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

// turn forgets the oldest generation and lets it be the first.
func (r *recent) turn() *generation {
	oldest := r.gens[generations-1]
	copy(r.gens[1:], r.gens[:])
	clear(oldest.at)
	oldest.bytes = oldest.bytes[:0]
	r.gens[0] = oldest
	return &r.gens[0]
}

// forget makes everything be read again: the index may not be what it was.
func (r *recent) forget() { clear(r.homes) }
