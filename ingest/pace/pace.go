// Package pace controls how fast a loop may go, as people ask while it runs.
package pace

import (
	"context"
	"math"
	"sync"
	"time"
)

// Pace is how fast an ingest.Loop may go. People change it while the loop runs: pause, resume, limit. It exists outside of the assignment,
// so that no rebalance loses it. It holds up only what has not been submitted yet: pending flights settle and are committed, and heartbeats
// go on. It is safe for concurrent use; the zero value holds nothing up.
type Pace struct {
	mu      sync.Mutex
	order   Order
	bound   float64       // records per second of this process, besides what people ask; 0: none
	share   float64       // our part of the group's partitions
	resumed time.Time     // when its last pause ended; zero: never
	next    time.Time     // when the next records may go
	changed chan struct{} // closed at the next change; nil if nobody waits for it
}

// Order is what a Pace must observe.
type Order struct {
	Paused bool
	Unread bool    // paused only until it is known what people ask: no ramp follows, and a long standstill is a problem
	Why    string  // of a pause, for Status
	Limit  float64 // records per second of the whole group, divided among its members by their partitions; 0: unlimited
}

// The ramp after a pause: the rate starts at rampStart records per second, doubles every second, and is unlimited after rampTime.
const (
	rampStart = 1000
	rampTime  = 10 * time.Second
)

// New returns a pace that starts with an order.
func New(o Order) *Pace { return &Pace{order: o} }

// Set changes the order. Callers in Wait observe the new one.
func (p *Pace) Set(o Order) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.order.Paused && !p.order.Unread && !o.Paused {
		p.resumed = time.Now()
	}
	p.order = o
	p.changedLocked()
}

// Follow takes over a ramp in progress from the pace of a loop that p's loop replaces.
func (p *Pace) Follow(from *Pace) {
	resumed := from.State().Resumed
	p.mu.Lock()
	defer p.mu.Unlock()
	if resumed.After(p.resumed) {
		p.resumed = resumed
		p.changedLocked()
	}
}

// Bound limits the pace to a number of records per second in this process, besides what people ask; +Inf: no limit. Callers already in Wait
// keep their turn, unless they may go faster by half.
func (p *Pace) Bound(rate float64) {
	if math.IsInf(rate, 1) {
		rate = 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.bound
	if p.bound = rate; was > 0 && (rate == 0 || rate > was*1.5) {
		p.changedLocked()
	}
}

// Order returns the order in force.
func (p *Pace) Order() Order {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.order
}

// Hold sets how many of the group's partitions we own.
func (p *Pace) Hold(ours, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share = float64(ours) / float64(max(all, 1))
	p.changedLocked()
}

func (p *Pace) changedLocked() {
	p.next = time.Time{}
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// rateLocked returns how many records per second may go now; +Inf: unlimited.
func (p *Pace) rateLocked(now time.Time) float64 {
	rate := math.Inf(1)
	if since := now.Sub(p.resumed); !p.resumed.IsZero() && since < rampTime {
		rate = rampStart * math.Exp2(since.Seconds())
	}
	if p.bound > 0 {
		rate = min(rate, p.bound)
	}
	if p.order.Limit > 0 {
		rate = min(rate, max(p.order.Limit*p.share, 1e-3)) // nothing is owned if the share is 0
	}
	return rate
}

// Most returns how many records may go at once: those of a tenth of a second, and at least one.
func (p *Pace) Most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rate := p.rateLocked(time.Now()); rate < math.MaxInt32 {
		return max(1, int(rate/10))
	}
	return math.MaxInt32
}

// Wait returns nil once n records may go, or an error once ctx has ended.
func (p *Pace) Wait(ctx context.Context, n int) error {
	for {
		p.mu.Lock()
		now := time.Now()
		rate := p.rateLocked(now)
		free := !p.order.Paused && math.IsInf(rate, 1)
		var pause time.Duration
		if !p.order.Paused && !free {
			pause = max(0, p.next.Sub(now))
			p.next = now.Add(pause + time.Duration(float64(n)/rate*float64(time.Second)))
		}
		if p.order.Paused {
			pause = math.MaxInt64
		}
		var changed chan struct{}
		if pause > 0 {
			changed = p.waitersLocked()
		}
		p.mu.Unlock()
		if pause == 0 {
			return ctx.Err()
		}
		turn := time.NewTimer(pause)
		select {
		case <-turn.C:
			return nil
		case <-changed:
			turn.Stop()
		case <-ctx.Done():
			turn.Stop()
			return ctx.Err()
		}
	}
}

func (p *Pace) waitersLocked() chan struct{} {
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed
}

// WhilePaused calls look at intervals while the pace is paused. It returns when the pace is not paused or ctx has ended.
func (p *Pace) WhilePaused(ctx context.Context, every time.Duration, look func()) {
	for {
		p.mu.Lock()
		if !p.order.Paused || ctx.Err() != nil {
			p.mu.Unlock()
			return
		}
		changed := p.waitersLocked()
		p.mu.Unlock()
		look()
		again := time.NewTimer(every)
		select {
		case <-again.C:
		case <-changed:
		case <-ctx.Done():
		}
		again.Stop()
	}
}

// State is what a pace observes now.
type State struct {
	Order
	Share   float64   // our part of the group's partitions
	Resumed time.Time // when its last pause ended; zero: never
	Bound   float64   // see Pace.Bound; 0: none
}

// State returns what the pace observes now.
func (p *Pace) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return State{p.order, p.share, p.resumed, p.bound}
}
