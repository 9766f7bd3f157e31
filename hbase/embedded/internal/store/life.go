package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// ErrUnavailable is wrapped by the errors of all calls from the time a write to the folder fails until the folder could be opened again.
var ErrUnavailable = errors.New("the data folder cannot be written")

// How long a store waits before it opens its folder again, initially and at most.
const (
	firstWait = 50 * time.Millisecond
	longWait  = 2 * time.Second

	settledAfter = 10 * time.Second // a life of that length shows that the folder can be written
)

// life is a store from one opening of its folder until a write fails.
type life struct {
	db      *pebble.DB
	tails   bool     // values are followed by TTLs
	lengths *lengths // nil in memory
	fence   *fence   // nil in memory

	began time.Time
	wait  time.Duration // the wait before it began

	// refs counts the references of the store, until it abandons this life, and of calls, batches and readers. The last one to leave ends it.
	refs    atomic.Int64
	abandon func()
	ended   chan struct{} // closed once the database is closed
	end     error         // the error of closing the database
}

func (l *life) begin() *life {
	l.began, l.ended = time.Now(), make(chan struct{})
	l.refs.Store(1)
	l.abandon = sync.OnceFunc(l.leave)
	return l
}

// enter reports whether the life may be used; if so, the caller must leave it.
func (l *life) enter() bool {
	for {
		n := l.refs.Load()
		if n == 0 || l.fence.cause() != nil {
			return false
		}
		if l.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (l *life) leave() {
	if l.refs.Add(-1) == 0 {
		go func() {
			l.end = l.db.Close()
			if l.lengths != nil {
				l.end = l.named(errors.Join(l.end, l.lengths.close()))
			}
			close(l.ended)
		}()
	}
}

// named returns the error of a call, which is the fence's cause if the fence is shut.
func (l *life) named(err error) error {
	if cause := l.fence.cause(); cause != nil {
		return unavailable(cause)
	}
	return err
}

func unavailable(cause error) error {
	if cause == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, cause)
}

// Fill makes the store behave as if its disk were full, even in memory, until it is called with false.
func (s *Store) Fill(full bool) { s.full.Store(full) }

// filled returns an error if Fill has filled the store.
func (s *Store) filled() error {
	if !s.full.Load() {
		return nil
	}
	return unavailable(&fs.PathError{Op: "write", Path: cmp.Or(s.opts.Dir, "memory"), Err: syscall.ENOSPC})
}

// enter returns the newest life, which the caller must leave.
func (s *Store) enter() (*life, error) {
	if err := s.filled(); err != nil {
		return nil, err
	}
	if l := s.life.Load(); l.enter() {
		return l, nil
	}
	select {
	case <-s.closing:
		return nil, errClosed
	default:
	}
	if cause := s.Broken(); cause != nil {
		return nil, cause
	}
	return nil, ErrUnavailable
}

var errClosed = errors.New("the store is closed")

// Broken returns why the store is unavailable, or nil if it is not. It also checks the fence, which may have been shut before the store
// learned of it.
func (s *Store) Broken() error {
	if err := s.filled(); err != nil {
		return err
	}
	if cause := s.broken.Load(); cause != nil {
		return unavailable(*cause)
	}
	if l := s.life.Load(); l != nil {
		return unavailable(l.fence.cause())
	}
	return nil
}

// Wait waits while the folder cannot be written, or until ctx is done.
func (s *Store) Wait(ctx context.Context) error {
	for s.Broken() != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return errClosed
		case <-time.After(firstWait):
		}
	}
	return nil
}

// begin opens the folder for a life.
func (s *Store) begin(wait time.Duration) (*life, error) {
	f := &fence{}
	f.failed = func() { s.failed(f) }
	l, err := openDir(s.opts, f)
	if cause := f.cause(); err != nil && cause != nil {
		return nil, fmt.Errorf("data folder %s: %w", s.opts.Dir, cause) // errors after the cause are misleading
	}
	if err != nil {
		return nil, err
	}
	l.wait = wait
	f.opened.Store(true)
	return l.begin(), nil
}

// install makes a life the newest, unless one of its writes has already failed or the store was closed.
func (s *Store) install(l *life) error {
	err := s.adopt(l)
	if err != nil { // without s.mu, which the fence locks if closing the life shuts it
		l.abandon()
		<-l.ended
	}
	return err
}

func (s *Store) adopt(l *life) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := l.fence.cause(); err != nil {
		return err
	}
	if s.closed {
		return errClosed
	}
	s.life.Store(l)
	s.broken.Store(nil)
	return nil
}

// failed starts reopening the store after the life whose fence was shut.
func (s *Store) failed(f *fence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.life.Load(); !s.closed && l != nil && l.fence == f { // otherwise nobody has used that life yet, or ever will
		cause := f.cause()
		s.broken.Store(&cause)
		s.wg.Go(func() { s.reopen(l) })
	}
}

// reopen abandons a life and opens the folder again as soon as it can be written. After short lives it waits longer and longer.
func (s *Store) reopen(old *life) {
	began := time.Now()
	s.opts.Warn(s.Broken())
	old.fence.drain()
	old.abandon()
	defer func() { <-old.ended }() // its readers get the error at their next row
	wait := firstWait
	if time.Since(old.began) < settledAfter {
		wait = max(firstWait, min(2*old.wait, longWait))
	}
	for ; ; wait = min(2*wait, longWait) {
		select {
		case <-s.closing:
			return
		case <-time.After(wait):
		}
		next, err := s.begin(wait)
		if err == nil {
			err = s.install(next)
		}
		if err == nil {
			s.opts.Warn(fmt.Errorf("the data folder is writable again, after %v", time.Since(began).Round(time.Millisecond)))
			return
		}
		s.broken.Store(&err)
		if errors.Is(err, ErrDamaged) && s.opts.Damaged != nil {
			s.opts.Damaged(err)
		}
	}
}
