package hbase

import (
	"bytes"
	"context"
	"time"
)

// lookAfter is how long a lane waits before it looks whether its region is back, and again before it looks the next time. HBase's
// pauses grow to 20 s, most regions of a server that died are open elsewhere long before.
const lookAfter = time.Second

// rest lets a lane wait: for the pause, or, when the region that failed is given, only until hbase:meta shows another opening of it.
// Looking is no try: it sends no mutation and counts against no retries. w.mu is held.
func (w *writer) rest(l *lane, pause time.Duration, failed *Region) {
	l.stopTimer()
	slice := pause
	if failed != nil {
		slice = min(pause, lookAfter)
	}
	var t *time.Timer
	t = time.AfterFunc(slice, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case l.timer != t || w.closed:
		case slice == pause || l.queue.len() == 0:
			l.timer = nil
			w.wake(l)
		default:
			row := bytes.Clone(l.queue.at(0).row()) // its flight may be eased meanwhile
			w.c.wg.Go(func() { w.look(l, t, pause-slice, failed, row) })
		}
	})
	l.timer = t
}

// hurry ends the pauses of all lanes.
func (w *writer) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ls := range w.tables {
		for _, l := range ls.all {
			if l.timer != nil {
				l.stopTimer()
				w.wake(l)
			}
		}
	}
}

// look ends a lane's pause when its region has been opened again; else what is left of the pause goes on. Meanwhile the lane's
// timer stays t, which has run out: only what stops that timer lets the lane go.
func (w *writer) look(l *lane, t *time.Timer, left time.Duration, failed *Region, row []byte) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(w.c.ctx, left)
	defer cancel()
	r, err := w.c.locator.find(ctx, l.table, row)
	back := err == nil && r.newerThan(failed)
	if err == nil && !back {
		w.c.locator.cache.drop(r) // or the next look would find it there
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.timer != t || w.closed {
		return
	}
	if left -= time.Since(began); back || left <= 0 {
		l.timer = nil
		w.wake(l)
		return
	}
	w.rest(l, left, failed)
}
