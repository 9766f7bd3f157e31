package serve

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// places are what requests in progress hold, each its own.
//
// The invariant: no place waits for a client's request, because a request takes its place only when its body has arrived. A client that
// does not read its answer keeps the place only while others are free, and for as long as a write may last. When there is none left, the
// answer that has waited longest for its client is cut off.
type places struct {
	free   chan *place // buffered for all
	all    []*place
	writes time.Duration // how long a write may last when no place is free
}

// place is held by one request at a time.
type place struct {
	mu     sync.Mutex
	holder *call // nil: nobody, or its answer was cut off
}

func newPlaces(n int, writes time.Duration) *places {
	p := &places{free: make(chan *place, n), writes: writes}
	for range n {
		at := new(place)
		p.all = append(p.all, at)
		p.free <- at
	}
	return p
}

// take returns a place, or nil if all are held by requests whose clients read their answers.
func (p *places) take(ctx context.Context, holder *call) *place {
	var at *place
	select {
	case at = <-p.free:
	default:
		if !p.makeRoom() {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second) // the answer ends at once
		defer cancel()
		select {
		case at = <-p.free:
		case <-ctx.Done():
			return nil
		}
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	at.holder = holder
	return at
}

// release frees a place.
func (p *places) release(at *place) {
	at.mu.Lock()
	at.holder = nil
	at.mu.Unlock()
	p.free <- at
}

// makeRoom cuts off the answer that has waited longest for its client to read, if that is longer than a write may last, and reports
// whether it did.
func (p *places) makeRoom() bool {
	limit := uptime() - p.writes
	for {
		var slowest *place
		since := limit
		for _, at := range p.all {
			if began := at.writing(); began > 0 && began <= since {
				slowest, since = at, began
			}
		}
		if slowest == nil {
			return false
		}
		if slowest.end(since) {
			return true
		}
	}
}

// writing returns since when the holder has been in a write; 0: it is in none.
func (at *place) writing() time.Duration {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.holder == nil {
		return 0
	}
	return time.Duration(at.holder.answer.writing.Load())
}

// end cuts off the holder's answer if it is still in the write that it began then.
func (at *place) end(began time.Duration) bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.holder == nil || time.Duration(at.holder.answer.writing.Load()) != began {
		return false
	}
	at.holder.cutOff()
	at.holder = nil
	return true
}

// cutOff ends an answer that is being sent. Its client sees that it is incomplete: the connection ends before the body does.
func (c *call) cutOff() {
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(-time.Second)) // otherwise it ends by its own deadline
	c.opts.Log.Warn("an answer was cut off: its client reads it slowly or not at all, and others need the place or the memory",
		"request", requestID(c.r))
}

var started = time.Now()

// uptime is a clock that is never set.
func uptime() time.Duration { return time.Since(started) }
