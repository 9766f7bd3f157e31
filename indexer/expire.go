package indexer

import (
	"context"
	"slices"
	"time"
)

// expireEvery is the pause between two looks for parts that are over. A part outlives its time by that much at most, and by what
// is left of its span.
const expireEvery = time.Hour

// expires reports whether anything of the index ends by time.
func (d *document) expires() bool { return d.parted && d.Keep > 0 || d.Purge > 0 }

// Endless are options of a writer that ends nothing by its age, neither parts nor documents: one that writes again, or elsewhere, beside a
// pipeline that does.
func (o Options) Endless() Options {
	o.Documents = slices.Clone(o.Documents)
	for i := range o.Documents {
		o.Documents[i].Keep, o.Documents[i].Purge = 0, 0
	}
	return o
}

// expire drops the parts of indexes whose rows are over, and removes documents that were deleted long ago, until the writer is closed.
// A document ends when its newest version is as old as the rows are kept. Writers of other processes do the same.
func (w *Writer) expire() {
	timer := time.NewTicker(expireEvery)
	defer timer.Stop()
	for {
		for _, d := range w.docs {
			if d.parted && d.Keep > 0 {
				w.expireParts(d)
			}
			if d.Purge > 0 {
				w.purge(d)
			}
		}
		select {
		case <-timer.C:
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *Writer) expireParts(d *document) {
	ctx, cancel := context.WithTimeout(w.ctx, w.opts.CallTimeout)
	defer cancel()
	parts, err := w.engine.(Partitioned).Expire(ctx, d.Index, time.Now().Add(-d.Keep).UnixMilli())
	if len(parts) > 0 || err != nil && w.ctx.Err() == nil {
		w.opts.Hooks.Expired(ExpiredInfo{d.Index, parts, err})
	}
}

// purge removes what was deleted as long ago as no older change can come any more. It is many calls, of which each ends for good what it
// has removed: one that is not through when the next is due is broken off, and so is an engine that does not answer.
func (w *Writer) purge(d *document) {
	ctx, cancel := context.WithTimeout(w.ctx, expireEvery)
	defer cancel()
	n, err := w.engine.Purge(ctx, d.Index, time.Now().Add(-d.Purge).UnixMilli())
	if n > 0 || err != nil && w.ctx.Err() == nil {
		w.opts.Hooks.Purged(PurgedInfo{d.Index, n, err})
	}
}
