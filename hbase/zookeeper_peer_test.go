package hbase

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"slices"
	"sync"
	"testing"

	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// zkPeer is a ZooKeeper ensemble in the test: what its members answer is in its fields, under mu.
type zkPeer struct {
	t  testing.TB
	wg sync.WaitGroup

	mu     sync.Mutex
	znodes map[string][]byte
	down   map[string]bool // members that refuse connections
	refuse bool            // sessions
	mute   bool            // requests are not answered
	cut    int             // so many requests end their connection instead
	conns  []net.Conn

	listener net.Listener // set by listen

	reads              int
	opened, closed     int // sessions; closed by their client
	open, mostAtOnce   int
	sessionTimeoutSecs int
}

// newZKPeer has what an HBase at peerAddr keeps below parent.
func newZKPeer(t testing.TB, parent string) *zkPeer {
	z := &zkPeer{t: t, znodes: map[string][]byte{"/zookeeper": nil}, down: map[string]bool{}, sessionTimeoutSecs: 30}
	server := &hbasepb.ServerName{HostName: proto.String("peer.example"), Port: proto.Uint32(16000), StartCode: proto.Uint64(1)}
	z.set(path.Join(parent, "master"), &hbasepb.Master{Master: server})
	z.set(path.Join(parent, "meta-region-server"), &hbasepb.MetaRegionServer{Server: server, State: hbasepb.RegionState_OPEN.Enum()})
	t.Cleanup(z.stop)
	return z
}

func (z *zkPeer) set(name string, m proto.Message) {
	b, err := proto.Marshal(m)
	if err != nil {
		z.t.Fatal(err)
	}
	z.setRaw(name, append([]byte("\xff\x00\x00\x00\x07master:PBUF"), b...))
}

func (z *zkPeer) setRaw(name string, data []byte) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.znodes[name] = data
	for up := path.Dir(name); up != "/"; up = path.Dir(up) {
		if _, ok := z.znodes[up]; !ok {
			z.znodes[up] = nil
		}
	}
}

func (z *zkPeer) do(f func()) {
	z.mu.Lock()
	defer z.mu.Unlock()
	f()
}

func (z *zkPeer) stop() {
	if z.listener != nil {
		z.listener.Close()
	}
	z.do(func() {
		for _, c := range z.conns {
			c.Close()
		}
	})
	z.wg.Wait()
}

func (z *zkPeer) dial(_ context.Context, _, addr string) (net.Conn, error) {
	z.mu.Lock()
	refused := z.down[addr]
	z.mu.Unlock()
	if refused {
		return nil, errors.New("connection refused by the test")
	}
	client, server := net.Pipe()
	z.serve(server)
	return client, nil
}

// dialBeside returns a dialler that goes to p for the HBase server, and to z for all else.
func (z *zkPeer) dialBeside(p *peer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == peerAddr {
			return p.dial(ctx, network, addr)
		}
		return z.dial(ctx, network, addr)
	}
}

func (z *zkPeer) serve(conn net.Conn) {
	z.do(func() { z.conns = append(z.conns, conn) })
	z.wg.Go(func() {
		defer conn.Close()
		if !z.welcome(conn) {
			return
		}
		for z.answer(conn) {
		}
		z.do(func() { z.open-- })
	})
}

func (z *zkPeer) welcome(conn net.Conn) bool {
	hello, err := readZK(conn)
	if err != nil || len(hello) != 45 {
		z.t.Errorf("zk peer: hello of %d bytes: %v", len(hello), err)
		return false
	}
	z.mu.Lock()
	timeout := z.sessionTimeoutSecs * 1000
	if z.refuse {
		timeout = 0
	} else {
		z.opened++
		z.open++
		z.mostAtOnce = max(z.mostAtOnce, z.open)
	}
	z.mu.Unlock()
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(timeout))
	b = binary.BigEndian.AppendUint64(b, 7)
	b = append(zkAppendBytes(b, make([]byte, 16)), 0)
	_, err = conn.Write(zkAppendBytes(nil, b))
	return err == nil && timeout > 0
}

func (z *zkPeer) answer(conn net.Conn) bool {
	q, err := readZK(conn)
	if err != nil || len(q) < 8 {
		return false
	}
	op := int32(binary.BigEndian.Uint32(q[4:]))
	z.mu.Lock()
	cut := z.cut > 0
	if cut {
		z.cut--
	}
	if op == zkClose {
		z.closed++
	}
	mute := z.mute
	z.mu.Unlock()
	switch {
	case op == zkClose || cut:
		return false
	case mute:
		return true
	}
	code, body := z.look(op, q[8:])
	b := append([]byte(nil), q[:4]...)
	b = binary.BigEndian.AppendUint64(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	_, err = conn.Write(zkAppendBytes(nil, append(b, body...)))
	return err == nil
}

func (z *zkPeer) look(op int32, request []byte) (code zkError, body []byte) {
	name, _, err := zkBytes(request)
	if err != nil {
		z.t.Error(err)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.reads++
	data, there := z.znodes[string(name)]
	if !there && string(name) != "/" {
		return zkNoNode, nil
	}
	if op == zkGetData {
		return 0, append(zkAppendBytes(nil, data), make([]byte, 68)...)
	}
	var names []string
	for n := range z.znodes {
		if path.Dir(n) == string(name) {
			names = append(names, path.Base(n))
		}
	}
	slices.Sort(names)
	body = binary.BigEndian.AppendUint32(nil, uint32(len(names)))
	for _, n := range names {
		body = zkAppendBytes(body, []byte(n))
	}
	return 0, body
}

func readZK(r io.Reader) ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(prefix[:])
	if n > zkMaxMessage {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	return readBytes(r, int(n))
}

// listen serves on a socket, and gives its address.
func (z *zkPeer) listen() string {
	var err error
	if z.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		z.t.Fatal(err)
	}
	z.wg.Go(func() {
		for {
			conn, err := z.listener.Accept()
			if err != nil {
				return
			}
			z.serve(conn)
		}
	})
	return z.listener.Addr().String()
}

// finish waits until every client has ended its connections by itself.
func (z *zkPeer) finish() {
	z.listener.Close()
	z.wg.Wait()
}
