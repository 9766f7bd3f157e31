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

// Node is one server of the cluster across its restarts: a region server, the master, or both if Options.Servers is 1. Its methods are for
// tests and for deliberate chaos. They are safe for concurrent use, but must not be called from a control function or from Applied, because
// most wait for calls in progress.
type Node struct {
	cluster *cluster
	index   int // in Server.Nodes; -1: the separate master
	master  bool
	regions bool
	life    atomic.Pointer[node] // the newest life; it may have ended
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

// ErrRunning is returned by Restart if the node is running.
var ErrRunning = errors.New("embedded: the node is running")

// Addr returns the host:port that the node listens on, or last listened on if it is down.
func (p *Node) Addr() string { return p.life.Load().addr }

// Advertised returns the host:port at which clients reach the node: Addr, unless Options.Advertise is set.
func (p *Node) Advertised() string { return p.life.Load().reached() }

// ServerName returns the node's newest life as HBase writes it: host,port,startcode.
func (p *Node) ServerName() string { return p.life.Load().String() }

// Index returns the node's index in Server.Nodes, or -1 if it is only the master.
func (p *Node) Index() int { return p.index }

// Up reports whether the node is running.
func (p *Node) Up() bool { return p.life.Load().ctx.Err() == nil }

// Regions returns the number of regions open on the node, including hbase:meta's.
func (p *Node) Regions() int { return len(p.life.Load().regions()) }

// Kill ends the node as kill -9 does: connections are reset, calls in progress are never answered (they may or may not have been applied),
// and scanners are lost. Its regions are on no node until the master notices, which it does after Options.DetectAfter or as soon as the
// node is restarted; then they move to the other nodes. Without a master they stay where they were.
func (p *Node) Kill() {
	n := p.life.Load()
	n.end(true)
	p.cluster.died(n)
}

// Stop ends the node as an operator does: it answers RegionServerStoppedException while its regions move to the others, and then ends.
func (p *Node) Stop() {
	n := p.life.Load()
	n.stopping.Store(true)
	_ = p.cluster.recover(func(at *node) bool { return at == n }) // what could not be saved is retried when the death is noticed
	n.end(false)
	p.cluster.died(n)
}

// Restart starts the node again with a new start code, at addr, or at its old address if addr is empty.
func (p *Node) Restart(addr string) error {
	if p.Up() {
		return fmt.Errorf("%w: %s", ErrRunning, p.Addr())
	}
	if addr == "" {
		addr = p.Addr()
	}
	return p.cluster.start(p, addr)
}

// Freeze stops the node as SIGSTOP does: it accepts connections and bytes but answers nothing until Thaw.
func (p *Node) Freeze() { p.life.Load().gate.set(&gateState{shut: true}) }

// Thaw resumes a frozen or slow node at full speed.
func (p *Node) Thaw() { p.life.Load().gate.set(nil) }

// Slow limits each connection to a number of bytes per second, each way.
func (p *Node) Slow(bytesPerSecond int) {
	p.life.Load().gate.set(&gateState{rate: max(1, bytesPerSecond)})
}

// SetClock sets the node's clock ahead of Options.Clock, or behind it if ahead is negative.
func (p *Node) SetClock(ahead time.Duration) { p.skew.Store(int64(ahead)) }

// Add starts another region server on a free port of the master's host. It gets only regions that were on no node; see Balance.
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

// serves reports whether the node has the service.
func (n *node) serves(service string) bool {
	switch service {
	case "MasterService", "RegionServerStatusService", "LockService", "HbckService":
		return n.place.master
	}
	return services[service] != nil
}

// start begins a life of the node. The master then notices that the previous life has ended; a master that starts notices all dead nodes.
func (c *cluster) start(p *Node, addr string) error {
	before := p.life.Load()
	n, err := p.begin(addr)
	if err != nil {
		return err
	}
	p.life.Store(n)
	if before == nil {
		return nil // the cluster's start runs it once the catalogue is loaded
	}
	n.run()
	c.announce()
	if c.masterLife() == nil {
		return nil
	}
	return c.recover(func(at *node) bool { return !at.alive() && (p.master || at.place == p) })
}

// startCode returns a start code: the current time, but always greater than the last one.
func (c *cluster) startCode() int64 {
	for {
		last := c.lastStart.Load()
		code := max(last+1, c.now())
		if c.lastStart.CompareAndSwap(last, code) {
			return code
		}
	}
}

// live returns the lives on which regions may be opened.
func (c *cluster) live() []*node {
	var up []*node
	for _, p := range c.places.all() {
		if n := p.life.Load(); n.alive() {
			up = append(up, n)
		}
	}
	return up
}

// masterLife returns the master's life, or nil if it is down.
func (c *cluster) masterLife() *node {
	if n := c.master.life.Load(); n.ctx.Err() == nil {
		return n
	}
	return nil
}

// died marks a node's death as noticed after Options.DetectAfter. From then on the cluster knows it, and the master, if there is one, moves
// the regions.
func (c *cluster) died(n *node) {
	c.wg.Go(func() {
		t := time.NewTimer(c.opts.DetectAfter)
		defer t.Stop()
		select {
		case <-t.C:
			n.noticed.Store(true)
			c.announce()
			if c.masterLife() != nil {
				_ = c.recover(func(at *node) bool { return at == n }) // the store is broken, which all calls report
			}
		case <-c.ctx.Done():
		}
	})
}

// knownMaster returns the master's life as the cluster knows it: a dead one until its death is noticed.
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

// unlessNoticed returns the node, or nil if its death was noticed.
func (n *node) unlessNoticed() *node {
	if n.noticed.Load() {
		return nil
	}
	return n
}

// deadServers returns the names of lives known to have ended and not followed by another one.
func (c *cluster) deadServers() (dead []*hbasepb.ServerName) {
	for _, p := range c.places.all() {
		if n := p.life.Load(); n.noticed.Load() {
			dead = append(dead, n.serverName())
		}
	}
	return dead
}
