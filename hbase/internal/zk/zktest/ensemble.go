// Package zktest is a ZooKeeper ensemble for tests. It serves the few requests that package zk makes, and shares no code with it.
package zktest

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

const (
	getData      = 4
	closeSession = -11
	setAuth      = 100
	noNode       = -101
	noAuth       = -102
	maxMessage   = 4 << 20
	helloLength  = 45
)

// Ensemble is a ZooKeeper ensemble for tests. Its fields determine what its members answer; access them within Do.
type Ensemble struct {
	t  testing.TB
	wg sync.WaitGroup

	mu     sync.Mutex
	Znodes map[string][]byte
	Down   map[string]bool // members that refuse connections
	Refuse bool            // refuse sessions
	Auth   string          // user:password that a session must present to read; empty: none
	Mute   bool            // do not answer requests
	Cut    int             // number of requests that end their connection instead
	conns  []net.Conn

	listener net.Listener // set by Listen

	Reads              int
	Opened, Closed     int // sessions; closed by their client
	Open, MostAtOnce   int
	SessionTimeoutSecs int
}

// New returns an ensemble with the znodes of an HBase at peer.example:16000 below parent.
func New(t testing.TB, parent string) *Ensemble {
	z := &Ensemble{t: t, Znodes: map[string][]byte{"/zookeeper": nil}, Down: map[string]bool{}, SessionTimeoutSecs: 30}
	server := &hbasepb.ServerName{HostName: proto.String("peer.example"), Port: proto.Uint32(16000), StartCode: proto.Uint64(1)}
	z.Set(path.Join(parent, "master"), &hbasepb.Master{Master: server})
	z.Set(path.Join(parent, "meta-region-server"), &hbasepb.MetaRegionServer{Server: server, State: hbasepb.RegionState_OPEN.Enum()})
	t.Cleanup(z.Stop)
	return z
}

// Set writes a message to a znode, like a master, and creates the znodes above it.
func (z *Ensemble) Set(name string, m proto.Message) {
	b, err := proto.Marshal(m)
	if err != nil {
		z.t.Fatal(err)
	}
	z.SetRaw(name, append([]byte("\xff\x00\x00\x00\x07master:PBUF"), b...))
}

// SetRaw writes the bytes of a znode and creates the znodes above it.
func (z *Ensemble) SetRaw(name string, data []byte) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.Znodes[name] = data
	for up := path.Dir(name); up != "/"; up = path.Dir(up) {
		if _, ok := z.Znodes[up]; !ok {
			z.Znodes[up] = nil
		}
	}
}

// Do calls f with the fields locked.
func (z *Ensemble) Do(f func()) {
	z.mu.Lock()
	defer z.mu.Unlock()
	f()
}

// Stop ends all connections and waits for the ensemble's goroutines.
func (z *Ensemble) Stop() {
	if z.listener != nil {
		_ = z.listener.Close() // the accepting goroutine sees it
	}
	z.Do(func() {
		for _, c := range z.conns {
			c.Close()
		}
	})
	z.wg.Wait()
}

// Dial connects to a member.
func (z *Ensemble) Dial(_ context.Context, _, addr string) (net.Conn, error) {
	z.mu.Lock()
	refused := z.Down[addr]
	z.mu.Unlock()
	if refused {
		return nil, errors.New("connection refused by the test")
	}
	client, server := net.Pipe()
	z.serve(server)
	return client, nil
}

func (z *Ensemble) serve(conn net.Conn) {
	z.Do(func() { z.conns = append(z.conns, conn) })
	z.wg.Go(func() {
		defer conn.Close()
		if z.welcome(conn) {
			z.answers(conn)
		}
	})
}

// Serve serves a connection of any kind until it ends. It ends the connection if it does not start a session.
func (z *Ensemble) Serve(conn net.Conn) {
	defer conn.Close()
	if hello, err := readMessage(conn); err == nil && len(hello) == helloLength && z.begin(conn) {
		z.answers(conn)
	}
}

