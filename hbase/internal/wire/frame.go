package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Errors of decoders. Both mean that the connection is unusable, because it is no longer certain where the next frame begins.
var (
	ErrMalformed = errors.New("malformed bytes on the wire")
	ErrTooLong   = errors.New("frame is longer than the limit")
)

// PrefixLen is the length of a frame's length prefix.
const PrefixLen = 4

// FrameLen decodes the length prefix of a frame: the number of bytes that follow it. More than max, or a negative length, is an error, so
// that nothing is allocated on a stranger's word.
func FrameLen(prefix [PrefixLen]byte, max int) (int, error) {
	n := int32(binary.BigEndian.Uint32(prefix[:]))
	if n < 0 {
		return 0, fmt.Errorf("%w: frame length %d", ErrMalformed, n)
	}
	if int(n) > max {
		return 0, fmt.Errorf("%w: %d bytes, limit %d", ErrTooLong, n, max)
	}
	return int(n), nil
}

// ReadFrame reads a frame of at most max bytes, and returns it without its prefix.
func ReadFrame(r io.Reader, max int) ([]byte, error) {
	var prefix [PrefixLen]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	n, err := FrameLen(prefix, max)
	if err != nil {
		return nil, err
	}
	frame := make([]byte, n)
	_, err = io.ReadFull(r, frame)
	return frame, err
}

// beginFrame leaves room for the prefix that endFrame fills in. The caller appends extra more bytes after that.
func beginFrame(dst []byte) (frame []byte, start int) {
	return append(dst, 0, 0, 0, 0), len(dst)
}

func endFrame(dst []byte, start, extra int) ([]byte, error) {
	n := len(dst) - start - PrefixLen + extra
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrTooLong, n, math.MaxInt32)
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(n))
	return dst, nil
}

// appendDelimited appends a message, preceded by its length as a varint.
func appendDelimited(dst []byte, m proto.Message) ([]byte, error) {
	dst = protowire.AppendVarint(dst, uint64(proto.Size(m)))
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(dst, m)
}

// delimited cuts a message, preceded by its length, off the front of b.
func delimited(b []byte, what string) (msg, rest []byte, err error) {
	msg, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrMalformed, what, protowire.ParseError(n))
	}
	return msg, b[n:], nil
}
