package pipeline

import (
	"bytes"
	"context"
	"time"

	"brine/hbase/internal/locate"
)

// lookAfter is how long a lane waits before it looks whether its region is back, and again before it looks the next time. HBase's
// pauses grow to 20 s, and most regions of a server that died are open elsewhere long before.
const lookAfter = time.Second

// pause lets a lane wait: for the pause, or, when the region that failed is given, only until hbase:meta shows another opening of it.
// Looking is not a try: it sends no mutation and counts against no retries. w.mu is held.
func (w *Writer) pause(l *lane, pause time.Duration, failed *locate.Region) {
	l.endPause()
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
			l.endPause()
			w.schedule(l)
		default:
			row := bytes.Clone(l.queue.at(0).row()) // its flight may stall meanwhile
			w.env.Go(func() { w.checkReopened(l, t, pause-slice, failed, row) })
		}
	})
	l.timer, l.state = t, paused
}

// checkReopened ends a lane's pause when its region has been opened again; else what is left of the pause goes on. Meanwhile the lane's
// timer stays t, which has run out: only stopping that timer frees the lane.
func (w *Writer) checkReopened(l *lane, t *time.Timer, left time.Duration, failed *locate.Region, row []byte) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(w.env.Ctx, left)
	defer cancel()
	r, err := w.env.Find(ctx, l.table, row)
	back := err == nil && r.NewerThan(failed)
	if err == nil && !back {
		w.env.Forget(r) // or the next look would find it there
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.timer != t || w.closed {
		return
	}
	if left -= time.Since(began); back || left <= 0 {
		l.endPause()
		w.schedule(l)
		return
	}
	w.pause(l, left, failed)
}

// hurry ends the pauses of all lanes.
func (w *Writer) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ls := range w.tables {
		for _, l := range ls.all {
			if l.state == paused {
				l.endPause()
				w.schedule(l)
			}
		}
	}
}
