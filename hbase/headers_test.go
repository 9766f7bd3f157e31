package hbase_test

import (
	"encoding/binary"
	"net"
	"sync"
	"testing"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// headers is a server and a client, and records the headers of the client's requests.
type headers struct {
	server *embedded.Server
	client *hbase.Client
	proxy  string

	mu   sync.Mutex
	seen map[string]*hbasepb.RequestHeader // the last one of each method
}

func newHeaders(t *testing.T) *headers {
	h := &headers{seen: map[string]*hbasepb.RequestHeader{}}
	var err error
	h.server, err = embedded.Start(embedded.Options{Listen: func(network, addr string) (net.Listener, error) {
		l, err := net.Listen(network, addr)
		return &notingListener{l, h}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.server.Close() })
	h.proxy = h.server.Addr()
	h.client = dial(t, "rpc://"+h.proxy)
	table(t, h.client, "t")
	return h
}

func (h *headers) last(method string) *hbasepb.RequestHeader {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[method]
}

type notingListener struct {
	net.Listener
	h *headers
}

func (l *notingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &notingConn{Conn: c, h: l.h}, nil
}

// notingConn records the headers of the requests that are read from it before the server gets them, so that whoever has an answer
// finds its request recorded.
type notingConn struct {
	net.Conn
	h *headers

	unread  []byte // what has been read and is not yet a whole frame
	started bool   // whether the preamble and the connection header are behind us
}

func (c *notingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.unread = append(c.unread, b[:n]...)
	for {
		frame, ok := c.frame()
		if !ok {
			return n, err
		}
		if q, err := wire.DecodeRequest(frame); err == nil {
			c.h.mu.Lock()
			c.h.seen[q.Header.GetMethodName()] = q.Header
			c.h.mu.Unlock()
		}
	}
}

// frame takes the next whole request out of what has been read, and reports whether there is one.
func (c *notingConn) frame() ([]byte, bool) {
	if !c.started {
		const preamble = 6
		if len(c.unread) < preamble {
			return nil, false
		}
		_, rest, ok := cutFrame(c.unread[preamble:]) // the connection header is not a request
		if !ok {
			return nil, false
		}
		c.started, c.unread = true, rest
	}
	frame, rest, ok := cutFrame(c.unread)
	c.unread = rest
	return frame, ok
}

// cutFrame cuts the first frame, four bytes of length and so many bytes, from b. If b does not hold all of it, rest is b.
func cutFrame(b []byte) (frame, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, b, false
	}
	n := 4 + int(binary.BigEndian.Uint32(b))
	if len(b) < n {
		return nil, b, false
	}
	return b[4:n], b[n:], true
}
