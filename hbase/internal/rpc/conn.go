// Package rpc makes calls to HBase's servers and decodes the rows and cells of their answers. It has one pipelined connection per service
// of each server, dialled when first needed. Its errors are those of one try, as package remote diagnoses them; callers retry.
//
// The path of a call: Servers.RoundTrip (servers.go) gets the connection dialled, and conn.roundTrip (conn.go) puts the frame into the
// outbox, which writes it (outbox.go), and waits. conn.read checks the length of each answer against Options.MaxAnswerBytes before
// allocating memory for it, and delivers the answer to its call.
package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"
	"brine/internal/certs"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"
)

const (
	idleTimeout = 2 * time.Minute // [hbase.ipc.client.connection.minIdleTimeBeforeClose]
	readBuffer  = 64 << 10
	maxCallID   = 1<<31 - 1 // Java reads it as an int; negative ids belong to no call
)

// errIdle ends an unused connection. A call that was just about to use it goes to a new one.
var errIdle = errors.New("connection was closed because it was idle")

// conn is one connection to one service of one server. Calls are pipelined: each has an id, and answers arrive in any order.
//
// Two goroutines live as long as the connection: the writer of its outbox, and read, which alone reads from the socket and delivers each
// answer to its call.
type conn struct {
	addr    string
	opts    *Options
	socket  net.Conn
	packing wire.Compression // of cell blocks
	calls   *calls
	out     *outbox
	life    context.Context // ends with the connection
	end     context.CancelFunc
	failed  func(*conn) // called once, by the pool
	onClose sync.Once
	large   *semaphore.Weighted // bytes of large answers being read by the client

	mu      sync.Mutex // guards the fields below, and the socket's read deadline
	pending map[uint32]*call
	waiting bool // an answer must arrive by the read deadline, even if the caller has gone
	heard   bool // an answer has arrived
	nextID  uint32
	expires time.Time   // when expiry runs, no later than the first call that is pending; zero: it does not
	expiry  *time.Timer // ends calls that have waited too long; nil: none has been pending yet
	err     error       // why life has ended
}

// newConn performs the handshake on a connected socket and starts the two goroutines. The server answers the handshake only to refuse it.
// Kerberos precedes it with its own exchange.
func (s *Servers) newConn(ctx context.Context, socket net.Conn, to Endpoint) (*conn, error) {
	opts, packing := &s.opts, s.opts.packing(to.service)
	if err := socket.SetDeadline(time.Now().Add(opts.DialTimeout)); err != nil {
		return nil, err
	}
	var hello []byte
	var err error
	if opts.Kerberos == nil {
		hello = wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthSimple})
	} else if socket, err = opts.authenticate(ctx, socket, to.addr); err != nil {
		return nil, err
	}
	hello, err = wire.AppendConnectionHeader(hello, connectionHeader(opts.userInfo(), to.service, packing))
	if err != nil {
		return nil, err
	}
	if _, err := socket.Write(hello); err != nil {
		return nil, opts.unanswered(fmt.Errorf("handshake: %w", err))
	}
	if err := probe(socket, to.addr, packing); err != nil {
		return nil, opts.unanswered(err)
	}
	if err := socket.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	c := &conn{
		addr: to.addr, opts: opts, socket: socket, packing: packing, failed: func(c *conn) { s.forget(to, c) },
		calls: &s.calls, out: newOutbox(socket, opts.RPCTimeout), pending: make(map[uint32]*call), large: s.large,
	}
	c.life, c.end = context.WithCancel(context.Background())
	s.goroutines.Go(func() { c.fail(c.out.write(c.life.Done())) })
	s.goroutines.Go(func() { c.fail(c.read()) })
	return c, nil
}

// connectionHeader has a version because servers send partial answers to a Multi only to clients newer than 1.2.
func connectionHeader(user *hbasepb.UserInformation, service Service, c wire.Compression) *hbasepb.ConnectionHeader {
	h := &hbasepb.ConnectionHeader{
		UserInfo:            user,
		ServiceName:         proto.String(string(service)),
		CellBlockCodecClass: proto.String(wire.Codec),
		VersionInfo: &hbasepb.VersionInfo{
			Version: proto.String("2.6.0"), VersionMajor: proto.Uint32(2), VersionMinor: proto.Uint32(6),
			Url: proto.String(""), Revision: proto.String(""), User: proto.String(""), Date: proto.String(""), SrcChecksum: proto.String(""),
		},
	}
	if c != wire.None {
		h.CellBlockCompressorClass = proto.String(c.Class())
	}
	return h
}

// Encoder appends a request frame with the call's id to dst.
type Encoder func(dst []byte, c wire.Call) ([]byte, error)

