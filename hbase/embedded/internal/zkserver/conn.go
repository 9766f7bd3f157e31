package zkserver

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"brine/internal/sockets"
)

// queued is the number of messages that may wait for a client that does not read, before its connection is ended.
const queued = 256

// conn is one client's connection. serve reads and answers requests; a second goroutine writes the messages in out.
type conn struct {
	server *Server
	net    net.Conn
	member *sockets.Member

	out     chan []byte // under server.mu; nil after the connection has ended
	watches watches     // under server.mu
}

func newConn(s *Server, n net.Conn) *conn {
	return &conn{server: s, net: n, member: s.limiter.Join(n), out: make(chan []byte, queued), watches: watches{}}
}

// send queues a message. The caller holds server.mu.
func (c *conn) send(message []byte) {
	if c.out == nil {
		return
	}
	select {
	case c.out <- message:
	default:
		c.net.Close() // the client does not read
	}
}

// serve answers until either side ends the connection, or nothing arrives within the session's timeout.
func (c *conn) serve() {
	defer c.member.Leave()
	out := c.out
	c.server.wg.Go(func() {
		for message := range out {
			if c.net.SetWriteDeadline(time.Now().Add(mostTimeout)) != nil {
				break
			}
			if _, err := c.net.Write(message); err != nil {
				break
			}
		}
		c.net.Close()
		for range out { // until serve notices
		}
	})
	in := bufio.NewReader(c.net)
	n := c.greet(in)
	closed := n != nil && c.answers(in, n)
	c.server.leave(c, n, closed)
}

// greet begins the connection's session, or returns nil if there is none.
func (c *conn) greet(in *bufio.Reader) *session {
	if c.net.SetReadDeadline(time.Now().Add(leastTimeout)) != nil {
		return nil
	}
	frame, err := readMessage(in)
	if err != nil {
		return nil
	}
	hello, err := parseHello(frame)
	if err != nil {
		return nil
	}
	n := c.server.begin(c, hello.session, hello.password, hello.timeout)
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.send(appendWelcome(nil, n, hello.readOnly))
	return n
}

// answers answers requests until the connection ends, and reports whether the client closed its session.
func (c *conn) answers(in *bufio.Reader, n *session) (closed bool) {
	for {
		if c.net.SetReadDeadline(time.Now().Add(n.timeout)) != nil {
			return false
		}
		frame, err := readMessage(in)
		if err != nil {
			return false
		}
		c.member.Progress()
		q := request{rest: frame}
		q.xid, q.op = q.int(), q.int()
		if q.err != nil {
			return false
		}
		c.server.mu.Lock()
		code, body := c.server.answer(c, &q)
		c.send(appendReply(nil, q.xid, c.server.zxid, code, body))
		c.server.mu.Unlock()
		if q.op == opClose {
			return true
		}
	}
}

var errTooLong = errors.New("a message is too long")

func readMessage(in io.Reader) ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(in, prefix[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(prefix[:])
	if n > maxMessage {
		return nil, errTooLong
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(in, frame)
	return frame, err
}
