package zkserver

import (
	"encoding/binary"
	"errors"
	"time"
)

const (
	passwordLen   = 16
	xidEvent      = -1
	stateSynced   = 3 // state in an event: the connection is well
	noCode        = 0
	noVersion     = 0
	leastElements = 4 // minimum bytes of a string
)

var errShort = errors.New("a message ends too early")

// request is read from front to back; err is set if it ends too early.
type request struct {
	xid, op int32
	rest    []byte
	err     error
}

func (q *request) take(n int) []byte {
	if q.err != nil || n < 0 || n > len(q.rest) {
		q.err = errShort
		return nil
	}
	b := q.rest[:n]
	q.rest = q.rest[n:]
	return b
}

func (q *request) int() int32 {
	if b := q.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (q *request) long() int64 {
	if b := q.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (q *request) bool() bool {
	b := q.take(1)
	return len(b) == 1 && b[0] != 0
}

// bytes reads bytes preceded by their length; length -1 stands for nil.
func (q *request) bytes() []byte {
	if n := q.int(); n > 0 {
		return q.take(int(n))
	}
	return nil
}

func (q *request) string() string { return string(q.bytes()) }

func (q *request) strings() (all []string) {
	n := int(q.int())
	if n > len(q.rest)/leastElements {
		q.err = errShort
	}
	for range n {
		if q.err != nil {
			return nil
		}
		all = append(all, q.string())
	}
	return all
}

// hello is the first message of a connection.
type hello struct {
	timeout  time.Duration
	session  int64 // 0: a new one
	password []byte
	readOnly bool // the client knows read-only members and expects the server to say whether it is one
}

func parseHello(frame []byte) (h hello, err error) {
	q := request{rest: frame}
	q.int()  // protocol version
	q.long() // the last change seen by the client
	h.timeout = time.Duration(q.int()) * time.Millisecond
	h.session, h.password = q.long(), q.bytes()
	h.readOnly = len(q.rest) > 0
	return h, q.err
}

// appendWelcome appends the answer to a hello; a nil session means that it has expired.
func appendWelcome(b []byte, n *session, readOnly bool) []byte {
	if n == nil {
		n = &session{password: make([]byte, passwordLen)}
	}
	m := appendInt(nil, noVersion)
	m = appendInt(m, timeoutMillis(n.timeout))
	m = appendBytes(appendLong(m, n.id), n.password)
	if readOnly {
		m = append(m, 0)
	}
	return appendBytes(b, m)
}

func appendReply(b []byte, xid int32, zxid int64, code int32, body []byte) []byte {
	m := appendInt(appendLong(appendInt(nil, xid), zxid), code)
	if code == noCode {
		m = append(m, body...)
	}
	return appendBytes(b, m)
}

func appendEvent(b []byte, event int32, name string) []byte {
	m := appendInt(appendLong(appendInt(nil, xidEvent), -1), noCode)
	return appendBytes(b, appendString(appendInt(appendInt(m, event), stateSynced), name))
}

func (s *Server) appendStat(b []byte, name string, z *znode) []byte {
	b = appendLong(appendLong(b, z.created), z.changed)
	b = appendLong(appendLong(b, z.ctime), z.mtime)
	b = appendInt(appendInt(appendInt(b, z.version), z.childVersion), 0) // version of the ACL
	b = appendLong(b, 0)                                                 // owner of an ephemeral znode: none
	b = appendInt(appendInt(b, int32(len(z.data))), int32(len(s.list(name))))
	return appendLong(b, z.children)
}

func appendInt(b []byte, n int32) []byte  { return binary.BigEndian.AppendUint32(b, uint32(n)) }
func appendLong(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

func appendBytes(b, value []byte) []byte {
	return append(appendInt(b, int32(len(value))), value...)
}

func appendString(b []byte, value string) []byte { return appendBytes(b, []byte(value)) }

func appendStrings(b []byte, values []string) []byte {
	b = appendInt(b, int32(len(values)))
	for _, v := range values {
		b = appendString(b, v)
	}
	return b
}
