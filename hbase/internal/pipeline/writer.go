package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"brine/hbase/internal/remote"
)

// Writer is the pipeline of one client: its lanes, its servers' queues and its byte bound.
type Writer struct {
	env      Env
	opts     Options
	hooks    Hooks
	budget   *semaphore.Weighted // MaxBufferedBytes
	buffered atomic.Int64

	mu        sync.Mutex // guards everything below, and all lanes
	tables    map[string]*lanes
	servers   map[string]*serverQueue
	lingering map[*Mutator]struct{} // mutators with lingering lanes
	blocked   int                   // number of Submits waiting for room; while there are any, nothing lingers
	turns     int                   // number of turns given to flights
	touched   []*lane               // scratch of the Submit that holds the mutex
	closed    bool
}

// New returns an empty pipeline. The caller must close it.
func New(env Env, opts Options, hooks Hooks) *Writer {
	return &Writer{
		env: env, opts: opts, hooks: hooks, budget: semaphore.NewWeighted(int64(opts.MaxBufferedBytes)),
		tables: make(map[string]*lanes), servers: make(map[string]*serverQueue), lingering: make(map[*Mutator]struct{}),
	}
}

// Close fails everything queued. Unanswered calls fail when their connections close.
func (w *Writer) Close() {
	w.mu.Lock()
	w.closed = true
	for m := range w.lingering {
		w.endLinger(m)
	}
	var left []entry
	for _, ls := range w.tables {
		for _, l := range ls.all {
			l.endPause()
			left = append(left, l.queue.items()...)
			l.queue, l.bytes = fifo{}, 0
			l.makeRoom()
		}
	}
	for _, s := range w.servers {
		for _, t := range []*time.Timer{s.overdueTimer, s.watcher} {
			if t != nil {
				t.Stop()
			}
		}
	}
	w.mu.Unlock()
	for _, e := range left {
		w.settle([]entry{e}, failures([]entry{e}, remote.ErrClosed)...)
	}
}
