package embedded

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
	"brine/internal/gssapi"
	"brine/internal/sockets"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	maxHeader        = 64 << 10         // bytes of a connection header
	maxPending       = 128              // calls of one connection that are handled at once; further ones stay unread
	writeTimeout     = 60 * time.Second // for a client that does not read its answers
	handshakeTimeout = 30 * time.Second // from accepting the connection to its first call
	noCall           = math.MaxUint32   // the call id -1, for answers that belong to no call
	firstRead        = 1 << 20          // bytes allocated for a frame before any has arrived
)

// conn is one client's connection. serve reads it; each call runs in its own goroutine and writes its answer under mu.
type conn struct {
	node   *node
	net    gatedConn // the connection to close
	stream net.Conn  // the connection to read and write: net or a layer that protects it; serve sets it before any call
	header *hbasepb.ConnectionHeader
	peer   string // the client's principal, if it had to authenticate
	cells  bool   // the client reads cell blocks

	packing wire.Compression // of cell blocks

	member *sockets.Member
	room   *room

	mu sync.Mutex // guards writing
}

func newConn(n *node, c net.Conn) *conn {
	return &conn{node: n, net: gatedConn{c, n}, member: n.cluster.limiter.Join(c), room: newRoom(n.cluster.opts.MaxHeld / share)}
}

// serve handles the connection until either side ends it, and returns once all its calls have returned.
func (c *conn) serve(ctx context.Context) {
	defer c.member.Leave()
	defer c.net.Close()
	in := c.greet()
	if in == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	slots := make(chan struct{}, maxPending)
	for {
		frame, err := c.readFrame(in)
		if err != nil {
			return
		}
		if frame == nil {
			continue // too big and already answered
		}
		request, err := wire.DecodeRequest(*frame)
		if err != nil {
			c.reply(noCall, nil, nil, final(classFatalConnection, "%v", err))
			return
		}
		c.room.wait()
		slots <- struct{}{}
		calls.Add(1)
		go func() {
			defer func() { c.release(frame); <-slots; calls.Done() }()
			if c.expand(&request) {
				c.run(ctx, request)
			}
		}()
	}
}

// readAhead is the size of a connection's read buffer in bytes.
const readAhead = 16 << 10

// greet runs the handshakes within handshakeTimeout and returns the reader of the calls, or nil if there will be none.
func (c *conn) greet() *bufio.Reader {
	err := c.net.SetDeadline(time.Now().Add(handshakeTimeout))
	if err == nil {
		c.stream, err = c.node.cluster.secure(c.net)
	}
	if err != nil {
		return nil
	}
	in, err := c.handshake(bufio.NewReaderSize(c.stream, readAhead))
	if err != nil || c.net.SetDeadline(time.Time{}) != nil {
		return nil
	}
	return in
}

// handshake reads the preamble, the authentication exchange if there is one, and the connection header. It returns the reader of the calls,
// or nil if there will be none. After the registry's preamble it answers and ends the connection, as HBase does; after the preamble that
// asks for a Kerberos principal it answers and reads another preamble.
func (c *conn) handshake(in *bufio.Reader) (calls *bufio.Reader, err error) {
	kerberos := c.node.cluster.kerberos
	for {
		var b [wire.PreambleLen]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return nil, err
		}
		p, err := wire.DecodePreamble(b)
		switch {
		case err != nil && string(b[:4]) == "HBas":
			return nil, c.refuse(classWrongVersion, "serverVersion=0, clientVersion=%d, authMethod=%d", b[4], b[5])
		case err != nil:
			return nil, c.refuse(classFatalConnection, "Expected HEADER=HBas but received HEADER=%q", b[:4])
		case p.Kind == wire.Registry:
			return nil, c.answer(noCall, &hbasepb.GetConnectionRegistryResponse{ClusterId: proto.String(c.node.cluster.id)}, nil)
		case p.Kind == wire.SecurityInfo:
			if err := c.principal(kerberos); err != nil {
				return nil, err
			}
			continue
		case kerberos != nil && p.Auth != wire.AuthKerberos:
			return nil, c.refuse(classAccessDenied, "Authentication is required")
		case kerberos != nil:
			if in, err = c.authenticate(in, kerberos); err != nil {
				return nil, err
			}
		case p.Auth != wire.AuthSimple:
			return nil, c.refuse(classBadAuth, "serverVersion=0, clientVersion=0, authMethod=%d: only SIMPLE (80) is spoken here", p.Auth)
		}
		if ok, err := c.readHeader(in); !ok {
			return nil, err
		}
		return in, nil
	}
}

