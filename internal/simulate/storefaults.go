package simulate

import (
	"time"

	"brine/hbase/embedded"
)

// region draws a region of one of the tables that are written to, and returns it with the one after it.
func (t *trouble) region() (r, next *embedded.Region) {
	all := t.store.Regions(tables[t.rng.IntN(len(tables))].name)
	i := t.rng.IntN(len(all))
	if i+1 < len(all) {
		next = &all[i+1]
	}
	return &all[i], next
}

// A split, merge or move that is not possible now, because the region is in another transition or holds too little, does nothing: its error
// is ignored.
func (t *trouble) split() {
	r, _ := t.region()
	_, _, _ = t.store.Split(r.Encoded, nil)
}

func (t *trouble) merge() {
	if r, next := t.region(); next != nil {
		_, _ = t.store.Merge(r.Encoded, next.Encoded)
	}
}

func (t *trouble) move() {
	r, _ := t.region()
	_ = t.store.Move(r.Encoded, nil)
}

// server ends a node, and restarts it when the fault is over. A node that another fault ended is left to that fault.
func (t *trouble) server(end func(*embedded.Node)) {
	n := t.node()
	if !t.claim(n) {
		return
	}
	end(n)
	t.last()
	t.restart(n)
}

// killAll ends all nodes except those that another fault ended, and restarts them.
func (t *trouble) killAll() {
	var mine []*embedded.Node
	for _, n := range append(t.store.Nodes(), t.store.Master()) {
		if t.claim(n) {
			mine = append(mine, n)
			n.Kill()
		}
	}
	t.last()
	for _, n := range mine {
		t.restart(n)
	}
}

func (t *trouble) killMaster() {
	n := t.store.Master()
	if !t.claim(n) {
		return
	}
	n.Kill()
	t.last()
	t.restart(n)
}

// claim makes a node this fault's own, unless it is another's.
func (t *trouble) claim(n *embedded.Node) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.claimed[n] {
		return false
	}
	t.claimed[n] = true
	return true
}

func (t *trouble) restart(n *embedded.Node) {
	if err := n.Restart(""); err != nil {
		t.ledger.find("0: restarting %s: %v", n.Addr(), err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.claimed, n)
}

// clock moves a server's clock forwards or back by up to two days.
func (t *trouble) clock() {
	n, ahead := t.node(), t.upTo(96*time.Hour)-48*time.Hour
	n.SetClock(ahead)
	t.last()
	n.SetClock(0)
}

// multi makes some of the calls with mutations end with an outcome.
func (t *trouble) multi(outcome func() *embedded.Outcome) {
	part := 0.1 + 0.9*t.rng.Float64()
	remove := t.store.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		if t.rng.Float64() >= part { // control functions are called one at a time
			return nil
		}
		r.Keep()
		return outcome()
	})
	t.last()
	remove()
}

// excepting draws one of the exceptions for each call.
func (t *trouble) excepting(names ...string) func() *embedded.Outcome {
	all := embedded.Exceptions()
	return func() *embedded.Outcome { return &embedded.Outcome{Exception: all[names[t.rng.IntN(len(names))]]} }
}

// regions makes one region of each call fail with one of the exceptions.
func (t *trouble) regions(names ...string) func() *embedded.Outcome {
	all := embedded.Exceptions()
	return func() *embedded.Outcome {
		r, _ := t.region()
		return &embedded.Outcome{Regions: map[string]*embedded.Exception{r.Encoded: all[names[t.rng.IntN(len(names))]]}}
	}
}
