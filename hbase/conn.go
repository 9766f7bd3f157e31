package hbase

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

const (
	idleTimeout = 2 * time.Minute // [hbase.ipc.client.connection.minIdleTimeBeforeClose]
	writeBuffer = 64 << 10
	maxCallID   = 1<<31 - 1 // Java reads it as an int; a negative one is no call's
)

// errIdle ends a connection that nobody used. A call that was just about to use it goes to a new one.
var errIdle = errors.New("connection was closed for being idle")

// conn is one connection to one service of one server. Calls are pipelined: each has an id, answers come in any order.
//
// Two goroutines live as long as it does. write alone writes to the socket, taking calls from send; read alone reads,
// handing each answer to its call. send is never closed: done is, and then everyone leaves.
type conn struct {
	addr    string
	opts    *Options
	socket  net.Conn
	packing wire.Compression // of cell blocks
	send    chan *call
	done    chan struct{}
	failed  func(*conn) // tells the pool, once
	onClose sync.Once

	mu      sync.Mutex // guards what follows, and the socket's read deadline
	pending map[uint32]*call
	waiting bool // an answer must come by the read deadline, though whoever asked may have gone
	nextID  uint32
	err     error // why done is closed
}

// call is one request until its answer. Its frame is the writer's until written is set.
type call struct {
	frame    []byte
	written  atomic.Bool
	answered chan struct{}
	response wire.Response
	err      error
}

// newConn shakes hands on a connected socket and starts the two goroutines in wg. Nothing is answered to the handshake
// unless it is refused.
func newConn(socket net.Conn, addr, service string, opts *Options, wg *sync.WaitGroup, failed func(*conn)) (*conn, error) {
	hello := wire.AppendPreamble(nil, wire.Preamble{Auth: wire.AuthSimple})
	hello, err := wire.AppendConnectionHeader(hello, connectionHeader(opts.User, service, opts.packing(service)))
	if err != nil {
		return nil, err
	}
	if err := socket.SetDeadline(time.Now().Add(opts.DialTimeout)); err != nil {
		return nil, err
	}
	if _, err := socket.Write(hello); err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	if err := probe(socket, addr, opts.packing(service)); err != nil {
		return nil, err
	}
	if err := socket.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	c := &conn{
		addr: addr, opts: opts, socket: socket, packing: opts.packing(service), failed: failed,
		send: make(chan *call, 64), done: make(chan struct{}), pending: make(map[uint32]*call),
	}
	wg.Go(func() { c.fail(c.write()) })
	wg.Go(func() { c.fail(c.read()) })
	return c, nil
}

// connectionHeader carries a version because servers answer parts of a Multi only to clients newer than 1.2.
func connectionHeader(user, service string, c wire.Compression) *hbasepb.ConnectionHeader {
	h := &hbasepb.ConnectionHeader{
		UserInfo:            &hbasepb.UserInformation{EffectiveUser: &user},
		ServiceName:         &service,
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

// encoder appends a request frame with the call's id to dst.
type encoder func(dst []byte, c wire.Call) ([]byte, error)

// frames are buffers for request frames. One comes back only when the writer is done with it.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// roundTrip sends a request and waits for its answer, an exception of the server's being an error.
func (c *conn) roundTrip(ctx context.Context, method string, encode encoder) (wire.Response, error) {
	start := time.Now()
	buf := frames.Get().(*[]byte)
	q := &call{answered: make(chan struct{})}
	id, err := c.register(q)
	if err != nil {
		return wire.Response{}, err
	}
	q.frame, err = encode((*buf)[:0], wire.Call{ID: id, Method: method, Timeout: timeoutMillis(ctx), Compression: c.packing})
	if err != nil {
		c.withdraw(id)
		return wire.Response{}, err
	}
	sent := len(q.frame)
	r, err := c.await(ctx, id, q)
	if err == nil {
		r.Cells, err = c.expand(r.Cells)
	}
	if q.written.Load() {
		*buf = q.frame[:0]
		frames.Put(buf)
	}
	if c.opts.Hooks.Call != nil {
		c.opts.Hooks.Call(CallInfo{Server: c.addr, Method: method, Duration: time.Since(start), Sent: sent, Err: err})
	}
	return r, err
}

func timeoutMillis(ctx context.Context) uint32 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return uint32(max(1, min(time.Until(deadline).Milliseconds(), 1<<31-1)))
}

func (c *conn) await(ctx context.Context, id uint32, q *call) (wire.Response, error) {
	select {
	case c.send <- q:
	case <-q.answered: // failed with the connection
		return q.response, q.err
	case <-ctx.Done():
		c.withdraw(id)
		return wire.Response{}, c.interrupted(ctx)
	}
	select {
	case <-q.answered:
		return q.response, q.err
	case <-ctx.Done():
		c.forget(id)
		return wire.Response{}, c.interrupted(ctx)
	}
}

// interrupted tells a call's time-out, which is the server's doing, from the caller's going away.
func (c *conn) interrupted(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &connError{server: c.addr, class: "timeout", err: fmt.Errorf("no answer in time: %w", ctx.Err())}
	}
	return fmt.Errorf("%s has not answered yet: %w", c.addr, context.Cause(ctx))
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
	return c.nextID, nil
}

