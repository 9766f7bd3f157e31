package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/segmentio/kafka-go/protocol"
)

// reader reads big-endian integers and zigzag varints. Once it runs out of bytes, bad is set and it returns zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) skip(n int) { r.bytes(n) }

// nullable reads a varint length, −1 for null, and that many bytes. Null is nil; empty is not.
func (r *reader) nullable() []byte {
	n := r.varint()
	if n == -1 {
		return nil
	}
	return r.bytes(int(n))
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int16() int16 {
	if b := r.bytes(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.bytes(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.bytes(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// length reads a uvarint of a length plus one; 0 is null.
func (r *reader) length() int {
	n := r.uvarint()
	if n > maxAnswerBytes {
		r.b, r.bad = nil, true
		return 0
	}
	return max(0, int(n)-1)
}

// tags skips the tagged fields at the end of a structure: their number, and the tag and size of each, are uvarints.
func (r *reader) tags() {
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		r.uvarint()
		r.bytes(int(min(r.uvarint(), maxAnswerBytes)))
	}
}

func (r *reader) uvarint() uint64 {
	n, used := binary.Uvarint(r.b)
	if used <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[used:]
	return n
}

// sender names the other side of a connection.
func sender(r io.Reader) string {
	if c, ok := r.(net.Conn); ok {
		return c.RemoteAddr().String() + ": "
	}
	return ""
}

var errLongAnswer = errors.New("an answer is longer than the limit")

// readAnswer reads a whole answer of at most limit bytes, after its length int32 and correlation id int32.
func readAnswer(r io.Reader, id int32, limit int64) (*buffer, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	size := int(int32(binary.BigEndian.Uint32(prefix[:]))) - 4
	if got := int32(binary.BigEndian.Uint32(prefix[4:])); got != id || size < 0 {
		return nil, fmt.Errorf("%snot the answer to our request: length %d, id %d, expected id %d", sender(r), size, got, id)
	}
	if int64(size) > limit {
		return nil, fmt.Errorf("%s%w: %d bytes, limit %d, which grows with memory", sender(r), errLongAnswer, size, limit)
	}
	b := newBuffer(size)
	_, err := io.ReadFull(r, b.b)
	return b, err
}

// newRequest starts a request of the protocol: room for its length int32 · key int16 · version int16 · correlation id int32 · client id. A
// connection has only one pending call, so any number will do for the id: it is the key.
func newRequest(key protocol.ApiKey, version int16, client string) []byte {
	b := make([]byte, 4, 256)
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, uint32(key))
	return appendString(b, client)
}

// exchange sends a request started by newRequest and returns what parse makes of the answer. parse must not keep the answer's bytes.
func exchange[T any](rw io.ReadWriter, key protocol.ApiKey, request []byte, parse func([]byte) (T, error)) (none T, err error) {
	binary.BigEndian.PutUint32(request, uint32(len(request)-4))
	if _, err := rw.Write(request); err != nil {
		return none, err
	}
	answer, err := readAnswer(rw, int32(key), spareAnswerBytes)
	if err != nil {
		return none, err
	}
	defer answer.free()
	return parse(answer.b)
}
