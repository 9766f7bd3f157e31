// Package budget divides a number of bytes among the loops that use them.
//
// A Pool is the bytes, and a Part is what one loop holds of them. Each part that has joined is guaranteed an equal minimum, which nobody
// else can hold. What is above the minimums is lent to whichever part asks for it. The invariants:
//
//   - The parts never hold more than the pool has. A part that joins while others hold what it is now guaranteed may take it nevertheless;
//     then nothing is lent until as much has come back.
//   - A part can always hold its minimum, whatever the others do. A part that waits holds something, so it waits at most until what it
//     holds itself is released. The minimum is therefore never lent.
//   - What was lent comes back when its holder releases it, never by force. A part that holds an equal share borrows no more while a part
//     that holds less is waiting, nor at any time if it gives way.
package budget

import (
	"context"
	"slices"
	"sync"
)

// Pool is a number of bytes that parts share.
type Pool struct {
	size    int64
	lending int64 // of size: guaranteed to nobody

	mu    sync.Mutex // guards everything below, and all parts
	parts []*Part    // that have joined
	free  int64      // size less what each part holds or is guaranteed, whichever is more; negative while more than size is promised
	queue []*Part    // parts with waiters, in the order in which they began to wait
}

// Part is what one loop holds of a pool.
type Part struct {
	pool    *Pool
	joined  int   // number of Joins without a leave
	least   int64 // guaranteed
	used    int64
	yields  bool      // see GiveWay
	waiters []*waiter // first come, first served
}

// waiter is an Acquire that waits.
type waiter struct {
	want    int64
	charged int64         // once it is granted
	granted chan struct{} // closed then
}

// NewPool returns a pool of size bytes, of which it lends as many as lending says and guarantees the rest.
func NewPool(size, lending int64) *Pool { return &Pool{size: size, lending: lending, free: size} }

// Part returns a part that holds nothing, and is guaranteed nothing until it joins.
func (p *Pool) Part() *Part { return &Part{pool: p} }

// Join makes the part count: what is guaranteed is divided equally among all parts that have joined. It counts until the returned function
// has been called as often as Join. What it holds then counts as borrowed.
func (p *Part) Join() (leave func()) {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.joined++; p.joined == 1 {
		p.pool.parts = append(p.pool.parts, p)
		p.pool.divide()
	}
	return sync.OnceFunc(p.leave)
}

func (p *Part) leave() {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.joined--; p.joined == 0 {
		p.pool.parts = slices.DeleteFunc(p.pool.parts, func(q *Part) bool { return q == p })
		p.set(p.used, 0)
		p.pool.divide()
	}
}

// GiveWay says whether the part, from now on, borrows only up to an equal share, so that however long it keeps what it holds, the others
// together have theirs.
func (p *Part) GiveWay(yields bool) {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	p.yields = yields
	p.pool.grant()
}

// Acquire waits for n bytes and returns the number charged, which the caller must release. It is n, unless n exceeds what the part can hold
// while it holds nothing else: then it is all of that. (A single record may exceed any budget; it then travels alone.)
func (p *Part) Acquire(ctx context.Context, n int64) (charged int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	charged, w := p.ask(n)
	if w == nil {
		return charged, nil
	}
	select {
	case <-w.granted:
		return w.charged, nil
	case <-ctx.Done():
		p.withdraw(w)
		return 0, ctx.Err()
	}
}

// TryAcquire acquires exactly n bytes if it can do so without waiting.
func (p *Part) TryAcquire(n int64) bool {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if len(p.waiters) > 0 || n > p.room() {
		return false
	}
	p.set(p.used+n, p.least)
	return true
}

// Release returns n bytes to the pool.
func (p *Part) Release(n int64) {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	p.set(p.used-n, p.least)
	p.pool.grant()
}

// Usage is a part at one moment, in bytes.
type Usage struct {
	Used       int64
	Guaranteed int64
	Limit      int64 // what it could hold now: Used, what is left of Guaranteed, and what it could borrow
}

// Usage returns the part as it is now.
func (p *Part) Usage() Usage {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	return Usage{Used: p.used, Guaranteed: p.least, Limit: p.used + p.room()}
}

// ask takes n bytes, or returns a waiter for them.
func (p *Part) ask(n int64) (charged int64, w *waiter) {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if len(p.waiters) == 0 {
		if charged, ok := p.take(n); ok {
			return charged, nil
		}
		p.pool.queue = append(p.pool.queue, p)
	}
	w = &waiter{want: n, granted: make(chan struct{})}
	p.waiters = append(p.waiters, w)
	return 0, w
}

// withdraw ends the wait of a waiter, and releases what it was granted meanwhile.
func (p *Part) withdraw(w *waiter) {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if i := slices.Index(p.waiters, w); i >= 0 {
		p.waiters = slices.Delete(p.waiters, i, i+1)
	} else {
		p.set(p.used-w.charged, p.least)
	}
	p.pool.grant()
}

// take charges n bytes, or what Acquire charges for more than can fit, if there is room. The caller holds pool.mu, as for all that follows.
func (p *Part) take(n int64) (charged int64, ok bool) {
	if room := p.room(); n > room {
		if p.used > 0 {
			return 0, false
		}
		n = room
	}
	p.set(p.used+n, p.least)
	return n, true
}

// room returns how much more the part may hold.
func (p *Part) room() int64 {
	borrow := p.pool.free
	if p.yields || p.pool.poorerWaits(p) {
		borrow = min(borrow, p.pool.size/int64(max(len(p.pool.parts), 1))-max(p.used, p.least))
	}
	return max(p.least-p.used, 0) + max(borrow, 0)
}

// poorerWaits reports whether another part is waiting that holds less than p.
func (p *Pool) poorerWaits(than *Part) bool {
	for _, q := range p.queue {
		if q != than && q.used < than.used && len(q.waiters) > 0 {
			return true
		}
	}
	return false
}

// set changes what the part holds, or is guaranteed.
func (p *Part) set(used, least int64) {
	p.pool.free += max(p.used, p.least) - max(used, least)
	p.used, p.least = used, least
}

// divide guarantees the same to each part.
func (p *Pool) divide() {
	for _, part := range p.parts {
		part.set(part.used, (p.size-p.lending)/int64(len(p.parts)))
	}
	p.grant()
}

// grant lets waiters have what there is room for: the parts in the order in which they began to wait, one waiter of each at a time.
func (p *Pool) grant() {
	for again := len(p.queue) > 0; again; {
		again = false
		for _, part := range p.queue {
			again = part.grantFirst() || again
		}
		p.queue = slices.DeleteFunc(p.queue, func(part *Part) bool { return len(part.waiters) == 0 })
	}
}

// grantFirst lets the part's first waiter have what it wants, if there is room.
func (p *Part) grantFirst() bool {
	if len(p.waiters) == 0 {
		return false
	}
	w := p.waiters[0]
	charged, ok := p.take(w.want)
	if ok {
		w.charged = charged
		p.waiters = slices.Delete(p.waiters, 0, 1)
		close(w.granted)
	}
	return ok
}