// principal answers the preamble that asks for the server's Kerberos principal.
func (c *conn) principal(a *authenticator) error {
	if a == nil {
		return c.refuse(classSecurityNotEnabled, "security is not enabled")
	}
	return c.answer(noCall, &hbasepb.SecurityPreamableResponse{ServerPrincipal: proto.String(a.acceptor.Principal())}, nil)
}

// authenticator is Options.Kerberos, opened.
type authenticator struct {
	acceptor *gssapi.Acceptor
	offered  gssapi.QOP
}

// authenticate authenticates the client and returns the reader of everything that follows.
func (c *conn) authenticate(in *bufio.Reader, a *authenticator) (*bufio.Reader, error) {
	exchange := gssapi.NewServer(a.acceptor, a.offered)
	for !exchange.Done() {
		token, err := wire.ReadSASLToken(in)
		if err != nil {
			return nil, err
		}
		challenge, err := exchange.Step(token)
		switch {
		case err != nil && challenge != nil: // the token carries the reason
			_, failed := c.stream.Write(wire.AppendSASLChallenge(nil, challenge))
			return nil, errors.Join(err, failed)
		case err != nil:
			_, failed := c.stream.Write(wire.AppendSASLError(nil, &wire.SASLError{Class: classSASL, Message: err.Error()}))
			return nil, errors.Join(err, failed)
		case !exchange.Done():
			if _, err := c.stream.Write(wire.AppendSASLChallenge(nil, challenge)); err != nil {
				return nil, err
			}
		}
	}
	c.peer = exchange.Peer()
	if exchange.Layer() == nil {
		return in, nil
	}
	const overhead = 1 << 10
	c.stream = exchange.Layer().Conn(c.stream, in, c.node.cluster.opts.MaxRequest+wire.PrefixLen+overhead)
	return bufio.NewReaderSize(c.stream, readAhead), nil
}

