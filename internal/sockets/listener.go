// Package sockets keeps listeners accepting, bounds what a server's connections hold, and says what helps when a process has no descriptor
// left.
//
// The invariants: a listener that Listener made is deaf only once it is closed. The servers built on one stop accepting at the first error,
// but an accept fails also for reasons that pass: no descriptor is free, or a client gave up while it waited. And what a Limiter
// counts never passes its bounds: who has made no progress for longest is cut off first.
package sockets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// How long an accept that failed waits before the next one, and how often at most a warning repeats.
const (
	firstWait  = 5 * time.Millisecond
	longWait   = time.Second
	warnWithin = time.Minute
)

// Listener returns l with an Accept that goes on after errors, ever more slowly, until it is closed. The first error of each minute goes
// to warn, which may be nil.
func Listener(l net.Listener, warn func(error)) net.Listener {
	return &listener{Listener: l, warn: Seldom(warn), closed: make(chan struct{})}
}

// Seldom returns a function that hands the first error of each minute on to warn, which may be nil.
func Seldom(warn func(error)) func(error) {
	var mu sync.Mutex
	var warned time.Time
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if warn != nil && (warned.IsZero() || time.Since(warned) >= warnWithin) {
			warned = time.Now()
			warn(err)
		}
	}
}

type listener struct {
	net.Listener
	warn   func(error)
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		c, err := l.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return c, err
		}
		select {
		case <-l.closed:
			return nil, err
		default:
			l.warn(fmt.Errorf("accepting connections on %s: %w", l.Addr(), Explain(err)))
		}
		select {
		case <-l.closed:
			return nil, err
		case <-time.After(wait):
		}
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Dial returns d's DialContext, with its errors explained.
func Dial(d *net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, addr)
		return c, Explain(err)
	}
}

// Explain adds to the error of a process, or a machine, without free descriptors what can be done about it; others it returns as they are.
func Explain(err error) error {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%w: raise the limit of this process (ulimit -n)", err)
	case errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: raise the limit of this machine (sysctl fs.file-max)", err)
	}
	return err
}
