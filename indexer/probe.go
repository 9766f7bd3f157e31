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
	probeStep = 100 * time.Millisecond // the minimum pause between two searches for a document
	probeFor  = time.Minute            // then the probe gives up a document that is not shown
)

// probe measures how soon a search shows what an index has accepted: it searches for one document at a time until it is shown. Its memory
// is that document's id. Initially it makes about ten calls per second for a document, and fewer the longer it takes. Its goroutine is run,
// started by New and joined by Close.
type probe struct {
	w     *Writer
	index string
	began time.Time
	due   atomic.Int64 // when the next document is taken, in ns since began; never while there is one
	taken chan probed  // holds one
}

const never = math.MaxInt64

// probed is a document that its index has just accepted.
type probed struct {
	ref      Ref
	version  int64
	produced int64 // ms since 1970
	durable  time.Time
	flight   context.Context // the context of its event's flight
}

func newProbe(w *Writer, index string) *probe {
	return &probe{w: w, index: index, began: time.Now(), taken: make(chan probed, 1)}
}

// take picks one of the documents that were just written, if one is due. It skips a group whose change has not raised the document's
// version, because a search does not show whether the document includes the change.
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

// watch searches for a document until it is shown, or gives up. The outcome is empty if the writer is closed first.
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
