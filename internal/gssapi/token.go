package gssapi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxToken is the longest token of an exchange. Tickets of Active Directory that list many groups have some 64 KiB.
const MaxToken = 1 << 20

// ErrToken is returned for a token that is malformed or not the expected one.
var ErrToken = errors.New("malformed Kerberos token")

// tokenID is the type of the Kerberos message in a token of the context's exchange.
type tokenID uint16

const (
	tokenRequest tokenID = 0x0100 // AP-REQ
	tokenReply   tokenID = 0x0200 // AP-REP
	tokenError   tokenID = 0x0300 // KRB-ERROR
)

// mechanism is the object identifier of Kerberos 5, 1.2.840.113554.1.2.2, in DER.
var mechanism = []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}

// encodeToken frames a message for the context's exchange:
//
//	60 length │ 06 09 … the mechanism │ token id (2) │ message
func encodeToken(id tokenID, message []byte) []byte {
	n := len(mechanism) + 2 + len(message)
	b := append([]byte{0x60}, derLength(n)...)
	b = append(b, mechanism...)
	b = binary.BigEndian.AppendUint16(b, uint16(id))
	return append(b, message...)
}

func derLength(n int) []byte {
	if n < 0x80 {
		return []byte{byte(n)}
	}
	var b []byte
	for ; n > 0; n >>= 8 {
		b = append([]byte{byte(n)}, b...)
	}
	return append([]byte{0x80 | byte(len(b))}, b...)
}

// decodeToken returns the content of a frame.
func decodeToken(b []byte) (tokenID, []byte, error) {
	if len(b) > MaxToken {
		return 0, nil, fmt.Errorf("%w: %d bytes, limit %d", ErrToken, len(b), MaxToken)
	}
	if len(b) < 2 || b[0] != 0x60 {
		return 0, nil, fmt.Errorf("%w: %d bytes that do not begin like one", ErrToken, len(b))
	}
	n, rest := int(b[1]), b[2:]
	if n >= 0x80 {
		k := n & 0x7f
		if k == 0 || k > 4 || k > len(rest) {
			return 0, nil, fmt.Errorf("%w: its length has %d bytes", ErrToken, k)
		}
		n = 0
		for _, c := range rest[:k] {
			n = n<<8 | int(c)
		}
		rest = rest[k:]
	}
	if n != len(rest) {
		return 0, nil, fmt.Errorf("%w: it announces %d bytes but has %d", ErrToken, n, len(rest))
	}
	rest, ok := bytes.CutPrefix(rest, mechanism)
	if !ok || len(rest) < 2 {
		return 0, nil, fmt.Errorf("%w: its mechanism is not Kerberos 5", ErrToken)
	}
	return tokenID(binary.BigEndian.Uint16(rest)), rest[2:], nil
}

// guarded runs a decoder of gokrb5 and recovers from its panics: some index bytes without checking the length.
func guarded(what string, decode func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s: %v", ErrToken, what, p)
		}
	}()
	if err := decode(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrToken, what, err)
	}
	return nil
}
