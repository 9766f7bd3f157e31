package embedded

import (
	"errors"
	"slices"
	"sync"
	"time"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// transition is one change of the locations of regions: some close, hbase:meta records what becomes of them, and the same or others open.
// In between they are open nowhere, and calls get HBase's exceptions: see absent in life.go.
type transition struct {
	Transition
	close  []*region
	open   []placement
	record func(b *store.Batch) error // adds more for hbase:meta and the catalogue to the one commit that decides
	decide func()                     // makes the same change in memory after that commit, with the cluster's mu held; may be nil
}

// placement is a region and the node that is to open it; nil means that it stays closed.
type placement struct {
	r  *region
	to *node
}

// transfer carries out a transition. The caller holds c.change, which transfer unlocks while the regions stay closed; their moving field
// keeps out other changes of the same regions. If transfer fails before its commit, everything is as it was.
func (c *cluster) transfer(t transition) error {
	touched := slices.Clone(t.close)
	for _, p := range t.open {
		touched = append(touched, p.r)
	}
	for _, r := range touched {
		r.moving = true
	}
	defer func() {
		for _, r := range touched {
			r.moving = false
		}
		c.idle.Broadcast()
	}()
	from := c.shut(t)
	if err := c.decide(t); err != nil {
		for _, p := range from {
			p.to.open(p.r)
		}
		return err
	}
	for _, p := range t.open {
		if p.to != nil {
			p.to.absent.put(p.r.encoded, absence{})
		}
	}
	c.change.Unlock()
	c.dwell(t.Transition)
	c.change.Lock()
	return c.openAll(t.open)
}

// shut closes the regions and returns where they were. Each node remembers where its regions go.
func (c *cluster) shut(t transition) (from []placement) {
	for _, r := range t.close {
		if !slices.ContainsFunc(t.open, func(p placement) bool { return p.r == r && p.to != nil }) {
			from = append(from, r.shutReplicas()...)
		}
		n := r.at()
		if n == nil {
			continue
		}
		r.seq++
		i := slices.IndexFunc(t.open, func(p placement) bool { return p.r == r })
		if i >= 0 && t.open[i].to != nil {
			n.absent.put(r.encoded, absence{to: t.open[i].to, seq: r.seq, until: n.clock().Add(movedFor)})
		}
		n.take(r)
		from = append(from, placement{r, n})
	}
	return from
}

func (c *cluster) decide(t transition) error {
	b := c.store.NewBatch()
	write := func() error {
		if t.record != nil {
			if err := t.record(b); err != nil {
				return err
			}
		}
		for _, p := range t.open {
			state := hbasepb.RegionState_OPENING
			if p.to == nil {
				state = hbasepb.RegionState_CLOSED
			}
			if err := c.putRegion(b, p.r, state, p.to); err != nil {
				return err
			}
		}
		return b.CommitSurely(c.ctx)
	}
	if err := write(); err != nil {
		return errors.Join(err, b.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.decide != nil {
		t.decide()
	}
	for _, p := range t.open {
		p.r.state = hbasepb.RegionState_OPENING
		if p.to == nil {
			p.r.state = hbasepb.RegionState_CLOSED
		}
	}
	return nil
}

// openAll opens regions at their placements. If a node has ended, another one opens the region; if all have, the region stays closed until
// a node is started.
func (c *cluster) openAll(ps []placement) error {
	return c.whenAvailable(func() error { return c.openIn(c.store.NewBatch(), ps) })
}

// whenAvailable retries do until the store is available, because no client would send the change again.
func (c *cluster) whenAvailable(do func() error) error {
	for {
		err := do()
		if !errors.Is(err, store.ErrUnavailable) || c.store.Wait(c.ctx) != nil {
			return err
		}
	}
}

// openIn is openAll in one commit with the contents of the batch.
func (c *cluster) openIn(b *store.Batch, ps []placement) error {
	var open []placement
	var replicas []replicaChange
	for _, p := range ps {
		if p.to == nil {
			continue
		}
		if !p.to.alive() {
			p.to.absent.forget(p.r.encoded)
			if p.to = c.pick(); p.to == nil {
				continue
			}
		}
		p.r.seq++
		open = append(open, p)
		change, err := c.replicate(b, p.r, p.to)
		if err = errors.Join(err, c.putRegion(b, p.r, hbasepb.RegionState_OPEN, p.to)); err != nil {
			return errors.Join(err, b.Close())
		}
		replicas = append(replicas, change)
	}
	if err := b.CommitSurely(c.ctx); err != nil {
		return err
	}
	c.mu.Lock()
	for _, p := range open {
		p.r.state, p.r.host = hbasepb.RegionState_OPEN, p.to
	}
	c.mu.Unlock()
	for i, p := range open {
		p.to.open(p.r)
		c.doReplicas(replicas[i])
	}
	c.announce()
	return nil
}

// pick returns the next node in turn for a region, or nil if there is none.
func (c *cluster) pick() *node {
	up := c.live()
	if len(up) == 0 {
		return nil
	}
	c.turn++
	return up[c.turn%len(up)]
}

// settled returns a table once none of its regions is in transition. The caller holds c.change.
func (c *cluster) settled(name tableName) (*table, error) {
	for {
		t, err := c.find(name)
		if err != nil || !slices.ContainsFunc(t.regions, func(r *region) bool { return r.moving }) {
			return t, err
		}
		c.idle.Wait()
	}
}

// recover moves the regions that are on no node or on a lost one to live nodes. If there is no live node, the regions are in transition to
// none; a node that starts meanwhile gets them afterwards.
func (c *cluster) recover(lost func(*node) bool) error {
	c.change.Lock()
	defer c.change.Unlock()
	for {
		t := c.lost(lost)
		if len(t.open) == 0 {
			return c.whenAvailable(func() error { return c.replicateAll(c.sorted()...) })
		}
		if err := c.whenAvailable(func() error { return c.transfer(t) }); err != nil {
			return err
		}
		if !slices.ContainsFunc(t.open, func(p placement) bool { return p.to == nil }) {
			return c.whenAvailable(func() error { return c.replicateAll(c.sorted()...) })
		}
	}
}

// lost returns the transition that moves regions on no node or on a lost one to live nodes, or to none if there are no live nodes.
func (c *cluster) lost(lost func(*node) bool) transition {
	t := transition{Transition: Transition{Kind: "recover"}}
	for _, table := range append([]*table{c.meta}, c.sorted()...) {
		if table == c.meta && len(t.close) > 0 || table.state != hbasepb.TableState_ENABLED {
			continue
		}
		for _, r := range table.regions {
			n := r.at()
			if r.moving || r.unassigned || n != nil && !lost(n) {
				continue
			}
			if to := c.pick(); to != nil || n != nil {
				t.close, t.open = append(t.close, r), append(t.open, placement{r, to})
				t.Regions = append(t.Regions, r.encoded)
			}
		}
	}
	return t
}

// dwell keeps regions in transition for as long as Options.InTransition and the functions registered with Server.Hold demand.
func (c *cluster) dwell(t Transition) {
	wait := func(until <-chan struct{}) {
		select {
		case <-until:
		case <-c.ctx.Done():
		}
	}
	for _, h := range c.holds.all() {
		if until := (*h)(t); until != nil {
			wait(until)
		}
	}
	if d := c.opts.InTransition; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.ctx.Done():
		}
	}
}

// Transition is a change of the locations of regions, as passed to a function given to Server.Hold.
type Transition struct {
	Kind    string // move, split, merge, assign, unassign, enable, disable, recover
	Table   string // empty for recover
	Regions []string
}

// Hold registers a function that is called in every transition while its regions are closed. They stay closed until the channel that it
// returns is closed; meanwhile clients get NotServingRegionException where the regions were, RegionMovedException from the node that they
// leave, and RegionOpeningException from the node that they go to. If the function returns nil, the transition goes on. The returned
// function removes the registration.
func (s *Server) Hold(f func(Transition) (until <-chan struct{})) (remove func()) {
	return s.cluster.holds.add(f)
}

type holders struct {
	mu sync.Mutex
	fs []*func(Transition) <-chan struct{}
}

func (hs *holders) add(f func(Transition) <-chan struct{}) (remove func()) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.fs = append(hs.fs, &f)
	return func() {
		hs.mu.Lock()
		defer hs.mu.Unlock()
		hs.fs = slices.DeleteFunc(hs.fs, func(o *func(Transition) <-chan struct{}) bool { return o == &f })
	}
}

func (hs *holders) all() []*func(Transition) <-chan struct{} {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return slices.Clone(hs.fs)
}