// roundTrip sends a request and waits for its answer until then. An exception from the server is returned as an error.
func (c *conn) roundTrip(ctx context.Context, until time.Time, method string, priority uint32,
	encode Encoder) (r wire.Response, err error) {
	start := time.Now()
	trace, end := c.opts.traced(ctx, c.addr, method)
	defer func() { end(err) }()
	q := c.calls.get(until)
	id, err := c.register(q)
	if err != nil {
		return wire.Response{}, err
	}
	q.frame, err = encode(q.frame, wire.Call{
		ID: id, Method: method, Timeout: timeoutMillis(ctx, start, until), Priority: priority, Trace: trace, Compression: c.packing,
	})
	if err != nil {
		c.withdraw(id)
		return wire.Response{}, err
	}
	sent := len(q.frame)
	r, err = c.await(ctx, id, q)
	if err == nil {
		r.Cells, err = c.expand(r.Cells)
	}
	if c.opts.Called != nil {
		c.opts.Called(CallInfo{Server: c.addr, Method: method, Duration: time.Since(start), Sent: sent, Err: err})
	}
	return r, err
}

// timeoutMillis returns how long the caller will wait.
func timeoutMillis(ctx context.Context, now, until time.Time) uint32 {
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
		until = deadline
	}
	return uint32(max(1, min(until.Sub(now).Milliseconds(), 1<<31-1)))
}

// await sends a call and waits for its outcome. The caller must not use q afterwards.
func (c *conn) await(ctx context.Context, id uint32, q *call) (wire.Response, error) {
	if ctx.Err() != nil {
		c.withdraw(id)
		return wire.Response{}, c.interrupted(ctx.Err(), context.Cause(ctx))
	}
	if c.out.queue(q.frame) {
		q.written.Store(true)
		if err := c.out.flush(); err != nil {
			c.fail(fmt.Errorf("write: %w", err))
		}
	} else {
		select {
		case c.out.send <- q:
		case <-q.settled: // failed with the connection, or too late
			c.unsent(id)
			return q.response, q.err
		case <-ctx.Done():
			c.unsent(id)
			return wire.Response{}, c.interrupted(ctx.Err(), context.Cause(ctx))
		}
	}
	select {
	case <-q.settled:
		return c.calls.outcome(q)
	case <-ctx.Done():
		c.forget(id)
		return wire.Response{}, c.interrupted(ctx.Err(), context.Cause(ctx))
	}
}

// interrupted distinguishes a call's time-out, for which the server is responsible, from a caller that went away.
func (c *conn) interrupted(err, cause error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &remote.ConnError{Server: c.addr, Class: "timeout", Err: fmt.Errorf("no answer in time: %w", err)}
	}
	return fmt.Errorf("%s has not answered yet: %w", c.addr, cause)
}

func (c *conn) register(q *call) (id uint32, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.nextID = (c.nextID + 1) & maxCallID
	c.pending[c.nextID] = q
	if !c.waiting {
		c.armRead()
	}
	if c.expires.IsZero() || q.until.Before(c.expires) {
		c.expireAt(q.until)
	}
	return c.nextID, nil
}

// forget drops a call that nobody waits for; its answer will be discarded. The answer is still due: otherwise a peer that has stopped
// answering would be called again and again, each time with a new deadline.
func (c *conn) forget(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// withdraw drops a call that was not sent.
func (c *conn) withdraw(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
	if len(c.pending) == 0 && c.err == nil {
		c.armRead()
	}
}

// unsent withdraws a call that did not get through to the writer.
func (c *conn) unsent(id uint32) {
	c.out.sent()
	c.withdraw(id)
}

// expireAt makes expire run at t. The caller holds c.mu.
func (c *conn) expireAt(t time.Time) {
	c.expires = t
	if c.expiry == nil {
		c.expiry = time.AfterFunc(time.Until(t), c.expire)
		return
	}
	c.expiry.Reset(time.Until(t))
}

// expire ends the calls that have waited too long, as forget does. One timer serves all calls, and those that are answered in time, nearly
// all, do not touch it.
func (c *conn) expire() {
	c.mu.Lock()
	var late []*call
	var next time.Time
	now := time.Now()
	for id, q := range c.pending {
		switch {
		case !q.until.After(now):
			delete(c.pending, id)
			late = append(late, q)
		case next.IsZero() || q.until.Before(next):
			next = q.until
		}
	}
	c.expires = time.Time{}
	if !next.IsZero() {
		c.expireAt(next)
	}
	c.mu.Unlock()
	for _, q := range late {
		q.settle(wire.Response{}, c.interrupted(context.DeadlineExceeded, nil))
	}
}

// armRead sets the deadline of the next byte: the time of one call while calls are pending, so that a half-open connection is noticed;
// otherwise the idle time-out. The caller holds c.mu.
func (c *conn) armRead() {
	limit := idleTimeout
	c.waiting = len(c.pending) > 0
	if c.waiting {
		limit = c.opts.RPCTimeout
	}
	_ = c.socket.SetReadDeadline(time.Now().Add(limit)) // fails only on a closed socket, which read notices
}

// read delivers answers to their calls. It returns the error that stopped it.
func (c *conn) read() error {
	r := bufio.NewReaderSize(c.socket, readBuffer)
	for {
		n, err := c.readPrefix(r)
		if err != nil {
			return c.readError(err)
		}
		h, err := wire.ReadResponseHeader(r, n)
		if err != nil {
			return c.readError(err)
		}
		if h.CallID > maxCallID && h.Exception != nil { // an answer to no call: the server ends the connection
			return c.opts.refusal(c.addr, h.Exception)
		}
		if err := c.readBody(r, h); err != nil {
			return c.readError(err)
		}
	}
}

func (c *conn) readPrefix(r *bufio.Reader) (int, error) {
	var prefix [wire.PrefixLen]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return 0, err
	}
	n, err := wire.FrameLen(prefix, c.opts.MaxAnswerBytes)
	if err != nil && alert(prefix) {
		return 0, errors.New("the port speaks TLS; set hbase.tls, or correct hbase.connect")
	}
	if err == nil && n > r.Buffered() { // the rest gets the time of one call
		err = c.socket.SetReadDeadline(time.Now().Add(c.opts.RPCTimeout))
	}
	return n, err
}

