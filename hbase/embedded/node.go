package embedded

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"brine/hbase/hbasepb"
)

// Node is one server of the cluster, through all its restarts: a region server, the master, or both when Options.Servers is 1. Its
// methods are for tests and for chaos on purpose; they are safe for concurrent use, but must not be called by a control
// function nor by Applied: most wait for the calls in work.
type Node struct {
	cluster *cluster
	index   int // in Server.Nodes; -1: the master by itself
	master  bool
	regions bool
	life    atomic.Pointer[node] // the newest; it may have ended
	skew    atomic.Int64         // time.Duration by which its clock is ahead
}

// places are the nodes that take regions. Nodes are added and never removed.
type places struct {
	mu    sync.RWMutex
	nodes []*Node
}

func (p *places) all() []*Node {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.nodes
}

func (p *places) add(n *Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodes = append(slices.Clone(p.nodes), n)
}

// ErrRunning is returned by Restart of a node that is running.
var ErrRunning = errors.New("embedded: the node is running")

// Addr is the host:port that the node listens on, or listened on when it is down.
func (p *Node) Addr() string { return p.life.Load().addr }

// Advertised is the host:port by which clients reach the node: Addr, unless Options.Advertise says otherwise.
func (p *Node) Advertised() string { return p.life.Load().reached() }

// ServerName is the node's life as HBase writes it: host,port,startcode.
func (p *Node) ServerName() string { return p.life.Load().String() }

// Index is the node's place in Server.Nodes; -1 when it is only the master.
func (p *Node) Index() int { return p.index }

// Up reports whether the node runs.
func (p *Node) Up() bool { return p.life.Load().ctx.Err() == nil }

// Regions is how many regions the node has, hbase:meta's included.
func (p *Node) Regions() int { return len(p.life.Load().regions()) }

// Kill ends the node as kill -9 does: connections are reset, calls in work are never answered (whether they were applied is
// open), scanners are gone. Its regions are on no node until the master notices, Options.DetectAfter later, or at once when the
// node is started again; then they go to the other nodes. Without a master they stay where they were.
func (p *Node) Kill() {
	n := p.life.Load()
	n.end(true)
	p.cluster.died(n)
}

// Stop ends the node as an operator does: it answers RegionServerStoppedException while its regions go to the others, and
// then ends.
func (p *Node) Stop() {
	n := p.life.Load()
	n.stopping.Store(true)
	_ = p.cluster.recover(func(at *node) bool { return at == n }) // what could not be saved is tried again when it is noticed
	n.end(false)
	p.cluster.died(n)
}

// Restart starts the node again, with a new start code: at its old address, or at addr when that is not empty.
func (p *Node) Restart(addr string) error {
	if p.Up() {
		return fmt.Errorf("%w: %s", ErrRunning, p.Addr())
	}
	if addr == "" {
		addr = p.Addr()
	}
	return p.cluster.start(p, addr)
}

// Freeze stops the node as SIGSTOP does: it accepts connections and bytes and answers nothing, until Thaw.
func (p *Node) Freeze() { p.life.Load().gate.set(&gateState{thawed: make(chan struct{})}) }

// Thaw lets a frozen or slow node go on at full speed.
func (p *Node) Thaw() { p.life.Load().gate.set(nil) }

// Slow limits each connection to so many bytes a second, each way.
func (p *Node) Slow(bytesPerSecond int) {
	p.life.Load().gate.set(&gateState{rate: max(1, bytesPerSecond)})
}

// SetClock puts the node's clock ahead of Options.Clock, or behind it.
func (p *Node) SetClock(ahead time.Duration) { p.skew.Store(int64(ahead)) }

// Add starts another region server, on a free port of the master's host. It has only regions that were on no node: see Balance.
func (s *Server) Add() (*Node, error) {
	c := s.cluster
	host, _, err := net.SplitHostPort(c.master.Addr())
	if err != nil {
		return nil, err
	}
	c.change.Lock()
	p := &Node{cluster: c, index: len(c.places.all()), regions: true}
	if err = c.start(p, net.JoinHostPort(host, "0")); err == nil {
		p.life.Load().run()
		c.places.add(p)
		c.announce()
	}
	c.change.Unlock()
	if err != nil || c.masterLife() == nil {
		return p, err
	}
	return p, c.recover(func(at *node) bool { return !at.alive() })
}

// serves reports whether the node has such a service.
func (n *node) serves(service string) bool {
	switch service {
	case "MasterService", "RegionServerStatusService", "LockService", "HbckService":
		return n.place.master
	}
	return services[service] != nil
}

// start begins a life of the place. The master then notices that the life before has ended; one that starts itself notices
// all that are dead.
func (c *cluster) start(p *Node, addr string) error {
	before := p.life.Load()
	n, err := p.begin(addr)
	if err != nil {
		return err
	}
	p.life.Store(n)
	if before == nil {
		return nil // the cluster's start runs it, when the catalogue is there
	}
	n.run()
	c.announce()
	if c.masterLife() == nil {
		return nil
	}
	return c.recover(func(at *node) bool { return !at.alive() && (p.master || at.place == p) })
}

// startCode returns a start code: the time, but greater than any before.
func (c *cluster) startCode() int64 {
	for {
		last := c.lastStart.Load()
		code := max(last+1, c.now())
		if c.lastStart.CompareAndSwap(last, code) {
			return code
		}
	}
}

// live returns the lives that take regions.
func (c *cluster) live() []*node {
	var up []*node
	for _, p := range c.places.all() {
		if n := p.life.Load(); n.alive() {
			up = append(up, n)
		}
	}
	return up
}

// masterLife is the master's life, nil when there is none.
func (c *cluster) masterLife() *node {
	if n := c.master.life.Load(); n.ctx.Err() == nil {
		return n
	}
	return nil
}

// died has a death noticed after Options.DetectAfter: from then on it is known, and the master, if there is one, moves the regions.
func (c *cluster) died(n *node) {
	c.wg.Go(func() {
		t := time.NewTimer(c.opts.DetectAfter)
		defer t.Stop()
		select {
		case <-t.C:
			n.noticed.Store(true)
			c.announce()
			if c.masterLife() != nil {
				_ = c.recover(func(at *node) bool { return at == n }) // the store is broken: all calls report it
			}
		case <-c.ctx.Done():
		}
	})
}

// knownMaster returns the master's life as the cluster knows it: a dead one until that is noticed.
func (c *cluster) knownMaster() *node { return c.master.life.Load().unlessNoticed() }

// known returns the lives of region servers as the cluster knows them.
func (c *cluster) known() []*node {
	var ns []*node
	for _, p := range c.places.all() {
		if n := p.life.Load().unlessNoticed(); n != nil {
			ns = append(ns, n)
		}
	}
	return ns
}

// unlessNoticed returns the node, or nil when it is known to be dead.
func (n *node) unlessNoticed() *node {
	if n.noticed.Load() {
		return nil
	}
	return n
}

// deadServers names the lives that are known to be over and were not followed by another one.
func (c *cluster) deadServers() (dead []*hbasepb.ServerName) {
	for _, p := range c.places.all() {
		if n := p.life.Load(); n.noticed.Load() {
			dead = append(dead, n.serverName())
		}
	}
	return dead
}
