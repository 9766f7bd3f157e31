// Package live keeps answers fresh for those who watch them: an answer that a thousand clients wait for is asked for once a second, not a
// thousand times, and each of them is handed the newest state, whatever it has missed. So a slow reader costs nobody else anything, and
// itself only states in between. What is known to have changed is asked for at once.
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
	// ErrFull is returned when as many streams or answers are watched as may be.
	ErrFull = errors.New("as many answers are watched as may be")
	// ErrClosed ends the streams of a hub that is closed.
	ErrClosed = errors.New("the server ends")
	// ErrPanicked ends the streams of an answer whose asking has panicked.
	ErrPanicked = errors.New("asking for the answer has panicked")
)

// Options bound a hub. All are needed.
type Options struct {
	Every   time.Duration // from the end of one asking for an answer to the next
	Soonest time.Duration // the same where it is woken; twice as long each time that it has been woken for nothing, up to Every
	Timeout time.Duration // of one asking
	Beside  int           // askings at a time; what waits for its turn is asked less often than Every
	Answers int           // that are watched at a time
	Streams int           // of all answers
	Log     *slog.Logger
}

// Ask returns an answer as it is now. Equal bytes are the same answer. wake has it be asked for again before its time, since it may have
// changed; it returns at once. release, which may be nil, is called once what was returned is watched no more.
type Ask func(ctx context.Context, wake func()) (data []byte, release func(), err error)

// State is what is known of an answer.
type State struct {
	Data []byte // the newest answer; nil before the first
	Err  error  // why it may be old: the last asking failed
}

// Hub watches answers. It is safe for concurrent use.
type Hub struct {
	opts  Options
	ctx   context.Context //nolint:containedctx // of the hub's life: askings outlive the requests that began them
	end   context.CancelFunc
	turns chan struct{}
	done  sync.WaitGroup

	mu      sync.Mutex
	watched map[string]*watcher
	streams int
}

// watcher asks for one answer while it has streams. Its fields are the hub's mutex's, but for what never changes.
type watcher struct {
	key     string
	ask     Ask
	stop    context.CancelFunc
	streams int
	state   State
	broken  bool          // its asking has panicked: it is asked for no more
	changes uint64        // of state
	changed chan struct{} // closed with the next change
}

// New returns a hub that watches nothing yet.
func New(opts Options) *Hub {
	ctx, end := context.WithCancel(context.Background())
	return &Hub{opts: opts, ctx: ctx, end: end, turns: make(chan struct{}, opts.Beside), watched: map[string]*watcher{}}
}

// Close ends all streams, and returns once nothing is asked any more. Watching afterwards is refused with ErrClosed.
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

// Watch returns a stream of the answer of this key, which all watchers of the key share: a key names all that the answer depends on, who
// may see what included. ask is called while there are streams, as often as the options say. The stream is to be closed.
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

// Close gives the stream up; a second call does nothing.
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

// Next waits for a state that the stream has not returned yet, and returns the newest one. It ends with ctx's cause, with ErrClosed, or
// with ErrPanicked.
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

// run asks for a watcher's answer until ctx ends. It is the only one that changes the watcher's state.
func (h *Hub) run(ctx context.Context, w *watcher) {
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default: // it is woken already
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
		release() // only now: until then what was watched before wakes it
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

// wait waits until it is time to ask again, and reports whether that is before its time.
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
	timer.Reset(soonest - time.Since(began)) // at once, if it is less than 0
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-woken: // what has woken it meanwhile is seen by the same asking
	default:
	}
	return true
}

// askOnce asks. A panic ends the streams of this answer, and neither the others nor the process.
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

// breaks ends the streams of a watcher. The next watcher of its key asks again.
func (h *Hub) breaks(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.broken = true
	close(w.changed)
	h.forget(w)
}

// forget has the next stream of the key be another watcher's. The mutex is held.
func (h *Hub) forget(w *watcher) {
	if h.watched[w.key] == w {
		delete(h.watched, w.key)
	}
}

// note keeps what an asking returned, and wakes the streams where that is new, which it reports: another answer, the first failure, or the
// end of failing.
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
