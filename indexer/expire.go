package indexer

import (
	"context"
	"slices"
	"time"
)

// expireEvery is the interval between two searches for expired parts. A part outlives its time by at most that much, and by the rest of its
// span.
const expireEvery = time.Hour

// expires reports whether anything in the index expires.
func (d *document) expires() bool { return d.parted && d.Keep > 0 || d.Purge > 0 }

// Endless returns options for a writer that never expires parts or documents: one that writes again, or elsewhere, beside a pipeline that
// does.
func (o Options) Endless() Options {
	o.Documents = slices.Clone(o.Documents)
	for i := range o.Documents {
		o.Documents[i].Keep, o.Documents[i].Purge = 0, 0
	}
	return o
}

// expire drops the parts of indexes whose rows have expired, and removes documents that were deleted long ago, until the writer is closed.
// A document expires when its newest version is older than the rows are kept. Writers of other processes do the same.
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

// purge removes documents that were deleted so long ago that no older change can arrive any more. It makes many calls, each of which is
// final for what it has removed. A purge that is not done when the next one is due is canceled, even if the engine does not answer.
func (w *Writer) purge(d *document) {
	ctx, cancel := context.WithTimeout(w.ctx, expireEvery)
	defer cancel()
	n, err := w.engine.Purge(ctx, d.Index, time.Now().Add(-d.Purge).UnixMilli())
	if n > 0 || err != nil && w.ctx.Err() == nil {
		w.opts.Hooks.Purged(PurgedInfo{d.Index, n, w.shown(err)})
	}
}
