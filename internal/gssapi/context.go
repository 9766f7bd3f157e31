package gssapi

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jcmturner/gokrb5/v8/types"
)

// Context is the state that two authenticated peers share. One goroutine may Wrap while another one Unwraps.
//
// A wrap token (RFC 4121, 4.2.6.2), numbers big-endian:
//
//	05 04 │ flags (1) │ ff │ EC (2) │ RRC (2) │ sequence number (8) │ body
//	body, signed   message │ checksum over message and header, EC and RRC being 0 there; EC is the length of the checksum
//	body, sealed   Encrypt(message │ EC bytes of filler │ header, RRC being 0 there)
//
// The body is rotated to the right by RRC bytes.
type Context struct {
	peer  string // the peer's principal
	out   *sealer
	in    *sealer
	flags byte // of outgoing tokens

	sent     uint64 // number of the next outgoing token
	received uint64
}

const (
	headerLen = 16

	flagAcceptor = 1 // the acceptor sent the token
	flagSealed   = 2
	flagSubkey   = 4 // the acceptor chose the key
)

// newContext returns the context of one side.
func newContext(peer string, key types.EncryptionKey, subkey, initiator bool, sent, received uint64) (*Context, error) {
	theirs, ours := uint32(usageAcceptor), uint32(usageInitiator)
	c := &Context{peer: peer, sent: sent, received: received}
	if !initiator {
		theirs, ours = ours, theirs
		c.flags |= flagAcceptor
	}
	if subkey {
		c.flags |= flagSubkey
	}
	var err error
	if c.in, err = newSealer(key, theirs); err != nil {
		return nil, err
	}
	c.out, err = newSealer(key, ours)
	return c, err
}

// Peer returns the peer's principal, with its realm.
func (c *Context) Peer() string { return c.peer }

// Wrap appends a token with the message to dst. The message is sealed if seal is set, otherwise signed.
func (c *Context) Wrap(dst, message []byte, seal bool) []byte {
	var h [headerLen]byte
	h[0], h[1], h[2], h[3] = 5, 4, c.flags, 0xff
	binary.BigEndian.PutUint64(h[8:], c.sent)
	c.sent++
	if seal {
		h[2] |= flagSealed
		return c.out.seal(append(dst, h[:]...), message, h[:])
	}
	sum := c.out.sign(nil, message, h[:])
	binary.BigEndian.PutUint16(h[4:], uint16(len(sum)))
	return append(append(append(dst, h[:]...), message...), sum...)
}

// Overhead returns the maximum number of bytes that a token adds to its message.
func (c *Context) Overhead() int { return headerLen + blockSize + headerLen + c.out.size }

// Unwrap returns the message of a token, which must be the next one in order. It overwrites the token. If seal is set, a token that is not
// sealed is an error.
func (c *Context) Unwrap(token []byte, seal bool) ([]byte, error) {
	if len(token) < headerLen {
		return nil, fmt.Errorf("%w: a wrap token of %d bytes", ErrToken, len(token))
	}
	var h [headerLen]byte
	copy(h[:], token)
	body := token[headerLen:]
	if err := c.check(h, seal); err != nil {
		return nil, err
	}
	extra := int(binary.BigEndian.Uint16(h[4:]))
	rotateLeft(body, int(binary.BigEndian.Uint16(h[6:])))
	var err error
	if h[2]&flagSealed != 0 {
		body, err = c.openSealed(h, body, extra)
	} else {
		body, err = c.openSigned(h, body, extra)
	}
	if err == nil {
		c.received++
	}
	return body, err
}

// check checks the header against what this side expects.
func (c *Context) check(h [headerLen]byte, seal bool) error {
	switch seq := binary.BigEndian.Uint64(h[8:]); {
	case h[0] != 5 || h[1] != 4 || h[3] != 0xff:
		return fmt.Errorf("%w: %x is not a wrap token", ErrToken, h[:4])
	case h[2]&flagAcceptor == c.flags&flagAcceptor:
		return fmt.Errorf("%w: the peer sent back our own wrap token", ErrToken)
	case h[2]&flagSubkey != c.flags&flagSubkey:
		return fmt.Errorf("%w: a wrap token with a key other than the agreed one", ErrToken)
	case seal && h[2]&flagSealed == 0:
		return fmt.Errorf("%w: a wrap token that is not sealed, though auth-conf was agreed", ErrToken)
	case uint32(seq) != uint32(c.received) || seq > math.MaxUint32 && seq != c.received: // Java's numbers have 32 bits
		return fmt.Errorf("%w: wrap token %d instead of %d: one was lost or repeated", ErrToken, seq, c.received)
	}
	return nil
}

func (c *Context) openSealed(h [headerLen]byte, body []byte, extra int) ([]byte, error) {
	plain, err := c.in.open(body)
	if err != nil {
		return nil, err
	}
	n := len(plain) - headerLen - extra
	if n < 0 {
		return nil, fmt.Errorf("%w: a sealed token of %d bytes with %d of filler", ErrToken, len(plain), extra)
	}
	h[6], h[7] = 0, 0
	if string(plain[len(plain)-headerLen:]) != string(h[:]) {
		return nil, fmt.Errorf("%w: the header of a wrap token was changed in transit", ErrToken)
	}
	return plain[:n], nil
}

func (c *Context) openSigned(h [headerLen]byte, body []byte, extra int) ([]byte, error) {
	n := len(body) - extra
	if n < 0 || extra != c.in.size {
		return nil, fmt.Errorf("%w: a signed token of %d bytes with a checksum of %d", ErrToken, len(body), extra)
	}
	clear(h[4:8])
	if !c.in.signed(body[n:], body[:n], h[:]) {
		return nil, fmt.Errorf("%w: it was not signed with this context's key, or was changed in transit", ErrToken)
	}
	return body[:n], nil
}

// rotateLeft undoes a rotation to the right by n bytes.
func rotateLeft(b []byte, n int) {
	if len(b) == 0 || n%len(b) == 0 {
		return
	}
	n %= len(b)
	turned := append(append(make([]byte, 0, len(b)), b[n:]...), b[:n]...)
	copy(b, turned)
}
