package embedded

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/hbase/hbasepb"
	"brine/internal/sockets"

	"google.golang.org/protobuf/proto"
)

// node is one life of a Node, from its start until it is killed or stopped: a listener with its connections, and the open regions with
// their scanners.
type node struct {
	cluster   *cluster
	place     *Node
	listener  net.Listener
	addr      string // host:port of the listener
	host      string // host at which clients reach it, as is port
	port      uint32
	startCode int64 // start time in ms; a restarted node is a different server

	ctx      context.Context // done when the life ends
	cancel   context.CancelFunc
	stopping atomic.Bool // every call is answered with RegionServerStoppedException
	noticed  atomic.Bool // the cluster knows that it has ended
	gate     gate

	mu    sync.Mutex // guards conns and ended
	conns map[*conn]struct{}
	ended bool
	wg    sync.WaitGroup // the accept loop, the lease sweeper and every connection

	online   sync.Map // region name and encoded name (string) → *region
	absent   absent
	scanners scanners
	requests atomic.Int64
}

// begin starts a life of the place on an address; run serves it.
func (p *Node) begin(addr string) (*node, error) {
	l, err := p.cluster.opts.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	n := &node{
		cluster: p.cluster, place: p, listener: sockets.Listener(l, p.cluster.opts.Warn), addr: l.Addr().String(),
		startCode: p.cluster.startCode(), conns: make(map[*conn]struct{}),
	}
	if n.host, n.port, err = p.cluster.reachedBy(n.addr, p.master); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	n.ctx, n.cancel = context.WithCancel(p.cluster.ctx)
	return n, nil
}

// reachedBy returns the host and port at which clients reach a listener; see Options.Advertise. The master's listener must come first.
func (c *cluster) reachedBy(addr string, master bool) (host string, port uint32, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, err
	}
	if master {
		c.masterPort.CompareAndSwap(0, uint32(number))
	}
	name, at, err := c.opts.advertised()
	if at != 0 {
		number += uint64(at) - uint64(c.masterPort.Load())
	}
	return cmp.Or(name, host), uint32(uint16(number)), err
}

func (n *node) run() {
	n.wg.Add(2)
	go n.serve()
}

// serve accepts connections until the listener is closed. It owns the goroutine of the lease sweeper, and each connection owns those of its
// calls; end joins all of them.
func (n *node) serve() {
	defer n.wg.Done()
	go n.sweepLeases()
	for {
		c, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		if n.ended {
			n.mu.Unlock()
			c.Close()
			return
		}
		conn := newConn(n, c)
		n.conns[conn] = struct{}{}
		n.wg.Add(1)
		n.mu.Unlock()
		go func() {
			defer n.wg.Done()
			conn.serve(n.ctx)
			n.mu.Lock()
			delete(n.conns, conn)
			n.mu.Unlock()
		}()
	}
}

// end closes the listener and the connections, waits for their goroutines and closes the scanners. Afterwards this life does nothing more.
// If abrupt is set, end resets the connections, so that unsent data is lost.
func (n *node) end(abrupt bool) {
	n.mu.Lock()
	n.ended = true
	n.cancel()
	_ = n.listener.Close() // it is closed whatever the error
	for c := range n.conns {
		if tcp, ok := c.net.Conn.(*net.TCPConn); ok && abrupt {
			_ = tcp.SetLinger(0) // it is about to be closed either way
		}
		c.net.Close()
	}
	n.mu.Unlock()
	n.wg.Wait()
	n.scanners.closeAll()
}

// alive reports whether regions may be opened on the node.
func (n *node) alive() bool { return n.ctx.Err() == nil && !n.stopping.Load() }

func (n *node) sweepLeases() {
	defer n.wg.Done()
	t := time.NewTicker(max(n.cluster.opts.ScannerLease/4, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-t.C:
			n.scanners.expire(n.clock())
		}
	}
}

// clock returns the node's time: the cluster's plus the node's skew.
func (n *node) clock() time.Time {
	return n.cluster.opts.Clock().Add(time.Duration(n.place.skew.Load()))
}

