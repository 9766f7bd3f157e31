// Package sockets keeps listeners accepting, limits what a server's connections hold, and explains what to do when a process runs out of
// descriptors.
//
// The invariants: a listener made by Listener stops accepting only when it is closed. Servers stop accepting at the first error, but an
// accept can also fail for temporary reasons: no descriptor is free, or a client gave up while it waited. And what a Limiter counts never
// exceeds its limits: the connection that has made no progress for longest is cut off first.
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

// How long to wait after a failed accept, and how often to repeat a warning at most.
const (
	firstWait  = 5 * time.Millisecond
	longWait   = time.Second
	warnWithin = time.Minute
)

// Listener returns l with an Accept that retries after errors, with growing delays, until l is closed. It reports the first error of each
// minute to warn, which may be nil.
func Listener(l net.Listener, warn func(error)) net.Listener {
	return &listener{Listener: l, warn: Seldom(warn), closed: make(chan struct{})}
}

// Seldom returns a function that passes the first error of each minute to warn, which may be nil.
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
			if op, ok := errors.AsType[*net.OpError](err); ok {
				err = op.Err // without the address, which is said here
			}
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

// Dial returns d's DialContext with explained errors.
func Dial(d *net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, addr)
		return c, Explain(err)
	}
}

// Explain adds advice to the error of a process or machine without free descriptors. It returns other errors unchanged.
func Explain(err error) error {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%w: raise the limit of this process (ulimit -n)", err)
	case errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: raise the limit of this machine (sysctl fs.file-max)", err)
	}
	return err
}