// alert reports whether the first bytes of an answer are a TLS alert record, which means that what we sent is not TLS: the record type, and
// major version 3.
func alert(prefix [wire.PrefixLen]byte) bool { return prefix[0] == 21 && prefix[1] == 3 }

// unanswered adds a likely cause to the error of a connection that ended before anything was received on it: a server that requires another
// kind of connection closes it this way.
func (o *Options) unanswered(err error) error {
	if !certs.Ended(err) {
		return err
	}
	if o.TLS {
		return fmt.Errorf("the server closed the connection before answering, as it does if it refuses the client's certificate "+
			"(hbase.tls.cert): %w", err)
	}
	return fmt.Errorf("the server closed the connection before answering, as it does if it requires TLS (hbase.tls): %w", err)
}

// readBody reads what follows the header of an answer, and delivers it. The large answers being read at the same time on all connections
// are together no longer than the longest permitted answer.
func (c *conn) readBody(r *bufio.Reader, h wire.ResponseHeader) error {
	body, err := readBytes(r, min(h.Rest, believed))
	if err != nil {
		return err
	}
	if h.Rest > believed {
		if err := c.large.Acquire(c.life, int64(h.Rest)); err != nil {
			return err
		}
		defer c.large.Release(int64(h.Rest))
		if body, err = c.readLarge(r, body, h.Rest); err != nil {
			return err
		}
	}
	response, err := h.Response(body)
	if err != nil {
		return err
	}
	c.deliver(response)
	return nil
}

// readLarge reads the rest of an answer that may have waited for others: it gets the time of one call again.
func (c *conn) readLarge(r *bufio.Reader, first []byte, n int) ([]byte, error) {
	if err := c.socket.SetReadDeadline(time.Now().Add(c.opts.RPCTimeout)); err != nil {
		return nil, err
	}
	return readOn(r, first, n)
}

// believed is the number of bytes allocated on the strength of an announced length, before any have arrived.
const believed = 64 << 10

// readBytes reads n bytes. It allocates memory for all of them once, after the first ones have arrived.
func readBytes(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, min(n, believed))
	if _, err := io.ReadFull(r, b); err != nil || n <= believed {
		return b, err
	}
	return readOn(r, b, n)
}

// readOn reads the rest of n bytes after first, and returns all of them.
func readOn(r io.Reader, first []byte, n int) ([]byte, error) {
	whole := make([]byte, n)
	_, err := io.ReadFull(r, whole[copy(whole, first):])
	return whole, err
}

// readError distinguishes an idle connection from a silent one.
func (c *conn) readError(err error) error {
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		return fmt.Errorf("read: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.waiting {
		return errIdle
	}
	return &remote.ConnError{
		Server: c.addr, Class: "timeout", Dead: true,
		Err: fmt.Errorf("%d calls pending and no answer for %v", len(c.pending), c.opts.RPCTimeout),
	}
}

func (c *conn) deliver(r wire.Response) {
	c.mu.Lock()
	q := c.pending[r.CallID]
	delete(c.pending, r.CallID)
	c.heard = true
	c.armRead()
	c.mu.Unlock()
	if q == nil {
		return // its caller has gone
	}
	var err error
	if r.Exception != nil {
		err = remote.NewException(c.addr, r.Exception)
	}
	q.settle(r, err)
}

// fail ends the connection. The first reason counts, and every pending call gets it.
func (c *conn) fail(err error) {
	c.onClose.Do(func() {
		if err == nil {
			err = remote.ErrClosed
		}
		_, silent := errors.AsType[*remote.ConnError](err)
		_, refused := errors.AsType[*remote.Exception](err)
		c.mu.Lock()
		if !silent && !refused && !errors.Is(err, remote.ErrClosed) {
			if !c.heard {
				err = c.opts.unanswered(err)
			}
			err = &remote.ConnError{Server: c.addr, Class: "connection", Err: err, Cut: true}
		}
		c.err = err
		out := c.pending
		c.pending = nil
		if c.expiry != nil {
			c.expiry.Stop()
		}
		c.mu.Unlock()
		c.end()
		_ = c.socket.Close() // the reason is already known
		c.failed(c)
		for _, q := range out {
			q.settle(wire.Response{}, err)
		}
	})
}
