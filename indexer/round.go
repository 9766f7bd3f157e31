package indexer

import (
	"context"
	"time"

	"github.com/valyala/fastjson"
)

// group is the ops of one document that one write settles, in order.
type group struct {
	first, last *op
	n           int
	held        held  // for a partial change: the document, which then needs no read
	former      int64 // for a partial change: the document's version before it; −1: there was none
}

// postponed stands in place of the group for documents that wait.
const postponed = -1

// gather groups the front of pending by document, up to the limits of one call. If one change of a document waits, all of them wait, so
// that they keep their order, and so they do until an owed earlier change is submitted again. Other documents do not wait.
func (l *lane) gather(now time.Time) {
	clear(l.byHash)
	clear(l.parts)
	l.groups, l.scanned, l.pauseErr, l.due = l.groups[:0], 0, nil, time.Time{}
	l.failed, l.waiting, l.rereads, l.decided, l.lapsed = 0, 0, 0, 0, 0
	size, maxBytes := 0, l.w.pace.limit()
	for _, o := range l.pending {
		o.next, o.outcome = nil, untried
		at, ok := l.byHash[o.hash]
		switch {
		case l.owed.holds(o, now):
			if now.Before(o.deadline) {
				l.wait(o.deadline)
			} else {
				l.lapsed++
				o.fail(Retried, failureOf(o, wait, errOwed))
			}
		case ok && at == postponed:
		case ok:
			if g := &l.groups[at]; g.first.same(o) && !o.alone && !g.first.alone && !now.Before(o.due) {
				o.outcome = Again
				g.last.next, g.last, g.n = o, o, g.n+1
				size += len(o.source)
			} // otherwise it keeps its place and waits for the next round
		case now.Before(o.due):
			l.byHash[o.hash] = postponed
			l.wait(o.due)
		default:
			size += len(o.source)
			if len(l.groups) >= l.maxDocs || len(l.groups) > 0 && size > maxBytes {
				return
			}
			o.outcome = Again
			l.byHash[o.hash] = len(l.groups)
			l.groups = append(l.groups, group{first: o, last: o, n: 1})
		}
		l.scanned++
	}
}

// wait records a time at which something may be sent again.
func (l *lane) wait(due time.Time) {
	if l.due.IsZero() || due.Before(l.due) {
		l.due = due
	}
}

// write turns the groups into operations, sends them and decides every outcome.
func (l *lane) write() {
	if err := l.read(); err != nil {
		l.failCall(l.sent, err)
		return
	}
	l.prepare()
	maxBytes := l.w.pace.limit()
	for from := 0; from < len(l.ops); {
		to, size := from+1, len(l.ops[from].Source)
		for to < len(l.ops) && size+len(l.ops[to].Source) <= maxBytes {
			size += len(l.ops[to].Source)
			to++
		}
		if !l.send(from, to, size) {
			return
		}
		from = to
	}
}

// read reads the stored documents of the groups of partial changes, except those that are held.
func (l *lane) read() error {
	l.refs, l.sent = l.refs[:0], l.sent[:0]
	now := time.Now()
	for i := range l.groups {
		g := &l.groups[i]
		if o := g.first; o.doc.Changes == Partial {
			if g.held = l.recent.take(o, now); g.held.fields != nil {
				continue
			}
			l.refs = append(l.refs, Ref{Index: o.index, ID: o.id})
			l.sent = append(l.sent, i)
		}
	}
	if len(l.refs) == 0 {
		return nil
	}
	l.stored = append(l.stored[:0], make([]Stored, len(l.refs))...)
	return l.call(CallGet, l.sent, 0, func(ctx context.Context) error {
		return l.w.engine.Get(ctx, l.refs, l.stored)
	})
}

// prepare makes one operation for every group that has something to write.
func (l *lane) prepare() {
	l.ops, l.sent, l.made, l.scratch = l.ops[:0], l.sent[:0], l.made[:0], l.scratch[:0]
	read := 0
	for i := range l.groups {
		g := &l.groups[i]
		write := Op{Kind: Put, Index: g.first.index, ID: g.first.id}
		var made []byte
		switch {
		case g.first.doc.Changes == Whole:
			newest := g.newest()
			write.Source, write.Version = newest.source, newest.version
		case g.held.fields != nil:
			if made = l.mergeHeld(g, &write); made == nil {
				continue // it is no longer held, and the next round reads it
			}
		default:
			read++
			var changed bool
			var err error
			if changed, made, err = l.merge(g, &l.stored[read-1], &write); err != nil {
				l.decide(g, refuse, err)
				continue
			} else if !changed {
				l.decide(g, newer, nil)
				continue
			}
		}
		l.ops = append(l.ops, write)
		l.sent = append(l.sent, i)
		l.made = append(l.made, made)
	}
}

