package broker

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// buffer is memory that records point into: what a broker sent, or its decompressed form. It belongs to one chunk at a time.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{} }}

const bufferSlack = 16 << 10

// newBuffer takes n bytes from the pool, in memory of little more than twice that at most, because all of it is charged to the budget.
func newBuffer(n int) *buffer {
	b := buffers.Get().(*buffer)
	if cap(b.b) < n || cap(b.b) > 2*n+bufferSlack {
		b.b = make([]byte, n)
	}
	b.b = b.b[:n]
	return b
}

func (b *buffer) free() { buffers.Put(b) }

// scratch is where records are decompressed before their size is known. It grows by doubling, so records do not stay in it.
var scratch = sync.Pool{New: func() any { return new(bytes.Buffer) }}

var errInflated = errors.New("too many bytes after decompression")

// inflated reads all of r, at most limit bytes, into a buffer that fits.
func inflated(r io.Reader, limit int64) (*buffer, error) {
	s := scratch.Get().(*bytes.Buffer)
	defer scratch.Put(s)
	s.Reset()
	n, err := s.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, errInflated
	}
	b := newBuffer(int(n))
	copy(b.b, s.Bytes())
	return b, nil
}
