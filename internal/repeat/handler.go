// Package repeat has a slog.Handler that keeps one repeated line from filling the log. cmd/brine puts it before its own handler.
//
// The invariant: every dropped line is counted. A line is printed at once if it was not printed within the last interval. If it is repeated
// within an interval, its last repetition is printed at the end of the interval, with the number of repetitions dropped before it.
package repeat

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// kinds is the number of lines with the same message but different attributes that are distinguished within an interval; further ones
// count as one.
const kinds = 20

// Handler prints lines through another handler. It is safe for concurrent use.
type Handler struct {
	next  slog.Handler
	attrs string // from WithAttrs and WithGroup
	all   *lines
}

// lines are the lines of the last interval, shared by all handlers derived from one.
type lines struct {
	every   time.Duration
	leftOut func(slog.Level, int)

	mu     sync.Mutex
	recent map[string]*line
	kinds  map[string]int // number of lines in recent, by message
	closed bool
}

// line is a line that was printed less than an interval ago.
type line struct {
	message string
	timer   *time.Timer
	again   int // repetitions since it was printed
	last    slog.Record
	next    slog.Handler
}

// New returns a handler that prints through next, each line at most once per interval. Close it, or the pending lines are not printed.
func New(next slog.Handler, every time.Duration) *Handler {
	return &Handler{next: next, all: &lines{every: every, leftOut: func(slog.Level, int) {}, recent: map[string]*line{},
		kinds: map[string]int{}}}
}

// LeftOut sets the hook that reports dropped lines. It must be called before the first line.
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

// holds reports whether the line was printed within the last interval, and if so keeps it.
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

// over ends a line's interval. If the line was repeated, over prints it and begins a new interval; otherwise it forgets the line.
func (ls *lines) over(key string) {
	ls.mu.Lock()
	l := ls.recent[key]
	if l == nil { // Close was faster
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

// print prints the last repetition of a line, with the number of repetitions before it.
func (l *line) print(leftOut func(slog.Level, int)) {
	if l.again == 0 {
		return
	}
	if n := l.again - 1; n > 0 {
		l.last.AddAttrs(slog.Int("left_out_before", n))
		leftOut(l.last.Level, n)
	}
	_ = l.next.Handle(context.Background(), l.last) // if the log cannot be written, nothing can be reported
}

// Close prints the pending lines. Later lines are printed at once.
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
