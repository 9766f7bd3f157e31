package serve

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// bodies counts the bytes of all bodies in memory: of those that are arriving, and of those of requests in progress.
//
// The invariant: they are at most the limit, whoever sends them. A body that would exceed it is refused.
type bodies struct {
	limit int64
	bytes atomic.Int64
}

// errCrowded is for a body for which there is no memory.
var errCrowded = errors.New("too many bodies are in memory")

// receivedBody counts what it reads until it is released.
type receivedBody struct {
	io.ReadCloser
	all  *bodies
	read int64
}

func (b *receivedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.all.bytes.Add(int64(n)) > b.all.limit {
		return n, errCrowded
	}
	return n, err
}

func (b *receivedBody) release() { b.all.bytes.Add(-b.read) }

// receive reads the body, before the request takes a place. So a client that sends slowly keeps nobody out: until bodyTimeout it holds its
// connection, of which there are Options.Connections, and what it has sent, at most maxBody bytes. The caller releases it.
func (c *call) receive() (release func()) {
	b := &receivedBody{ReadCloser: c.r.Body, all: &c.bodies}
	c.text, c.unread = io.ReadAll(http.MaxBytesReader(c.w, b, maxBody))
	c.conns.Begun(c.r.Context())
	return b.release
}
