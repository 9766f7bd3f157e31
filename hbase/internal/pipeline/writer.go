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

	mu        sync.Mutex // guards all below, and all lanes
	tables    map[string]*lanes
	servers   map[string]*serverQueue
	lingering map[*Mutator]struct{} // mutators that have lanes linger
	blocked   int                   // Submits that wait for room: meanwhile nothing lingers
	turns     int                   // that have been given to flights
	touched   []*lane               // by the Submit that has the mutex
	closed    bool
}

// New returns an empty pipeline; it must be closed.
func New(env Env, opts Options, hooks Hooks) *Writer {
	return &Writer{
		env: env, opts: opts, hooks: hooks, budget: semaphore.NewWeighted(int64(opts.MaxBufferedBytes)),
		tables: make(map[string]*lanes), servers: make(map[string]*serverQueue), lingering: make(map[*Mutator]struct{}),
	}
}

// Close fails what is queued; what is unanswered fails when its connections close.
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
