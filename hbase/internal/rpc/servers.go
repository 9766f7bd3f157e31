package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"
)

// Service is the service that a connection header requests.
type Service string

// The services of region servers and masters.
const (
	ClientService   Service = "ClientService"
	AdminService    Service = "AdminService"
	MasterService   Service = "MasterService"
	RegistryService Service = "ClientMetaService"
)

// Endpoint is one service of one server.
type Endpoint struct {
	addr    string // host:port
	service Service
}

// At returns the service's Endpoint at a server's address.
func (s Service) At(addr string) Endpoint { return Endpoint{addr, s} }

// Options are the client's options for connections.
type Options struct {
	User           string    // effective user of SIMPLE authentication
	Kerberos       *Kerberos // nil: SIMPLE
	Compression    wire.Compression
	RPCTimeout     time.Duration // per call
	DialTimeout    time.Duration
	MaxAnswerBytes int
	TLS            bool // Dial returns encrypted connections
	Dial           func(ctx context.Context, network, addr string) (net.Conn, error)
	Called         func(CallInfo) // after every call; may be nil
	Dialled        func(DialInfo) // after every attempt to connect; may be nil
	Tracer         Tracer         // may be nil
}

// CallInfo is one finished RPC.
type CallInfo struct {
	Server   string
	Method   string
	Duration time.Duration
	Sent     int // bytes of the frame
	Err      error
}

// DialInfo is one attempt to connect to a server.
type DialInfo struct {
	Server string
	Err    error
}

// failedExpiry is how long a server that refused a connection is assumed to refuse others [hbase.ipc.client.failed.servers.expiry].
const failedExpiry = 2 * time.Second

// Servers are a client's connections by server and service, made when first needed.
type Servers struct {
	opts       Options
	ctx        context.Context // ends with the client
	goroutines *Goroutines
	calls      calls

	large *semaphore.Weighted // bytes of large answers being read on all connections

	mu     sync.Mutex
	conns  map[Endpoint]*dialling
	failed map[string]failure
	closed bool
}

type failure struct {
	at  time.Time
	err error
}

// dialling is a connection that is made or being made: conn and err may be read once ready is closed.
type dialling struct {
	ready chan struct{}
	conn  *conn
	err   error
}

// New returns a client's servers. Their connections and goroutines end with ctx and Close; goroutines counts them.
func New(ctx context.Context, opts Options, goroutines *Goroutines) *Servers {
	return &Servers{
		opts: opts, ctx: ctx, goroutines: goroutines, large: semaphore.NewWeighted(int64(opts.MaxAnswerBytes)),
		conns: make(map[Endpoint]*dialling), failed: make(map[string]failure),
	}
}

// Call sends one message and decodes the answer into out; cells is the answer's cell block. It takes at most RPCTimeout.
func (s *Servers) Call(ctx context.Context, to Endpoint, method string, param, out proto.Message) (cells []byte, err error) {
	r, err := s.RoundTrip(ctx, to, method, func(dst []byte, c wire.Call) ([]byte, error) {
		return wire.AppendRequest(dst, c, param, nil)
	})
	if err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(r.Param, out); err != nil {
		return nil, remote.Invalid(to.addr, fmt.Errorf("to %s: %w", method, err))
	}
	return r.Cells, nil
}

// RoundTrip sends one request over the connection to a server, which it makes if necessary.
func (s *Servers) RoundTrip(ctx context.Context, to Endpoint, method string, encode Encoder) (wire.Response, error) {
	own := CallOptionsOf(ctx)
	timeout := s.opts.RPCTimeout
	if own.Timeout > 0 {
		timeout = min(timeout, own.Timeout)
	}
	until := time.Now().Add(timeout)
	for {
		c, err := s.get(ctx, to, until)
		if err != nil {
			return wire.Response{}, err
		}
		r, err := c.roundTrip(ctx, until, method, uint32(max(own.Priority, 0)), encode)
		if errors.Is(err, errIdle) {
			continue
		}
		return r, err
	}
}

// Connect makes the connection that a call to the server would need, if there is none.
func (s *Servers) Connect(ctx context.Context, to Endpoint) error {
	_, err := s.get(ctx, to, time.Time{})
	return err
}

// get returns the connection to a server. The first caller starts the dial, and the others wait for it, even if the first one leaves. The
// zero time sets no limit.
func (s *Servers) get(ctx context.Context, to Endpoint, until time.Time) (*conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, remote.ErrClosed
	}
	if f, ok := s.failed[to.addr]; ok && time.Since(f.at) < failedExpiry {
		s.mu.Unlock()
		again := fmt.Errorf("failed a moment ago: %w", f.err)
		return nil, &remote.ConnError{Server: to.addr, Class: "connection", Dead: true, Err: again, Unsent: true}
	}
	d := s.conns[to]
	if d == nil {
		d = &dialling{ready: make(chan struct{})}
		s.conns[to] = d
		s.goroutines.Go(func() { s.dial(to, d) })
	}
	s.mu.Unlock()
	select {
	case <-d.ready:
		return d.conn, d.err
	default:
	}
	if !until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	select {
	case <-d.ready:
		return d.conn, d.err
	case <-s.ctx.Done():
		return nil, remote.ErrClosed
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, &remote.ConnError{Server: to.addr, Class: "timeout", Err: fmt.Errorf("connecting: %w", ctx.Err()), Unsent: true}
		}
		return nil, fmt.Errorf("%s: connecting: %w", to.addr, context.Cause(ctx))
	}
}

func (s *Servers) dial(to Endpoint, d *dialling) {
	defer close(d.ready)
	c, err := s.connect(to)
	if s.opts.Dialled != nil {
		s.opts.Dialled(DialInfo{to.addr, err})
	}
	if s.dialled(to, d, c, err) {
		c.fail(remote.ErrClosed)
	}
}

// dialled records how a dial ended, and reports whether the client was closed meanwhile.
func (s *Servers) dialled(to Endpoint, d *dialling, c *conn, err error) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.conn = c
	if err != nil {
		d.err = &remote.ConnError{Server: to.addr, Class: "connection", Dead: true, Err: err, Unsent: true}
		delete(s.conns, to)
		s.failed[to.addr] = failure{time.Now(), err}
		return false
	}
	delete(s.failed, to.addr)
	select {
	case <-c.life.Done(): // it ended before forget could see it
		delete(s.conns, to)
	default:
	}
	return s.closed
}

func (s *Servers) connect(to Endpoint) (*conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.DialTimeout)
	defer cancel()
	socket, err := s.opts.Dial(ctx, "tcp", to.addr)
	if err != nil {
		return nil, err
	}
	c, err := s.newConn(ctx, socket, to)
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return c, nil
}

// forget drops a connection that has ended, so that the next call makes another.
func (s *Servers) forget(to Endpoint, c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.conns[to]; d != nil && d.conn == c {
		delete(s.conns, to)
	}
}

// Close ends all connections. Their goroutines, and those of dials in progress, end soon after.
func (s *Servers) Close() {
	s.mu.Lock()
	s.closed = true
	var open []*conn
	for _, d := range s.conns {
		if d.conn != nil { // otherwise its dial sees closed
			open = append(open, d.conn)
		}
	}
	s.mu.Unlock()
	for _, c := range open {
		c.fail(remote.ErrClosed)
	}
}
