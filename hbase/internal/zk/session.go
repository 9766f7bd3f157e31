package zk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"brine/hbase/internal/wire"
)

// The part of ZooKeeper's protocol that reading a few znodes needs. Numbers are big-endian; a string or buffer is its int32 length and its
// bytes. Every message is preceded by its int32 length.
//
//	connect    protocol int32 0 | last zxid int64 | timeout ms int32 | session int64 | password buffer | read-only byte
//	connected  protocol int32   | timeout ms int32 | session int64 | password buffer | read-only byte
//	request    xid int32 | operation int32 | path string, watch byte
//	auth       xid int32 -4 | operation int32 100 | kind int32 0 | scheme string | auth buffer
//	reply      xid int32 | zxid int64 | error int32 | data buffer, stat; or names: int32 count, strings
//
// A timeout of 0 in connected refuses the session.
const (
	getData      = 4
	getChildren  = 8
	closeSession = -11
	setAuth      = 100
	authXID      = -4

	sessionTimeout = 30 * time.Second
	maxMessage     = 4 << 20 // a znode is at most 1 MiB unless the servers are configured otherwise
)

// serverError is an error from a ZooKeeper server.
type serverError int32

const (
	noNode serverError = -101
	noAuth serverError = -102
	denied serverError = -115
)

func (e serverError) Error() string {
	switch e {
	case noNode:
		return "no such znode"
	case noAuth:
		return "not authorized to read the znode; set hbase.zookeeper_auth, or name HBase's servers with rpc:// in hbase.connect"
	case denied:
		return "ZooKeeper rejects the user; correct hbase.zookeeper_auth"
	}
	return fmt.Sprintf("ZooKeeper error %d", int32(e))
}

// session is a session on one connection. It ends with its connection, and any other session can replace it, because it has no watches and
// no ephemeral znodes. It sends no pings, so it must not stay unused for long: see timeout. One goroutine at a time uses it; it has none of
// its own.
type session struct {
	conn    net.Conn
	addr    string
	timeout time.Duration // silence after which the server ends it
	xid     int32
}

// connect opens a session on a connection, and authenticates unless auth is empty. If it fails, it closes the connection.
func connect(ctx context.Context, conn net.Conn, addr, auth string) (*session, error) {
	s := &session{conn: conn, addr: addr}
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint64(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(sessionTimeout.Milliseconds()))
	b = binary.BigEndian.AppendUint64(b, 0)
	b = appendBytes(b, make([]byte, 16))
	b = append(b, 0)
	answer, err := s.exchange(ctx, b)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the connection was closed before a session began, as happens if the port requires TLS (hbase.tls.zookeeper): %w", err)
	}
	if err == nil && len(answer) < 8 {
		err = fmt.Errorf("%w: %d bytes of a new session", wire.ErrMalformed, len(answer))
	}
	if err == nil {
		s.timeout = time.Duration(int32(binary.BigEndian.Uint32(answer[4:]))) * time.Millisecond
		if s.timeout <= 0 {
			err = errors.New("the session was refused")
		}
	}
	if err == nil && auth != "" {
		err = s.authorize(ctx, auth)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// authorize authenticates with the digest scheme, which sends the password unencrypted.
func (s *session) authorize(ctx context.Context, auth string) error {
	b := appendBytes(binary.BigEndian.AppendUint32(nil, 0), []byte("digest"))
	next := s.xid
	s.xid = authXID - 1 // request increments it
	_, err := s.request(ctx, setAuth, appendBytes(b, []byte(auth)))
	s.xid = next
	return err
}

// data reads a znode.
func (s *session) data(ctx context.Context, path string) ([]byte, error) {
	body, err := s.request(ctx, getData, append(appendBytes(nil, []byte(path)), 0))
	if err != nil {
		return nil, err
	}
	data, _, err := cutBytes(body)
	return data, err
}

// children lists the names below a znode.
func (s *session) children(ctx context.Context, path string) (names []string, err error) {
	body, err := s.request(ctx, getChildren, append(appendBytes(nil, []byte(path)), 0))
	if err != nil {
		return nil, err
	}
	if len(body) < 4 {
		return nil, fmt.Errorf("%w: names of %d bytes", wire.ErrMalformed, len(body))
	}
	n, rest := int32(binary.BigEndian.Uint32(body)), body[4:]
	for range n {
		var name []byte
		if name, rest, err = cutBytes(rest); err != nil {
			return nil, err
		}
		names = append(names, string(name))
	}
	return names, nil
}

// request sends one request and returns the body of its reply. If the server answers with an error, request returns a serverError, and the
// session stays usable; after any other error it is not.
func (s *session) request(ctx context.Context, op int32, body []byte) ([]byte, error) {
	s.xid++
	b := binary.BigEndian.AppendUint32(nil, uint32(s.xid))
	b = binary.BigEndian.AppendUint32(b, uint32(op))
	reply, err := s.exchange(ctx, append(b, body...))
	if err != nil {
		return nil, err
	}
	const head = 4 + 8 + 4
	if len(reply) < head {
		return nil, fmt.Errorf("%w: reply of %d bytes", wire.ErrMalformed, len(reply))
	}
	if xid := int32(binary.BigEndian.Uint32(reply)); xid != s.xid {
		return nil, fmt.Errorf("%w: reply to request %d, want %d", wire.ErrMalformed, xid, s.xid)
	}
	if code := serverError(binary.BigEndian.Uint32(reply[12:])); code != 0 {
		return nil, code
	}
	return reply[head:], nil
}

// exchange sends one message and reads one, until ctx is done.
func (s *session) exchange(ctx context.Context, message []byte) ([]byte, error) {
	deadline, _ := ctx.Deadline() // the zero time means no deadline
	if err := s.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) }) // fails only on a closed connection
	defer stop()
	if _, err := s.conn.Write(appendBytes(nil, message)); err != nil {
		return nil, err
	}
	var prefix [wire.PrefixLen]byte
	if _, err := io.ReadFull(s.conn, prefix[:]); err != nil {
		return nil, err
	}
	n, err := wire.FrameLen(prefix, maxMessage)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(s.conn, int64(n))) // allocates memory as bytes arrive, whatever the length says
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// close ends the session, so that the server need not wait for its time-out. It does not wait for the answer.
func (s *session) close() {
	b := binary.BigEndian.AppendUint32(nil, uint32(s.xid+1))
	close := int32(closeSession)
	b = binary.BigEndian.AppendUint32(b, uint32(close))
	_ = s.conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = s.conn.Write(appendBytes(nil, b)) // if this fails, the server waits
	_ = s.conn.Close()
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
}

func cutBytes(b []byte) (value, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, fmt.Errorf("%w: no length in %d bytes", wire.ErrMalformed, len(b))
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n = max(n, 0); int(n) > len(b)-4 { // -1 is null
		return nil, nil, fmt.Errorf("%w: length %d in %d bytes", wire.ErrMalformed, n, len(b)-4)
	}
	return b[4 : 4+n], b[4+n:], nil
}
