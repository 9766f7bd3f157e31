// Package live keeps answers fresh for whoever watches them: an answer that a thousand clients wait for is asked for once a second, not a
// thousand times, and each of them is handed the newest state, whatever it has missed. So a slow reader costs nobody else anything, and
// itself only states in between.
package live

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"
)

var (
	// ErrFull is returned when as many streams or answers are watched as may be.
	ErrFull = errors.New("as many answers are watched as may be")
	// ErrClosed ends the streams of a hub that is closed.
	ErrClosed = errors.New("the server ends")
)

// Options bound a hub. All are needed.
type Options struct {
	Every   time.Duration // from the end of one asking for an answer to the next
	Timeout time.Duration // of one asking
	Beside  int           // askings at a time; what waits for its turn is asked less often than Every
	Answers int           // that are watched at a time
	Streams int           // of all answers
}

// Ask returns an answer as it is now. Equal bytes are the same answer.
type Ask func(ctx context.Context) ([]byte, error)

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

// Watch returns a stream of the answer of this key, which whoever watches the key shares: a key names all that the answer depends on, who
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
		delete(h.watched, s.w.key)
	}
	s.w = nil
}

// Next waits for a state that the stream has not returned yet, and returns the newest one. It ends with ctx's cause, or with ErrClosed.
func (s *Stream) Next(ctx context.Context) (State, error) {
	for {
		s.hub.mu.Lock()
		state, changes, changed := s.w.state, s.w.changes, s.w.changed
		s.hub.mu.Unlock()
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
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
			return
		case h.turns <- struct{}{}:
		}
		data, err := h.askOnce(ctx, w)
		<-h.turns
		if ctx.Err() != nil {
			return
		}
		h.note(w, data, err)
		pause.Reset(h.opts.Every)
	}
}

func (h *Hub) askOnce(ctx context.Context, w *watcher) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	defer cancel()
	return w.ask(ctx)
}

// note keeps what an asking returned, and wakes the streams where that is new: another answer, the first failure, or the end of failing.
func (h *Hub) note(w *watcher, data []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := w.state
	if err != nil {
		data = was.Data
	}
	if (err != nil) == (was.Err != nil) && w.changes > 0 && bytes.Equal(data, was.Data) {
		return
	}
	w.state = State{Data: data, Err: err}
	w.changes++
	close(w.changed)
	w.changed = make(chan struct{})
}
