package embedded

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// node is one region server: a listener, its connections, the regions that it has and their scanners.
type node struct {
	cluster   *cluster
	listener  net.Listener
	addr      string // host:port
	host      string
	port      uint32
	startCode int64 // ms when it started: a node started again is another

	mu     sync.Mutex // guards conns and closed
	conns  map[*conn]struct{}
	closed bool
	wg     sync.WaitGroup // the accept loop, the lease sweeper and every connection

	online   sync.Map // region name and encoded name (string) → *region
	scanners scanners
	requests atomic.Int64
}

func listen(c *cluster, addr string) (*node, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	n := &node{
		cluster: c, listener: l, addr: l.Addr().String(), host: host, port: uint32(p),
		startCode: c.now(), conns: make(map[*conn]struct{}),
	}
	n.wg.Add(2)
	return n, nil
}

// serve accepts connections until the listener is closed. It owns the goroutine of the lease sweeper, and each connection
// owns those of its calls; stop joins all.
func (n *node) serve(ctx context.Context) {
	defer n.wg.Done()
	go n.sweepLeases(ctx)
	for {
		c, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		if n.closed {
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
			conn.serve(ctx)
			n.mu.Lock()
			delete(n.conns, conn)
			n.mu.Unlock()
		}()
	}
}

// stop ends listener and connections, waits for their goroutines and closes the scanners.
func (n *node) stop() {
	n.mu.Lock()
	n.closed = true
	_ = n.listener.Close() // it is closed, whatever it says
	for c := range n.conns {
		c.net.Close()
	}
	n.mu.Unlock()
	n.wg.Wait()
	n.scanners.closeAll()
}

func (n *node) sweepLeases(ctx context.Context) {
	defer n.wg.Done()
	t := time.NewTicker(max(n.cluster.opts.ScannerLease/4, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n.scanners.expire(n.cluster.opts.Clock())
		}
	}
}

// serverName is the node as messages name it.
func (n *node) serverName() *hbasepb.ServerName {
	return &hbasepb.ServerName{HostName: proto.String(n.host), Port: proto.Uint32(n.port), StartCode: proto.Uint64(uint64(n.startCode))}
}

// String is the node as HBase writes it in hbase:meta and in messages: host,port,startcode.
func (n *node) String() string {
	return n.host + "," + strconv.Itoa(int(n.port)) + "," + strconv.FormatInt(n.startCode, 10)
}

// region gives the online region of that name or encoded name.
func (n *node) region(spec *hbasepb.RegionSpecifier) (*region, error) {
	if r, ok := n.online.Load(string(spec.GetValue())); ok {
		return r.(*region), nil
	}
	return nil, notServing(string(spec.GetValue()) + " is not online on " + n.String())
}

func (n *node) open(r *region) {
	r.mu.Lock()
	r.node, r.closed = n, false
	r.mu.Unlock()
	n.online.Store(string(r.name), r)
	n.online.Store(r.encoded, r)
}

// take closes a region: when it returns no call works on it any more and its scanners are gone.
func (n *node) take(r *region) {
	n.online.Delete(string(r.name))
	n.online.Delete(r.encoded)
	r.mu.Lock()
	r.node, r.closed = nil, true
	r.mu.Unlock()
	n.scanners.closeRegion(r)
}
