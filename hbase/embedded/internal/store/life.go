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

// ErrUnavailable is in the error of whatever is asked of a store whose folder could not be written, until it could be opened again.
var ErrUnavailable = errors.New("the data folder cannot be written")

// How long a store waits before it opens its folder again, at first and at most.
const (
	firstWait = 50 * time.Millisecond
	longWait  = 2 * time.Second

	settledAfter = 10 * time.Second // a life that lasted so long shows that the folder can be written
)

// life is a store from one opening of its folder until something could not be written.
type life struct {
	db      *pebble.DB
	tails   bool     // values have TTLs behind them
	lengths *lengths // nil in memory
	fence   *fence   // nil in memory

	began time.Time
	wait  time.Duration // before it began

	// refs are the store's own, until it abandons this life, and those of calls, batches and readers. The last ends it.
	refs    atomic.Int64
	abandon func()
	ended   chan struct{} // closed when the database is
	end     error         // the error of closing it
}

func (l *life) begin() *life {
	l.began, l.ended = time.Now(), make(chan struct{})
	l.refs.Store(1)
	l.abandon = sync.OnceFunc(l.leave)
	return l
}

// enter reports whether a life may be used; it must then be left.
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

// named returns the error of a call; once the fence is shut that is why it is.
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

// Fill has the store answer as one whose disk is full, in memory too, until it is called with false.
func (s *Store) Fill(full bool) { s.full.Store(full) }

// filled returns the error of a store that Fill has filled.
func (s *Store) filled() error {
	if !s.full.Load() {
		return nil
	}
	return unavailable(&fs.PathError{Op: "write", Path: cmp.Or(s.opts.Dir, "memory"), Err: syscall.ENOSPC})
}

// enter returns the newest life, which must be left.
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

// Broken returns why the store answers nothing, nil when it does. A fence that has just been shut is asked too: the store may not have
// heard of it yet.
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

// Wait waits while the folder cannot be written, until ctx ends.
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
		return nil, fmt.Errorf("data folder %s: %w", s.opts.Dir, cause) // what came after it misleads
	}
	if err != nil {
		return nil, err
	}
	l.wait = wait
	f.opened.Store(true)
	return l.begin(), nil
}

// install makes a life the newest, unless something could not be written in it already, or the store was closed.
func (s *Store) install(l *life) error {
	err := s.adopt(l)
	if err != nil { // without the lock: what fails while the life is closed shuts its fence, which takes it
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

// failed has the store opened again after the life whose fence is shut.
func (s *Store) failed(f *fence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.life.Load(); !s.closed && l != nil && l.fence == f { // else nobody has used that life yet, or will
		cause := f.cause()
		s.broken.Store(&cause)
		s.wg.Go(func() { s.reopen(l) })
	}
}

// reopen leaves a life behind and opens the folder again as soon as that can be written. Lives that end soon begin ever more slowly.
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
			s.opts.Warn(fmt.Errorf("the data folder can be written again, after %v", time.Since(began).Round(time.Millisecond)))
			return
		}
		s.broken.Store(&err)
		if errors.Is(err, ErrDamaged) && s.opts.Damaged != nil {
			s.opts.Damaged(err)
		}
	}
}