func (z *Ensemble) answers(conn net.Conn) {
	shown := ""
	for z.answer(conn, &shown) {
	}
	z.Do(func() { z.Open-- })
}

func (z *Ensemble) welcome(conn net.Conn) bool {
	hello, err := readMessage(conn)
	if err != nil || len(hello) != helloLength {
		z.t.Errorf("zk peer: hello of %d bytes: %v", len(hello), err)
		return false
	}
	return z.begin(conn)
}

// begin answers the start of a session.
func (z *Ensemble) begin(conn net.Conn) bool {
	z.mu.Lock()
	timeout := z.SessionTimeoutSecs * 1000
	if z.Refuse {
		timeout = 0
	} else {
		z.Opened++
		z.Open++
		z.MostAtOnce = max(z.MostAtOnce, z.Open)
	}
	z.mu.Unlock()
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(timeout))
	b = binary.BigEndian.AppendUint64(b, 7)
	b = append(appendBytes(b, make([]byte, 16)), 0)
	_, err := conn.Write(appendBytes(nil, b))
	return err == nil && timeout > 0
}

func (z *Ensemble) answer(conn net.Conn, shown *string) bool {
	q, err := readMessage(conn)
	if err != nil || len(q) < 8 {
		return false
	}
	op := int32(binary.BigEndian.Uint32(q[4:]))
	z.mu.Lock()
	cut := z.Cut > 0
	if cut {
		z.Cut--
	}
	if op == closeSession {
		z.Closed++
	}
	mute := z.Mute
	z.mu.Unlock()
	switch {
	case op == closeSession || cut:
		return false
	case mute:
		return true
	}
	var code int32
	var body []byte
	if op == setAuth {
		z.authorize(int32(binary.BigEndian.Uint32(q)), q[8:], shown)
	} else if code, body = z.look(op, q[8:]); z.Auth != *shown && z.Auth != "" {
		code, body = noAuth, nil
	}
	b := append([]byte(nil), q[:4]...)
	b = binary.BigEndian.AppendUint64(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	_, err = conn.Write(appendBytes(nil, append(b, body...)))
	return err == nil
}

// authorize records the client's user and password.
func (z *Ensemble) authorize(xid int32, request []byte, shown *string) {
	scheme, rest, err := cutBytes(request[4:])
	auth, rest, err2 := cutBytes(rest)
	if err != nil || err2 != nil || len(rest) > 0 || xid != -4 || string(scheme) != "digest" {
		z.t.Errorf("zk peer: auth %d %q: %v %v", xid, request, err, err2)
	}
	*shown = string(auth)
}

func (z *Ensemble) look(op int32, request []byte) (code int32, body []byte) {
	name, _, err := cutBytes(request)
	if err != nil {
		z.t.Error(err)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.Reads++
	data, there := z.Znodes[string(name)]
	if !there && string(name) != "/" {
		return noNode, nil
	}
	if op == getData {
		return 0, append(appendBytes(nil, data), make([]byte, 68)...)
	}
	var names []string
	for n := range z.Znodes {
		if path.Dir(n) == string(name) {
			names = append(names, path.Base(n))
		}
	}
	slices.Sort(names)
	body = binary.BigEndian.AppendUint32(nil, uint32(len(names)))
	for _, n := range names {
		body = appendBytes(body, []byte(n))
	}
	return 0, body
}

func readMessage(r io.Reader) ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(prefix[:])
	if n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// Listen serves on a socket and returns its address.
func (z *Ensemble) Listen() string {
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

// Finish waits until every client has closed its connections by itself.
func (z *Ensemble) Finish() {
	_ = z.listener.Close() // the accepting goroutine sees it
	z.wg.Wait()
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
}

func cutBytes(b []byte) (value, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, fmt.Errorf("no string in %d bytes", len(b))
	}
	n := binary.BigEndian.Uint32(b)
	return b[4 : 4+n], b[4+n:], nil
}
