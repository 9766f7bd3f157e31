package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxSASLToken is the length of the longest token of an authentication exchange. It is HBase's own limit.
const MaxSASLToken = 1 << 20

// Between the preamble and the connection header, both sides exchange SASL tokens. Integers are int32:
//
//	client   length │ token
//	server   0 │ length │ token
//	         1 │ length │ exception's class │ length │ its message      the connection ends
//	         0 │ −88                                                  "go on without authentication"
//
// Nothing answers the client's last token. If a quality of protection was agreed, everything that follows is length │ wrapped bytes.
const (
	saslSuccess        = 0
	saslError          = 1
	switchToSimpleAuth = -88
)

// ErrNoAuthentication is a server's offer to continue without authentication.
var ErrNoAuthentication = errors.New("the server requires no authentication")

// SASLError is a server's reason for refusing a client.
type SASLError struct{ Class, Message string }

func (e *SASLError) Error() string { return e.Class + ": " + e.Message }

// OtherAnswer is what a server without SASL sends: a response frame to no call.
type OtherAnswer struct{ Response Response }

func (e *OtherAnswer) Error() string {
	if e.Response.Exception != nil {
		return e.Response.Exception.GetExceptionClassName()
	}
	return "an answer to a call instead of a token"
}

// AppendSASLToken appends a client's token.
func AppendSASLToken(dst, token []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(token))), token...)
}

// AppendSASLChallenge appends a server's token.
func AppendSASLChallenge(dst, token []byte) []byte {
	return AppendSASLToken(binary.BigEndian.AppendUint32(dst, saslSuccess), token)
}

// AppendSASLError appends a server's refusal.
func AppendSASLError(dst []byte, e *SASLError) []byte {
	dst = binary.BigEndian.AppendUint32(dst, saslError)
	return AppendSASLToken(AppendSASLToken(dst, []byte(e.Class)), []byte(e.Message))
}

// ReadSASLToken reads a client's token.
func ReadSASLToken(r io.Reader) ([]byte, error) { return readSASL(r, MaxSASLToken) }

// ReadSASLChallenge reads a server's token. The error may be a *SASLError or an *OtherAnswer, or wrap ErrNoAuthentication.
func ReadSASLChallenge(r io.Reader) ([]byte, error) {
	status, err := readInt32(r)
	if err != nil {
		return nil, err
	}
	switch {
	case status == saslSuccess:
		return readSASL(r, MaxSASLToken)
	case status == saslError:
		class, err := readSASL(r, MaxText)
		if err != nil {
			return nil, err
		}
		message, err := readSASL(r, MaxSASLToken)
		if err != nil {
			return nil, err
		}
		return nil, &SASLError{string(class), string(message[:min(len(message), MaxText)])}
	case status < 0 || status > MaxSASLToken:
		return nil, fmt.Errorf("%w: status %d of an authentication", ErrMalformed, status)
	}
	frame, err := readExactly(r, int(status))
	if err != nil {
		return nil, err
	}
	answer, err := DecodeResponse(frame)
	if err != nil {
		return nil, err
	}
	return nil, &OtherAnswer{answer}
}

// readSASL reads bytes preceded by their length.
func readSASL(r io.Reader, most int) ([]byte, error) {
	n, err := readInt32(r)
	switch {
	case err != nil:
		return nil, err
	case n == switchToSimpleAuth:
		return nil, ErrNoAuthentication
	case n < 0:
		return nil, fmt.Errorf("%w: a token of %d bytes", ErrMalformed, n)
	case int(n) > most:
		return nil, fmt.Errorf("%w: a token of %d bytes, limit %d", ErrTooLong, n, most)
	}
	return readExactly(r, int(n))
}

func readInt32(r io.Reader) (int32, error) {
	var b [4]byte
	_, err := io.ReadFull(r, b[:])
	return int32(binary.BigEndian.Uint32(b[:])), err
}

func readExactly(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}
