package hbase

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// The services that a connection's header may ask for.
const (
	clientService   = "ClientService"
	adminService    = "AdminService"
	masterService   = "MasterService"
	registryService = "ClientMetaService"
)

// failedExpiry is for how long a server that refused a connection is taken to do so still [hbase.ipc.client.failed.servers.expiry].
const failedExpiry = 2 * time.Second

// servers are the connections by server and service, made when they are first needed.
type servers struct {
	opts *Options
	ctx  context.Context // the client's life
	wg   *sync.WaitGroup // the client's goroutines

	mu     sync.Mutex
	conns  map[endpoint]*dialling
	failed map[string]failure
	closed bool
}

type endpoint struct{ addr, service string }

type failure struct {
	at  time.Time
	err error
}

// dialling is a connection made or being made: conn and err may be read when ready is closed.
type dialling struct {
	ready chan struct{}
	conn  *conn
	err   error
}

func newServers(ctx context.Context, opts *Options, wg *sync.WaitGroup) *servers {
	return &servers{opts: opts, ctx: ctx, wg: wg, conns: make(map[endpoint]*dialling), failed: make(map[string]failure)}
}

// call sends one message and decodes the answer into out; cells is the answer's cell block. It takes at most RPCTimeout.
func (s *servers) call(ctx context.Context, to endpoint, method string, param, out proto.Message) (cells []byte, err error) {
	r, err := s.roundTrip(ctx, to, method, func(dst []byte, c wire.Call) ([]byte, error) {
		return wire.AppendRequest(dst, c, param, nil)
	})
	if err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(r.Param, out); err != nil {
		return nil, invalid(to.addr, fmt.Errorf("to %s: %w", method, err))
	}
	return r.Cells, nil
}

// roundTrip sends one request over the connection to a server, which it makes if need be.
func (s *servers) roundTrip(ctx context.Context, to endpoint, method string, encode encoder) (wire.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.RPCTimeout)
	defer cancel()
	for {
		c, err := s.get(ctx, to)
		if err != nil {
			return wire.Response{}, err
		}
		r, err := c.roundTrip(ctx, method, encode)
		if errors.Is(err, errIdle) {
			continue
		}
		return r, err
	}
}

// get returns the connection to a server. Whoever comes first has it made, the others wait for it; that the first one goes
// away does not disturb them.
func (s *servers) get(ctx context.Context, to endpoint) (*conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	if f, ok := s.failed[to.addr]; ok && time.Since(f.at) < failedExpiry {
		s.mu.Unlock()
		return nil, &connError{server: to.addr, class: "connection", dead: true, err: fmt.Errorf("failed a moment ago: %w", f.err), unsent: true}
	}
	d := s.conns[to]
	if d == nil {
		d = &dialling{ready: make(chan struct{})}
		s.conns[to] = d
		s.wg.Go(func() { s.dial(to, d) })
	}
	s.mu.Unlock()
	select {
	case <-d.ready:
		return d.conn, d.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, &connError{server: to.addr, class: "timeout", err: fmt.Errorf("connecting: %w", ctx.Err()), unsent: true}
		}
		return nil, fmt.Errorf("%s: connecting: %w", to.addr, context.Cause(ctx))
	}
}

func (s *servers) dial(to endpoint, d *dialling) {
	defer close(d.ready)
	c, err := s.connect(to)
	if s.opts.Hooks.Dial != nil {
		s.opts.Hooks.Dial(to.addr, err)
	}
	if s.dialled(to, d, c, err) {
		c.fail(ErrClosed)
	}
}

// dialled notes how a dial ended, and tells whether the client was closed meanwhile.
func (s *servers) dialled(to endpoint, d *dialling, c *conn, err error) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.conn = c
	if err != nil {
		d.err = &connError{server: to.addr, class: "connection", dead: true, err: err}
		delete(s.conns, to)
		s.failed[to.addr] = failure{time.Now(), err}
		return false
	}
	delete(s.failed, to.addr)
	select {
	case <-c.done: // before forget could see it
		delete(s.conns, to)
	default:
	}
	return s.closed
}

func (s *servers) connect(to endpoint) (*conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.DialTimeout)
	defer cancel()
	socket, err := s.opts.Dial(ctx, "tcp", to.addr)
	if err != nil {
		return nil, err
	}
	c, err := newConn(socket, to.addr, to.service, s.opts, s.wg, func(c *conn) { s.forget(to, c) })
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return c, nil
}

// forget drops a connection that has ended, so that the next call makes another.
func (s *servers) forget(to endpoint, c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.conns[to]; d != nil && d.conn == c {
		delete(s.conns, to)
	}
}

// close ends all connections; their goroutines, and dials under way, end with the client's WaitGroup.
func (s *servers) close() {
	s.mu.Lock()
	s.closed = true
	var open []*conn
	for _, d := range s.conns {
		if d.conn != nil { // else its dial sees closed
			open = append(open, d.conn)
		}
	}
	s.mu.Unlock()
	for _, c := range open {
		c.fail(ErrClosed)
	}
}
