package hbase_test

import (
	"bufio"
	"encoding/binary"
	"io"
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
	pr, pw := io.Pipe()
	go l.h.read(pr)
	return &notingConn{c, pw}, nil
}

// notingConn passes what is read to the reader of headers before the server gets it.
type notingConn struct {
	net.Conn
	copy *io.PipeWriter
}

func (c *notingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	_, _ = c.copy.Write(b[:n])
	return n, err
}

func (c *notingConn) Close() error {
	_ = c.copy.Close()
	return c.Conn.Close()
}

// read records the headers of a connection's requests.
func (h *headers) read(from *io.PipeReader) {
	defer func() { _, _ = io.Copy(io.Discard, from) }()
	r := bufio.NewReader(from)
	if _, err := io.CopyN(io.Discard, r, 6); err != nil { // the preamble
		return
	}
	for first := true; ; first = false {
		var n [4]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(n[:]))
		if _, err := io.ReadFull(r, frame); err != nil {
			return
		}
		q, err := wire.DecodeRequest(frame)
		if first || err != nil { // the connection header is not a request
			continue
		}
		h.mu.Lock()
		h.seen[q.Header.GetMethodName()] = q.Header
		h.mu.Unlock()
	}
}
