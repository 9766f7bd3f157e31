package wire

import (
	"bufio"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded message that is read field by field as its bytes arrive. Its methods return ErrMalformed if the message is
// malformed, and the reader's error if reading fails.
type message struct {
	in   *bufio.Reader
	left int // unread bytes
}

func (m *message) readByte() (byte, error) {
	if m.left == 0 {
		return 0, fmt.Errorf("%w: it is truncated", ErrMalformed)
	}
	b, err := m.in.ReadByte()
	if err != nil {
		return 0, err
	}
	m.left--
	return b, nil
}

func (m *message) varint() (v uint64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		b, err := m.readByte()
		if err != nil {
			return 0, err
		}
		if shift == 63 && b > 1 {
			break
		}
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%w: a number of more than 64 bits", ErrMalformed)
}

// tagOf returns the tag of a field with this number and type.
func tagOf(n protowire.Number, t protowire.Type) uint64 { return protowire.EncodeTag(n, t) }

func (m *message) tag() (uint64, error) {
	tag, err := m.varint()
	if err != nil {
		return 0, err
	}
	if n, _ := protowire.DecodeTag(tag); n < protowire.MinValidNumber || n > protowire.MaxValidNumber {
		return 0, fmt.Errorf("%w: not a field number", ErrMalformed)
	}
	return tag, nil
}

// nested returns the nested message that follows, preceded by its length. The caller must read all of it before it continues with m.
func (m *message) nested() (message, error) {
	n, err := m.length()
	if err != nil {
		return message{}, err
	}
	m.left -= n
	return message{m.in, n}, nil
}

func (m *message) length() (int, error) {
	n, err := m.varint()
	if err != nil {
		return 0, err
	}
	if n > uint64(m.left) {
		return 0, fmt.Errorf("%w: %d bytes announced, %d there", ErrMalformed, n, m.left)
	}
	return int(n), nil
}

// text reads a string and keeps its first MaxText bytes.
func (m *message) text() (*string, error) {
	n, err := m.length()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(n, MaxText))
	if _, err := io.ReadFull(m.in, b); err != nil {
		return nil, err
	}
	m.left -= len(b)
	s := string(b)
	return &s, m.discard(n - len(b))
}

func (m *message) discard(n int) error {
	if n > m.left {
		return fmt.Errorf("%w: %d bytes announced, %d there", ErrMalformed, n, m.left)
	}
	m.left -= n
	_, err := m.in.Discard(n)
	return err
}

// skip skips a field. HBase uses none of the types that it rejects.
func (m *message) skip(tag uint64) error {
	switch _, typ := protowire.DecodeTag(tag); typ {
	case protowire.VarintType:
		_, err := m.varint()
		return err
	case protowire.BytesType:
		n, err := m.length()
		if err != nil {
			return err
		}
		return m.discard(n)
	case protowire.Fixed32Type:
		return m.discard(4)
	case protowire.Fixed64Type:
		return m.discard(8)
	default:
		return fmt.Errorf("%w: a field of type %d", ErrMalformed, typ)
	}
}