// newest returns the op that whole changes of one document result in: the greatest version, among equals the last.
func (g *group) newest() *op {
	newest := g.first
	for o := g.first.next; o != nil; o = o.next {
		if o.version >= newest.version {
			newest = o
		}
	}
	return newest
}

// merge merges the partial changes of g into the stored document and sets write to the result.
func (l *lane) merge(g *group, stored *Stored, write *Op) (changed bool, made []byte, err error) {
	write.Kind = Create
	var source []byte
	if stored.Found {
		write.Kind, write.SeqNo, write.PrimaryTerm = Replace, stored.SeqNo, stored.PrimaryTerm
		source = stored.Source
	}
	fields, err := l.merger.begin(g.first.doc, source)
	if err != nil {
		return false, nil, err
	}
	made = l.mergeChanges(g, fields, write)
	return l.merger.changed, made, nil
}

// mergeHeld is merge with the held document. It returns nil if the changes change nothing.
func (l *lane) mergeHeld(g *group, write *Op) (made []byte) {
	write.Kind, write.SeqNo, write.PrimaryTerm = Replace, g.held.seqNo, g.held.primaryTerm
	l.merger.beginHeld(g.first.doc, g.held.fields)
	if made = l.mergeChanges(g, nil, write); !l.merger.changed {
		return nil
	}
	return made
}

// mergeChanges merges g's changes into the document that the merger has begun with. It returns the result in the form for recent.
func (l *lane) mergeChanges(g *group, stored *fastjson.Object, write *Op) (made []byte) {
	for o := g.first; o != nil; o = o.next {
		l.merger.add(o)
	}
	from := len(l.scratch)
	g.former = l.merger.former
	l.scratch = l.merger.appendDocument(l.scratch, g.first.doc, g.first, stored)
	to := len(l.scratch)
	write.Source = l.scratch[from:to:to]
	l.scratch = l.merger.appendHeld(l.scratch)
	return l.scratch[to:len(l.scratch):len(l.scratch)]
}

// send makes one bulk call for l.ops[from:to]. It returns false if the rest of the round must wait, too.
func (l *lane) send(from, to, size int) bool {
	ops := l.ops[from:to]
	l.results = append(l.results[:0], make([]Result, len(ops))...)
	sent := time.Now()
	err := l.call(CallBulk, l.sent[from:to], size, func(ctx context.Context) error {
		return l.w.engine.Bulk(ctx, ops, l.results)
	})
	if err != nil {
		if remedyOfCall(err) == split {
			l.w.pace.tooLarge(size, time.Now())
		}
		l.failCall(l.sent[from:to], err)
		return false
	}
	l.judge(l.sent[from:to], l.made[from:to], sent)
	l.maxDocs = min(l.w.opts.MaxBulkDocuments, 2*l.maxDocs)
	return true
}

// judge decides the groups of a call that was answered. Accepted documents come first, because they show that the index works.
func (l *lane) judge(groups []int, made [][]byte, sent time.Time) {
	now := time.Now()
	l.w.refused.Settled(now, len(groups))
	for i, result := range l.results {
		if g := &l.groups[groups[i]]; remedyOf(result.Status, result.Kind) == settled {
			g.first.doc.written.Store(now.UnixMilli())
			if p := g.first.doc.probe; p != nil {
				p.take(g, now)
			}
			l.decide(g, settled, nil)
			if len(made[i]) > 0 {
				l.recent.keep(g.first, made[i], &l.results[i], now)
			}
		}
	}
	waited := l.waiting
	for i, result := range l.results {
		g := &l.groups[groups[i]]
		r := remedyOf(result.Status, result.Kind)
		if r == settled {
			continue
		}
		err := l.w.shown(&RequestError{Status: result.Status, Kind: result.Kind, Reason: result.Reason})
		switch {
		case r == newer && g.first.doc.Changes == Partial:
			r = reread
		case r == noIndex && g.first.doc.parted:
			r, err = l.remedyOfPart(g, err)
		}
		if r == noIndex || r == closed {
			l.recent.forget()
		}
		l.decide(g, r, err)
	}
	if l.waiting > waited || now.Sub(sent) > l.w.opts.CallTimeout/2 {
		l.w.pace.congested(sent, now)
	} else {
		l.w.pace.took(now)
	}
}
