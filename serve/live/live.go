// Package live keeps watched answers fresh. An answer that a thousand clients watch is requested once per interval, not a thousand times,
// and each client gets the newest state, even if it missed earlier ones. So a slow reader costs nobody else anything, and itself only
// states in between. An answer that is known to have changed is requested at once.
package live

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

var (
	// ErrFull is returned if the limit of streams or answers is reached.
	ErrFull = errors.New("as many answers are watched as may be")
	// ErrClosed is returned by the streams of a closed hub.
	ErrClosed = errors.New("the server ends")
	// ErrPanicked is returned by the streams of an answer whose Ask has panicked.
	ErrPanicked = errors.New("asking for the answer has panicked")
)

// Options configure a hub. All are required.
type Options struct {
	Every   time.Duration // from the end of one Ask for an answer to the start of the next
	Soonest time.Duration // the same after a wake; doubles, up to Every, each time a wake was for nothing
	Timeout time.Duration // per Ask
	Beside  int           // concurrent Asks; those that wait for a turn run less often than Every
	Answers int           // watched answers
	Streams int           // streams of all answers
	Log     *slog.Logger
}

// Ask returns the current answer. Equal bytes are the same answer. wake requests another Ask before the interval is over, because the
// answer may have changed; it returns at once. release, which may be nil, is called once what was returned is no longer watched.
type Ask func(ctx context.Context, wake func()) (data []byte, release func(), err error)

// State is the state of an answer.
type State struct {
	Data []byte // the newest answer; nil before the first
	Err  error  // why Data may be stale: the last Ask failed
}

// Hub watches answers. It is safe for concurrent use.
type Hub struct {
	opts  Options
	ctx   context.Context //nolint:containedctx // of the hub: its queries outlive the requests that started them
	end   context.CancelFunc
	turns chan struct{}
	done  sync.WaitGroup

	mu      sync.Mutex
	watched map[string]*watcher
	streams int
}

// watcher requests one answer while it has streams. The hub's mutex guards its fields, except those that never change.
type watcher struct {
	key     string
	ask     Ask
	stop    context.CancelFunc
	streams int
	state   State
	broken  bool          // its Ask has panicked, and is not called again
	changes uint64        // number of changes of state
	changed chan struct{} // closed on the next change
}

// New returns a hub without watchers.
func New(opts Options) *Hub {
	ctx, end := context.WithCancel(context.Background())
	return &Hub{opts: opts, ctx: ctx, end: end, turns: make(chan struct{}, opts.Beside), watched: map[string]*watcher{}}
}

// Close ends all streams, and returns once no Ask is running. Watch then returns ErrClosed.
func (h *Hub) Close() {
	h.mu.Lock()
	h.end()
	h.mu.Unlock()
	h.done.Wait()
}

// Stream is one client's view of an answer. It is not safe for concurrent use.
type Stream struct {
	hub  *Hub
	w    *watcher
	seen uint64
}

// Watch returns a stream of the answer with this key, which all watchers of the key share. The key must name all that the answer depends
// on, including who may see what. ask is called while the answer has streams, as often as the options say. The caller closes the stream.
func (h *Hub) Watch(key string, ask Ask) (*Stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watched[key]
	switch {
	case h.ctx.Err() != nil:
		return nil, ErrClosed
	case h.streams >= h.opts.Streams, w == nil && len(h.watched) >= h.opts.Answers:
		return nil, ErrFull
	case w == nil:
		w = &watcher{key: key, ask: ask, changed: make(chan struct{})}
		h.watched[key] = w
		var ctx context.Context
		ctx, w.stop = context.WithCancel(h.ctx)
		h.done.Go(func() { h.run(ctx, w) })
	}
	w.streams++
	h.streams++
	return &Stream{hub: h, w: w}, nil
}

// Close closes the stream. It may be called again.
func (s *Stream) Close() {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.w == nil {
		return
	}
	h.streams--
	if s.w.streams--; s.w.streams == 0 {
		s.w.stop()
		h.forget(s.w)
	}
	s.w = nil
}

// Next waits for a state that the stream has not returned yet, and returns the newest one. Its error is ctx's cause, ErrClosed or
// ErrPanicked.
func (s *Stream) Next(ctx context.Context) (State, error) {
	for {
		s.hub.mu.Lock()
		state, broken, changes, changed := s.w.state, s.w.broken, s.w.changes, s.w.changed
		s.hub.mu.Unlock()
		if broken {
			return State{}, ErrPanicked
		}
		if changes != s.seen {
			s.seen = changes
			return state, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return State{}, context.Cause(ctx)
		case <-s.hub.ctx.Done():
			return State{}, ErrClosed
		}
	}
}

// run requests a watcher's answer until ctx is done. It is the only goroutine that changes the watcher's state.
func (h *Hub) run(ctx context.Context, w *watcher) {
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default: // already woken
		}
	}
	release := func() {}
	defer func() { release() }()
	early, soonest := false, h.opts.Soonest
	for {
		select {
		case <-ctx.Done():
			return
		case h.turns <- struct{}{}:
		}
		data, then, err := h.askOnce(ctx, w, wake)
		<-h.turns
		release() // not before: until then, what was watched before still wakes it
		if release = then; then == nil {
			release = func() {}
		}
		if errors.Is(err, ErrPanicked) {
			h.breaks(w)
			return
		}
		if ctx.Err() != nil {
			return
		}
		switch changed := h.note(w, data, err); {
		case changed:
			soonest = h.opts.Soonest
		case early:
			soonest = min(2*soonest, h.opts.Every)
		}
		if early = h.wait(ctx, woken, soonest); ctx.Err() != nil {
			return
		}
	}
}

// wait waits until the next Ask is due, and reports whether a wake made it early.
func (h *Hub) wait(ctx context.Context, woken <-chan struct{}, soonest time.Duration) (early bool) {
	began := time.Now()
	timer := time.NewTimer(h.opts.Every)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return false
	case <-woken:
	}
	timer.Reset(soonest - time.Since(began)) // at once, if negative
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-woken: // the next Ask also sees what has woken it meanwhile
	default:
	}
	return true
}

// askOnce calls ask. A panic ends the streams of this answer, but neither other streams nor the process.
func (h *Hub) askOnce(ctx context.Context, w *watcher, wake func()) (data []byte, release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			h.opts.Log.Error("BUG: asking for an answer that is watched panicked", "panic", p, "stack", string(debug.Stack()))
			err = ErrPanicked
		}
	}()
	return w.ask(ctx, wake)
}

// breaks ends the streams of a watcher. The next stream of its key gets a new watcher.
func (h *Hub) breaks(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.broken = true
	close(w.changed)
	h.forget(w)
}

// forget removes a watcher, so that the next stream of its key gets a new one. The caller holds the mutex.
func (h *Hub) forget(w *watcher) {
	if h.watched[w.key] == w {
		delete(h.watched, w.key)
	}
}

// note stores the result of an Ask, and wakes the streams if the state has changed, which it reports: another answer, the first failure, or
// the end of failures.
func (h *Hub) note(w *watcher, data []byte, err error) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := w.state
	if err != nil {
		data = was.Data
	}
	if (err != nil) == (was.Err != nil) && w.changes > 0 && bytes.Equal(data, was.Data) {
		return false
	}
	w.state = State{Data: data, Err: err}
	w.changes++
	close(w.changed)
	w.changed = make(chan struct{})
	return true
}
