package indexer

import (
	"bytes"
	"context"
	"math"
	"sync/atomic"
	"time"

	"brine/internal/backoff"
)

const (
	probeStep = 100 * time.Millisecond // the least pause between two questions about a document
	probeFor  = time.Minute            // after which a document that is not shown is given up
)

// probe measures how soon a search shows what an index has taken: of one document at a time it asks until it is shown. The memory of
// it is that document's id; its calls are some ten each second that a document needs at first, and fewer the longer it lasts. Its
// goroutine is run, started by New and joined by Close.
type probe struct {
	w     *Writer
	index string
	began time.Time
	due   atomic.Int64 // how long after began the next document is taken, in ns; never while there is one
	taken chan probed  // holds one
}

const never = math.MaxInt64

// probed is a document that was just taken by its index.
type probed struct {
	ref      Ref
	version  int64
	produced int64 // ms since 1970
	durable  time.Time
	flight   context.Context // of its event's flight
}

func newProbe(w *Writer, index string) *probe {
	return &probe{w: w, index: index, began: time.Now(), taken: make(chan probed, 1)}
}

// take picks one of the documents that were just written, when it is time. Of a group whose change has left the document's
// version as it was, a search does not show whether it includes the change.
func (p *probe) take(g *group, now time.Time) {
	if int64(now.Sub(p.began)) < p.due.Load() {
		return
	}
	o := g.newest()
	if o.doc.Changes == Partial && o.version <= g.former || p.due.Swap(never) == never {
		return
	}
	p.taken <- probed{Ref{o.index, bytes.Clone(o.id)}, o.version, o.produced, now, o.flight.ctx}
}

func (p *probe) run() {
	for {
		select {
		case d := <-p.taken:
			info := ProbeInfo{Flight: d.flight, Index: p.index, Produced: d.produced, Durable: d.durable}
			if info.Outcome, info.Ended = p.watch(&d); info.Outcome != "" {
				p.w.opts.Hooks.Probe(info)
			}
			p.due.Store(int64(d.durable.Add(p.w.opts.ProbeEvery).Sub(p.began)))
		case <-p.w.ctx.Done():
			return
		}
	}
}

// watch asks for a document until it is shown, or given up. The outcome is empty when the writer is closed before.
func (p *probe) watch(d *probed) (ProbeOutcome, time.Time) {
	ctx, cancel := context.WithDeadline(p.w.ctx, d.durable.Add(probeFor))
	defer cancel()
	for {
		version, err := p.w.engine.Shown(ctx, d.ref)
		now := time.Now()
		if err == nil && version >= d.version {
			return Shown, now
		}
		if backoff.Wait(ctx, max(probeStep, now.Sub(d.durable)/8)) == nil {
			continue
		}
		switch {
		case p.w.ctx.Err() != nil:
			return "", now
		case err != nil:
			return Unanswered, now
		}
		return NotShown, now
	}
}
