package hbase_test

import (
	"bytes"
	"context"
	"net"
	"slices"
	"sync"
)

// tap records what its connections send, and can cut them.
type tap struct {
	mu    sync.Mutex
	sent  bytes.Buffer
	conns []net.Conn
}

func (p *tap) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
	return &tapped{c, p}, nil
}

// bytes returns what has been sent so far.
func (p *tap) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent.Bytes())
}

// all cuts all connections.
func (p *tap) all() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns, p.sent = nil, bytes.Buffer{}
}

type tapped struct {
	net.Conn
	tap *tap
}

func (c *tapped) Write(b []byte) (int, error) {
	c.tap.mu.Lock()
	c.tap.sent.Write(b)
	c.tap.mu.Unlock()
	return c.Conn.Write(b)
}
