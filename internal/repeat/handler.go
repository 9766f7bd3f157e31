// Package repeat has a slog.Handler that does not let one line fill the log. cmd/brine puts it before its own handler.
//
// The invariant: no line is lost without being counted. A line is printed at once when it was not printed in the last interval; if it comes
// again within one, the last of it is printed at the interval's end, and says how many before it were left out.
package repeat

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// kinds is how many lines of one message, which differ in their attributes, are told apart within an interval; of more, all are taken
// as one.
const kinds = 20

// Handler prints lines through another one. It is safe for concurrent use.
type Handler struct {
	next  slog.Handler
	attrs string // of WithAttrs and WithGroup
	all   *lines
}

// lines are those of the last interval, of all handlers that come from one.
type lines struct {
	every   time.Duration
	leftOut func(slog.Level, int)

	mu     sync.Mutex
	recent map[string]*line
	kinds  map[string]int // of recent, by message
	closed bool
}

// line is one that was printed less than an interval ago.
type line struct {
	message string
	timer   *time.Timer
	again   int // times that it came since it was printed
	last    slog.Record
	next    slog.Handler
}

// New makes a handler that prints through next, any line once in so long. Close it, or what waits is not printed.
func New(next slog.Handler, every time.Duration) *Handler {
	return &Handler{next: next, all: &lines{every: every, leftOut: func(slog.Level, int) {}, recent: map[string]*line{},
		kinds: map[string]int{}}}
}

// LeftOut sets the hook that reports lines that were left out, before the first of them.
func (h *Handler) LeftOut(hook func(slog.Level, int)) {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	h.all.leftOut = hook
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.attrs)
	for _, a := range attrs {
		write(&b, a)
	}
	return &Handler{next: h.next.WithAttrs(attrs), attrs: b.String(), all: h.all}
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{next: h.next.WithGroup(name), attrs: h.attrs + name + "\x00", all: h.all}
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if h.all.holds(h, &r) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

func write(b *strings.Builder, a slog.Attr) {
	b.WriteString(a.Key)
	b.WriteByte('=')
	b.WriteString(a.Value.Resolve().String())
	b.WriteByte(0)
}

// holds reports whether the line was printed in the last interval, and keeps it if so.
func (ls *lines) holds(h *Handler, r *slog.Record) bool {
	var b strings.Builder
	b.WriteString(r.Level.String() + " " + r.Message + "\x00")
	message := b.String()
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		write(&b, a)
		return true
	})
	key := b.String()
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.closed {
		return false
	}
	l := ls.recent[key]
	if l == nil && ls.kinds[message] >= kinds {
		key = message
		l = ls.recent[key]
	}
	if l == nil {
		ls.kinds[message]++
		ls.recent[key] = &line{message: message, timer: time.AfterFunc(ls.every, func() { ls.over(key) })}
		return false
	}
	l.again++
	l.last, l.next = r.Clone(), h.next
	return true
}

// over ends a line's interval: what came again is printed, and a new interval begins; else the line is forgotten.
func (ls *lines) over(key string) {
	ls.mu.Lock()
	l := ls.recent[key]
	if l == nil { // Close was quicker
		ls.mu.Unlock()
		return
	}
	last := *l
	if l.again == 0 {
		ls.forget(key, l)
	} else {
		l.again = 0
		l.timer.Reset(ls.every)
	}
	leftOut := ls.leftOut
	ls.mu.Unlock()
	last.print(leftOut)
}

func (ls *lines) forget(key string, l *line) {
	delete(ls.recent, key)
	if ls.kinds[l.message]--; ls.kinds[l.message] == 0 {
		delete(ls.kinds, l.message)
	}
}

// print prints the last line that came again, and says how many did so before it.
func (l *line) print(leftOut func(slog.Level, int)) {
	if l.again == 0 {
		return
	}
	if n := l.again - 1; n > 0 {
		l.last.AddAttrs(slog.Int("left_out_before", n))
		leftOut(l.last.Level, n)
	}
	_ = l.next.Handle(context.Background(), l.last) // where the log cannot be written, nothing can be reported
}

// Close prints what waits. Lines that come later are printed at once.
func (h *Handler) Close() {
	ls := h.all
	ls.mu.Lock()
	recent, leftOut := ls.recent, ls.leftOut
	ls.recent, ls.closed = nil, true
	for _, l := range recent {
		l.timer.Stop()
	}
	ls.mu.Unlock()
	for _, l := range recent {
		l.print(leftOut)
	}
}
