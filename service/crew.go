package service

import (
	"context"
	"fmt"
	"sync"
)

// crew runs the loops of halves, which may start and stop while it runs. The first loop that fails stops all of them.
type crew struct {
	ctx    context.Context // parent of the loops' contexts
	cancel context.CancelFunc

	mu     sync.Mutex
	shifts map[*Half]*shift
	over   bool // no loop may start any more
	failed error
	loops  sync.WaitGroup
}

// shift is one running half.
type shift struct {
	stop      context.CancelFunc
	ended     chan struct{}
	abandoned bool // its error is ignored
}

func newCrew(ctx context.Context) *crew {
	c := &crew{shifts: map[*Half]*shift{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// start starts a half's loop. If the crew is stopping, the loop reads nothing: it only leaves its group, in case the half that it replaces
// has handed its place over.
func (c *crew) start(h *Half) {
	if !c.began(h) {
		_ = h.loop.Run(c.ctx)
	}
}

// began starts a half's loop, unless the crew no longer waits for loops.
func (c *crew) began(h *Half) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
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
	return true
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

// stop stops a half, which settles, commits, and leaves its group unless it hands its place over. The returned channel is closed when the
// half has stopped.
func (c *crew) stop(h *Half) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.shifts[h]
	if s == nil { // never started
		done := make(chan struct{})
		close(done)
		return done
	}
	s.stop()
	return s.ended
}

// forget removes a half from the crew. If its loop has not stopped yet, its error is ignored.
func (c *crew) forget(h *Half) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.shifts[h]; s != nil {
		s.abandoned = true
		delete(c.shifts, h)
	}
}

// wait waits until the crew's context is done and all loops have stopped, and returns the first failure.
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