// forget drops a call that nobody waits for; its answer will find nobody. That it must come remains: else a peer that has
// gone dumb would be asked again and again, each time with a new deadline.
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

// armRead says by when the next byte must come: while calls are out, within the time of one call, so that a half-open
// connection is noticed; else the connection is idle. c.mu is held.
func (c *conn) armRead() {
	limit := idleTimeout
	c.waiting = len(c.pending) > 0
	if c.waiting {
		limit = c.opts.RPCTimeout
	}
	_ = c.socket.SetReadDeadline(time.Now().Add(limit)) // fails only on a closed socket, which read notices itself
}

// write puts frames on the wire; small ones that wait together leave together. It returns why it cannot go on.
func (c *conn) write() error {
	w := bufio.NewWriterSize(c.socket, writeBuffer)
	for {
		select {
		case <-c.done:
			return nil
		case q := <-c.send:
			if err := c.writeBurst(w, q); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
	}
}

func (c *conn) writeBurst(w *bufio.Writer, q *call) error {
	if err := c.socket.SetWriteDeadline(time.Now().Add(c.opts.RPCTimeout)); err != nil {
		return err
	}
	for {
		if _, err := w.Write(q.frame); err != nil {
			return err
		}
		q.written.Store(true)
		select {
		case q = <-c.send:
		default:
			return w.Flush()
		}
	}
}

// read hands answers to their calls. It returns why it cannot go on.
func (c *conn) read() error {
	r := bufio.NewReaderSize(c.socket, writeBuffer)
	for {
		frame, err := c.readFrame(r)
		if err != nil {
			return c.readError(err)
		}
		response, err := wire.DecodeResponse(frame)
		if err != nil {
			return err
		}
		if response.CallID > maxCallID && response.Exception != nil { // the answer to no call: the server ends the connection
			return newRemoteError(c.addr, response.Exception)
		}
		c.deliver(response)
	}
}

func (c *conn) readFrame(r *bufio.Reader) ([]byte, error) {
	var prefix [wire.PrefixLen]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	n, err := wire.FrameLen(prefix, c.opts.MaxAnswerBytes)
	if err != nil {
		return nil, err
	}
	if n > r.Buffered() { // the body has a call's time of its own
		if err := c.socket.SetReadDeadline(time.Now().Add(c.opts.RPCTimeout)); err != nil {
			return nil, err
		}
	}
	return readBytes(r, n)
}

// believed is how many bytes are made room for on the word of a length, before any has come.
const believed = 1 << 20

// readBytes reads n bytes. It makes room for all of them once, when the first have come.
func readBytes(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, min(n, believed))
	if _, err := io.ReadFull(r, b); err != nil || n <= believed {
		return b, err
	}
	whole := make([]byte, n)
	_, err := io.ReadFull(r, whole[copy(whole, b):])
	return whole, err
}

// readError tells an idle connection from a silent one.
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
	return &connError{
		server: c.addr, class: "timeout", dead: true,
		err: fmt.Errorf("%d calls out and no answer for %v", len(c.pending), c.opts.RPCTimeout),
	}
}

func (c *conn) deliver(r wire.Response) {
	c.mu.Lock()
	q := c.pending[r.CallID]
	delete(c.pending, r.CallID)
	c.armRead()
	c.mu.Unlock()
	if q == nil {
		return // its caller has gone
	}
	q.response = r
	if r.Exception != nil {
		q.err = newRemoteError(c.addr, r.Exception)
	}
	close(q.answered)
}

// fail ends the connection: the first reason counts, and every call out gets it.
func (c *conn) fail(err error) {
	c.onClose.Do(func() {
		if err == nil {
			err = ErrClosed
		}
		_, silent := errors.AsType[*connError](err)
		_, refused := errors.AsType[*remoteError](err)
		if !silent && !refused && !errors.Is(err, ErrClosed) {
			err = &connError{server: c.addr, class: "connection", err: err, cut: true}
		}
		c.mu.Lock()
		c.err = err
		out := c.pending
		c.pending = nil
		c.mu.Unlock()
		close(c.done)
		_ = c.socket.Close() // the reason is known already
		c.failed(c)
		for _, q := range out {
			q.err = err
			close(q.answered)
		}
	})
}