func (c *conn) readHeader(in *bufio.Reader) (bool, error) {
	var prefix [wire.PrefixLen]byte
	if _, err := io.ReadFull(in, prefix[:]); err != nil {
		return false, err
	}
	n, err := wire.FrameLen(prefix, maxHeader)
	if err != nil {
		return false, c.refuse(classFatalConnection, "connection header: %v", err)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(in, frame); err != nil {
		return false, err
	}
	h, err := wire.DecodeConnectionHeader(frame)
	if err != nil {
		return false, c.refuse(classFatalConnection, "%v", err)
	}
	switch {
	case !c.node.serves(h.GetServiceName()):
		return false, c.refuse(classUnknownService, "%s", h.GetServiceName())
	case h.GetCellBlockCodecClass() != "" && h.GetCellBlockCodecClass() != wire.Codec:
		return false, c.refuse(classUnsupportedCodec, "%s: only %s is spoken here", h.GetCellBlockCodecClass(), wire.Codec)
	case h.GetRpcCryptoCipherTransformation() != "":
		return false, c.refuse(classUnsupportedCrypto, "%s: connections are not encrypted here", h.GetRpcCryptoCipherTransformation())
	}
	if by, as := c.acts(h.GetUserInfo()); by != as {
		return false, c.refuse(classAccessDenied, "User: %s is not allowed to impersonate %s: nobody acts for other users here", by, as)
	}
	c.header, c.cells = h, h.GetCellBlockCodecClass() != ""
	if c.cells { // otherwise there is nothing to compress, and the compressor's name is ignored
		var known bool
		if c.packing, known = wire.CompressionOf(h.GetCellBlockCompressorClass()); !known {
			return false, c.refuse(classUnsupportedCompr, "%s", h.GetCellBlockCompressorClass())
		}
	}
	return true, nil
}

// acts returns who connects, and as whom; both are empty where the header does not say.
func (c *conn) acts(u *hbasepb.UserInformation) (by, as string) {
	by, as = u.GetRealUser(), u.GetEffectiveUser()
	if c.peer != "" {
		by = c.peer
	}
	return cmp.Or(by, as), cmp.Or(as, by)
}

// readFrame reads one frame without its length. It answers and skips a frame that is too long, and returns nil for it.
func (c *conn) readFrame(in *bufio.Reader) (*[]byte, error) {
	var prefix [wire.PrefixLen]byte
	if _, err := io.ReadFull(in, prefix[:]); err != nil {
		return nil, err
	}
	n, err := wire.FrameLen(prefix, c.node.cluster.opts.MaxRequest)
	if errors.Is(err, wire.ErrTooLong) {
		n, err = wire.FrameLen(prefix, math.MaxInt32)
		if err == nil {
			err = c.skipTooBig(in, n)
		}
		return nil, err
	}
	if err != nil {
		return nil, c.fatal(classFatalConnection, "%v", err)
	}
	return readBytes(in, n, c.member.Hold)
}

// release returns the frame of a finished request to the pool.
func (c *conn) release(frame *[]byte) {
	_ = c.member.Hold(-len(*frame)) // releasing cannot fail
	putFrame(frame)
}

// skipTooBig reads the call id from a frame's header, answers the call and discards the rest.
func (c *conn) skipTooBig(in *bufio.Reader, n int) error {
	head, err := in.Peek(min(n, 4096))
	if err != nil {
		return err
	}
	id, err := callID(head)
	if err != nil {
		return c.fatal(classFatalConnection, "%v", err)
	}
	if _, err := io.CopyN(io.Discard, in, int64(n)); err != nil {
		return err
	}
	return c.answerException(id, final(classRequestTooBig, "RPC data length of %d received is greater than max allowed %d", n,
		c.node.cluster.opts.MaxRequest))
}

// refuse sends a fatal exception that belongs to no call; the caller ends the connection.
func (c *conn) refuse(class, format string, args ...any) error {
	return c.answerException(noCall, &Exception{Class: class, Message: fmt.Sprintf(format, args...), DoNotRetry: true})
}

// fatal sends a fatal exception and returns the error that ends the connection.
func (c *conn) fatal(class, format string, args ...any) error {
	return errors.Join(c.refuse(class, format, args...), fmt.Errorf(format, args...))
}

// reply answers a call with its result or its error. If that fails it ends the connection, so that the client does not wait for an answer
// that never arrives.
func (c *conn) reply(id uint32, result proto.Message, cells []byte, err error) {
	if err != nil {
		err = c.answerException(id, asException(err))
	} else {
		err = c.answer(id, result, cells)
	}
	if err != nil {
		c.net.Close()
	}
}

func (c *conn) answerException(id uint32, e *Exception) error {
	return c.write(&hbasepb.ResponseHeader{CallId: &id, Exception: e.response()}, nil, nil)
}

func (c *conn) answer(id uint32, result proto.Message, cells []byte) error {
	if c.packing != wire.None {
		var err error
		if cells, err = c.packing.Compress(nil, cells); err != nil {
			return err
		}
	}
	return c.write(&hbasepb.ResponseHeader{CallId: &id}, result, cells)
}

// expand expands a request's cell block. If that fails it answers the call and returns false.
func (c *conn) expand(r *wire.Request) bool {
	cells, err := c.packing.Expand(r.Cells, c.node.cluster.opts.MaxRequest)
	if err != nil {
		c.reply(r.Header.GetCallId(), nil, nil, final(classDoNotRetry, "unable to read call parameter; %v", err))
		return false
	}
	r.Cells = cells
	return true
}

func (c *conn) write(h *hbasepb.ResponseHeader, result proto.Message, cells []byte) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	frame := frames.Get().(*[]byte)
	defer putFrame(frame)
	if *frame, err = wire.AppendResponse((*frame)[:0], h, result, cells); err != nil {
		return err
	}
	if err := c.net.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err = c.stream.Write(*frame); err != nil {
		c.net.Close() // half a frame may have been sent, and nothing can follow it
		return err
	}
	c.member.Progress()
	return nil
}

// maxKept is the size of the largest buffer kept for reuse.
const maxKept = 1 << 20

var frames = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// readBytes reads n bytes into a pooled buffer. The buffer grows as bytes arrive, so that a length alone allocates little. readBytes calls
// hold before it allocates each step.
func readBytes(in io.Reader, n int, hold func(int) error) (*[]byte, error) {
	frame := frames.Get().(*[]byte)
	b := (*frame)[:0]
	for len(b) < n {
		step := min(n-len(b), max(firstRead, len(b)))
		if err := hold(step); err != nil {
			return nil, err
		}
		if cap(b)-len(b) < step {
			grown := make([]byte, len(b), len(b)+step)
			copy(grown, b)
			b = grown
		}
		if _, err := io.ReadFull(in, b[len(b):len(b)+step]); err != nil {
			return nil, err
		}
		b = b[:len(b)+step]
	}
	*frame = b
	return frame, nil
}

func putFrame(frame *[]byte) {
	if cap(*frame) <= maxKept {
		frames.Put(frame)
	}
}

// callID returns the call id (field 1) from the first bytes of a frame, whose header may be truncated after it.
func callID(head []byte) (uint32, error) {
	if _, n := protowire.ConsumeVarint(head); n >= 0 {
		number, typ, m := protowire.ConsumeTag(head[n:])
		if m >= 0 && number == 1 && typ == protowire.VarintType {
			if id, l := protowire.ConsumeVarint(head[n+m:]); l >= 0 {
				return uint32(id), nil
			}
		}
	}
	return 0, fmt.Errorf("%w: no call id in the header of a request that is too big", wire.ErrMalformed)
}
