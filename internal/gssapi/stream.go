package gssapi

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
)

// Stream is a byte stream whose bytes are transmitted in wrapped form:
//
//	int32 length │ wrap token, repeated
//
// The boundaries of writes are not preserved. One goroutine reads; any may write.
type Stream struct {
	layer *Layer
	in    io.Reader
	limit int // the longest token to read
	rest  []byte
	token []byte // kept for reuse

	mu    sync.Mutex // keeps the sequence numbers in order on the wire
	out   io.Writer
	frame []byte
}

// written is the number of bytes wrapped at a time, so that a write needs little extra memory and the peer can start early.
const written = 64 << 10

// NewStream returns the stream of a connection after an exchange; limit is the longest token that it reads.
func NewStream(layer *Layer, in io.Reader, out io.Writer, limit int) *Stream {
	return &Stream{layer: layer, in: in, out: out, limit: limit}
}

// Conn returns a connection whose bytes are transmitted in wrapped form. It reads from in, which may have read ahead of c.
func (l *Layer) Conn(c net.Conn, in io.Reader, limit int) net.Conn {
	return &protected{c, NewStream(l, in, c, limit)}
}

type protected struct {
	net.Conn
	stream *Stream
}

func (p *protected) Read(b []byte) (int, error)  { return p.stream.Read(b) }
func (p *protected) Write(b []byte) (int, error) { return p.stream.Write(b) }

func (s *Stream) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads a token. It allocates memory for a long one only as the bytes arrive.
func (s *Stream) next() error {
	var prefix [4]byte
	if _, err := io.ReadFull(s.in, prefix[:]); err != nil {
		return err
	}
	n := int64(int32(binary.BigEndian.Uint32(prefix[:])))
	if n < 0 || n > int64(s.limit) {
		return fmt.Errorf("%w: a wrapped message of %d bytes, limit %d", ErrToken, n, s.limit)
	}
	token, err := readAll(s.in, s.token[:0], int(n))
	if err != nil {
		return err
	}
	if s.token = nil; cap(token) <= 2*written {
		s.token = token
	}
	s.rest, err = s.layer.Unwrap(token, s.layer.Seal)
	return err
}

// readAll reads n bytes and appends them to b, which grows as they arrive.
func readAll(in io.Reader, b []byte, n int) ([]byte, error) {
	for len(b) < n {
		step := min(n-len(b), max(1<<20, len(b)))
		if cap(b)-len(b) < step {
			b = append(make([]byte, 0, len(b)+step), b...)
		}
		at := len(b)
		b = b[:at+step]
		if _, err := io.ReadFull(in, b[at:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (s *Stream) Write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := written
	if s.layer.Max > 0 {
		most = min(most, max(1, s.layer.Max-s.layer.Overhead()))
	}
	for len(b) > 0 {
		part := b[:min(len(b), most)]
		s.frame = s.layer.Wrap(append(s.frame[:0], 0, 0, 0, 0), part, s.layer.Seal)
		binary.BigEndian.PutUint32(s.frame, uint32(len(s.frame)-4))
		if _, err := s.out.Write(s.frame); err != nil {
			return n, err
		}
		n += len(part)
		b = b[len(part):]
	}
	return n, nil
}