// serverName returns the node's name in messages.
func (n *node) serverName() *hbasepb.ServerName {
	return &hbasepb.ServerName{HostName: proto.String(n.host), Port: proto.Uint32(n.port), StartCode: proto.Uint64(uint64(n.startCode))}
}

// reached returns the host:port at which clients reach the node.
func (n *node) reached() string { return net.JoinHostPort(n.host, strconv.Itoa(int(n.port))) }

// String returns the node as HBase writes it in hbase:meta and in messages: host,port,startcode.
func (n *node) String() string {
	return n.host + "," + strconv.Itoa(int(n.port)) + "," + strconv.FormatInt(n.startCode, 10)
}

// region returns the online region with that name or encoded name.
func (n *node) region(spec *hbasepb.RegionSpecifier) (*region, error) {
	if r, ok := n.online.Load(string(spec.GetValue())); ok {
		return r.(*region), nil
	}
	return nil, n.absence(string(spec.GetValue()))
}

func (n *node) open(r *region) {
	r.mu.Lock()
	r.node.Store(n)
	r.mu.Unlock()
	n.absent.forget(r.encoded)
	n.online.Store(string(r.name), r)
	n.online.Store(r.encoded, r)
}

// take closes a region. When it returns, no call uses the region any more and its scanners are closed.
func (n *node) take(r *region) {
	n.online.Delete(string(r.name))
	n.online.Delete(r.encoded)
	r.mu.Lock()
	r.node.Store(nil)
	r.mu.Unlock()
	n.scanners.closeRegion(r)
}

// movedFor is how long a region server remembers where a region went. It is the same as HBase's.
const movedFor = 2 * time.Minute

// absent records regions that are not open on the node: where a region went, or that it is about to open.
type absent struct {
	mu      sync.Mutex
	regions map[string]absence // by encoded name
}

type absence struct {
	to    *node // nil: it opens here
	seq   int64 // if to is set: the region's sequence number when it closed
	until time.Time
}

func (a *absent) put(encoded string, why absence) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.regions == nil {
		a.regions = make(map[string]absence)
	}
	a.regions[encoded] = why
}

func (a *absent) forget(encoded string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.regions, encoded)
}

// absence returns the exception for a region, given by its name or encoded name, that is not online on the node.
func (n *node) absence(name string) *Exception {
	encoded := strings.TrimSuffix(name, ".")
	encoded = encoded[strings.LastIndexByte(encoded, '.')+1:]
	if isMeta(name) {
		encoded = metaEncoded
	}
	n.absent.mu.Lock()
	defer n.absent.mu.Unlock()
	why, known := n.absent.regions[encoded]
	switch {
	case known && why.to == nil:
		return &Exception{Class: classOpening, Message: "Region " + name + " is opening on " + n.String()}
	case known && n.clock().Before(why.until):
		return RegionMoved(why.to.host, int32(why.to.port), why.to.startCode, why.seq)
	case known:
		delete(n.absent.regions, encoded)
	}
	return notServing(name + " is not online on " + n.String())
}

// isMeta reports whether a name or encoded name belongs to the region of hbase:meta.
func isMeta(region string) bool {
	return region == metaEncoded || strings.HasPrefix(region, metaName.String()+",")
}

// regions returns the node's regions: hbase:meta's first, then by table and start key.
func (n *node) regions() []*region {
	var rs []*region
	for _, t := range append([]*table{n.cluster.meta}, n.cluster.sorted()...) {
		if t == n.cluster.meta && len(rs) > 0 {
			continue
		}
		n.cluster.mu.RLock()
		all := t.regions
		n.cluster.mu.RUnlock()
		for _, r := range all {
			for _, r := range append([]*region{r}, n.cluster.replicasOf(r)...) {
				if _, online := n.online.Load(r.encoded); online {
					rs = append(rs, r)
				}
			}
		}
	}
	return rs
}
