package memnet

import (
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipe is one direction of a link: the bytes written, and when they arrive. It takes any amount, so a write never waits. Only one goroutine
// may read at a time.
type pipe struct {
	link *link
	wake chan struct{} // holds a token when the reader should check again

	mu       sync.Mutex
	queue    []segment
	last     time.Time // arrival of the newest segment; bytes keep their order
	ended    bool      // the writer closed: queued bytes arrive, then EOF
	reset    bool
	deadline time.Time
}

type segment struct {
	bytes []byte
	at    time.Time
}

func newPipe(l *link) *pipe { return &pipe{link: l, wake: make(chan struct{}, 1)} }

func (p *pipe) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// push queues bytes, which arrive after the delay.
func (p *pipe) push(b []byte, delay time.Duration) {
	p.mu.Lock()
	at := time.Now().Add(delay)
	if at.Before(p.last) {
		at = p.last
	}
	p.last = at
	p.queue = append(p.queue, segment{append([]byte(nil), b...), at})
	p.mu.Unlock()
	p.look()
}

func (p *pipe) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.look()
}

// cut resets the direction. Unread bytes are lost.
func (p *pipe) cut() {
	p.mu.Lock()
	p.reset, p.queue = true, nil
	p.mu.Unlock()
	p.look()
}

func (p *pipe) broken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reset
}

func (p *pipe) setDeadline(t time.Time) {
	p.mu.Lock()
	p.deadline = t
	p.mu.Unlock()
	p.look()
}

// read waits for bytes, the end, a reset or the deadline.
func (p *pipe) read(b []byte) (int, error) {
	for {
		stopped := p.link.stopped()
		p.mu.Lock()
		n, until, err := p.take(b, stopped)
		p.mu.Unlock()
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
		p.await(until)
	}
}

// take returns what can be read now, or else the time until which to wait at most; zero means no limit. p.mu is held.
func (p *pipe) take(b []byte, stopped bool) (n int, until time.Time, err error) {
	now := time.Now()
	switch {
	case p.reset:
		return 0, until, syscall.ECONNRESET
	case !p.deadline.IsZero() && !now.Before(p.deadline):
		return 0, until, os.ErrDeadlineExceeded
	case stopped:
		return 0, p.deadline, nil
	case len(p.queue) == 0 && p.ended:
		return 0, until, io.EOF
	case len(p.queue) == 0:
		return 0, p.deadline, nil
	case p.queue[0].at.After(now):
		until = p.queue[0].at
		if !p.deadline.IsZero() && p.deadline.Before(until) {
			until = p.deadline
		}
		return 0, until, nil
	}
	first := &p.queue[0]
	n = copy(b, first.bytes)
	if first.bytes = first.bytes[n:]; len(first.bytes) == 0 {
		p.queue = p.queue[1:]
	}
	return n, until, nil
}

func (p *pipe) await(until time.Time) {
	if until.IsZero() {
		<-p.wake
		return
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-p.wake:
	case <-t.C:
	}
}
