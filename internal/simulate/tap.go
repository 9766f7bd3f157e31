package simulate

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// tapped is a broker's listener, which reads the broker's answers as well. The broker has no hook for that.
type tapped struct {
	net.Listener
	see func(client string, q kmsg.Request, answer kmsg.Response)
}

// Accept implements net.Listener.
func (l *tapped) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &tap{Conn: c, see: l.see, asked: map[int32]asked{}}, nil
}

// tap is one connection. One goroutine reads from it and one writes to it.
type tap struct {
	net.Conn
	see     func(client string, q kmsg.Request, answer kmsg.Response)
	in, out frames

	mu    sync.Mutex
	asked map[int32]asked // unanswered requests, by correlation id
}

// asked is a request whose answer is read.
type asked struct {
	client  string
	request kmsg.Request
}

// Read implements net.Conn.
func (t *tap) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.in.feed(b[:n], t.request)
	return n, err
}

// Write implements net.Conn.
func (t *tap) Write(b []byte) (int, error) {
	t.out.feed(b, t.answer)
	return t.Conn.Write(b)
}

// request reads a request's header: API key, version, correlation id and client id, in two bytes each except for the third, which has four.
func (t *tap) request(frame []byte) {
	if len(frame) < 10 {
		return
	}
	var q kmsg.Request
	switch kmsg.Key(binary.BigEndian.Uint16(frame)) {
	case kmsg.JoinGroup:
		q = kmsg.NewPtrJoinGroupRequest()
	case kmsg.ConsumerGroupHeartbeat:
		q = kmsg.NewPtrConsumerGroupHeartbeatRequest()
	default:
		return
	}
	q.SetVersion(int16(binary.BigEndian.Uint16(frame[2:])))
	end := 10 + int(int16(binary.BigEndian.Uint16(frame[8:])))
	if end < 10 || len(frame) <= end {
		return
	}
	client, body := string(frame[10:end]), frame[end:]
	if q.IsFlexible() {
		body = body[1:] // no tags
	}
	if q.ReadFrom(bytes.Clone(body)) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[int32(binary.BigEndian.Uint32(frame[4:]))] = asked{client, q}
}

// answer reads an answer before it is sent.
func (t *tap) answer(frame []byte) {
	if len(frame) < 5 {
		return
	}
	id := int32(binary.BigEndian.Uint32(frame))
	t.mu.Lock()
	of, ok := t.asked[id]
	delete(t.asked, id)
	t.mu.Unlock()
	if !ok {
		return
	}
	answer, body := of.request.ResponseKind(), frame[4:]
	if answer.IsFlexible() {
		body = body[1:] // no tags
	}
	if answer.ReadFrom(body) == nil {
		t.see(of.client, of.request, answer)
	}
}

// frames splits a connection's bytes into frames, each of which follows its length.
type frames struct{ rest []byte }

func (f *frames) feed(b []byte, whole func(frame []byte)) {
	f.rest = append(f.rest, b...)
	for len(f.rest) >= 4 {
		end := 4 + int(binary.BigEndian.Uint32(f.rest))
		if len(f.rest) < end {
			return
		}
		whole(f.rest[4:end])
		f.rest = f.rest[end:]
	}
}
