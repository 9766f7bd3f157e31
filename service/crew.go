package service

import (
	"context"
	"fmt"
	"sync"
)

// crew runs the loops of halves, which come and go while it works. The first loop that fails ends all of them.
type crew struct {
	ctx    context.Context // that the loops work within
	cancel context.CancelFunc

	mu     sync.Mutex
	shifts map[*Half]*shift
	over   bool // no other begins
	failed error
	loops  sync.WaitGroup
}

// shift is one half at work.
type shift struct {
	stop      context.CancelFunc
	ended     chan struct{}
	abandoned bool // its errors no longer count
}

func newCrew(ctx context.Context) *crew {
	c := &crew{shifts: map[*Half]*shift{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// start starts a half, unless all are to end.
func (c *crew) start(h *Half) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.ctx.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(c.ctx)
	s := &shift{stop: stop, ended: make(chan struct{})}
	c.shifts[h] = s
	c.loops.Go(func() {
		defer close(s.ended)
		defer stop()
		if err := h.loop.Run(ctx); err != nil {
			c.fail(s, fmt.Errorf("%s: %w", h.name, IngestError(err)))
		}
	})
}

func (c *crew) fail(s *shift, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.abandoned {
		return
	}
	if c.failed == nil {
		c.failed = err
	}
	c.cancel()
}

// stop has a half settle, commit and leave its group, and returns what is closed when that is done.
func (c *crew) stop(h *Half) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.shifts[h]
	if s == nil { // it never began
		done := make(chan struct{})
		close(done)
		return done
	}
	s.stop()
	return s.ended
}

// forget has a half's loop be nobody's any more; one that has not ended fails nobody.
func (c *crew) forget(h *Half) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.shifts[h]; s != nil {
		s.abandoned = true
		delete(c.shifts, h)
	}
}

// wait waits until all are to end and have ended, and returns the first failure.
func (c *crew) wait() error {
	<-c.ctx.Done()
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.loops.Wait()
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}
