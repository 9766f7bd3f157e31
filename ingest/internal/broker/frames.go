package broker

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"brine/internal/certs"
)

// ErrNotKafka is the error of a connection whose other side is not a Kafka broker.
var ErrNotKafka = errors.New("the server is not a Kafka broker")

// An answer is its length in four bytes, then that many bytes. kafka-go trusts what it reads: it allocates an array of as many elements as
// four bytes of an answer say, up to 2³¹, and walks all of them even if the connection has ended. The answer of another kind of server can
// cost gigabytes and minutes of processor time.
const (
	maxFrame   = 0x20000000       // the longest answer that is read; text reads as a greater length, because a space is 0x20
	wholeFrame = 16 << 10         // answers up to this size are handed on only once complete
	maxDecoded = spareAnswerBytes // the longest answer that kafka-go decodes: metadata of 600,000 partitions
)

// tlsAlert is the length of the plain-text alert that a TLS server answers with; the others are its first bytes. kafka-go knows it.
const tlsAlert, tlsAlertType, tlsMajor = 7, 0x15, 3

// Transport returns a transport to the brokers. The caller ends its connections with CloseIdleConnections.
func (k Kafka) Transport() *kafka.Transport {
	k.EnsureDefaults()
	return k.transport(k.Dial, func(string, error) {})
}

// transport returns a transport that fails, and calls wrong, when what it reads cannot be a broker's answer.
func (k Kafka) transport(
	dial func(ctx context.Context, network, address string) (net.Conn, error), wrong func(address string, err error),
) *kafka.Transport {
	return &kafka.Transport{
		SASL:     k.SASL,
		ClientID: k.ClientID,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if k.TLS != nil { // not kafka-go, which would put TLS between us and the answers
				conn = tls.Client(conn, certs.For(k.TLS(), address))
			}
			return newFramedConn(conn, func(err error) { wrong(address, err) }), nil
		},
	}
}

// framedConn hands on what can be a broker's answers. Only one goroutine at a time may use it; it reads the answer to a request before it
// writes the next.
type framedConn struct {
	net.Conn
	wrong  func(error)
	from   *bufio.Reader
	frame  []byte // memory for an answer
	ready  []byte // part of frame to hand on next
	left   int    // bytes of a long answer after ready
	err    error  // why nothing more is read
	asked  call   // the last request
	known  bool   // asked is set
	tokens bool   // Kafka before 1.0 takes credentials without a request around them
	unsent int    // bytes of the last request that are still to be written
	alert  bool   // the other side speaks TLS: nothing follows
}

func newFramedConn(conn net.Conn, wrong func(error)) *framedConn {
	return &framedConn{Conn: conn, wrong: wrong, from: bufio.NewReader(conn)}
}

// errUnread is for a connection whose last answer was given up: what is left of it must not be taken for the next.
var errUnread = errors.New("the last answer has not been read to its end")

// Write notes what is asked, for the check of the answer.
func (f *framedConn) Write(b []byte) (int, error) {
	if f.unsent == 0 && len(b) >= 4 {
		if f.left > 0 || len(f.ready) > 0 {
			return 0, errUnread
		}
		f.asked, f.known = callOf(b)
		f.tokens = f.tokens || f.known && f.asked.key == protocol.SaslHandshake && f.asked.version == 0
		if !f.known && !f.tokens {
			return 0, fmt.Errorf("broker: no layout for the answer to the %v request", f.asked.key)
		}
		f.unsent = 4 + int(binary.BigEndian.Uint32(b))
	}
	n, err := f.Conn.Write(b)
	f.unsent = max(0, f.unsent-n)
	return n, err
}

func (f *framedConn) Read(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if len(f.ready) == 0 && f.left == 0 {
		if f.alert {
			f.wrong(io.EOF)
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			if f.err != nil {
				f.wrong(f.err)
			}
			return 0, err
		}
	}
	if len(f.ready) > 0 {
		n := copy(b, f.ready)
		f.ready = f.ready[n:]
		return n, nil
	}
	n, err := f.from.Read(b[:min(len(b), f.left)])
	f.left -= n
	return n, err
}

// next reads the length of the next answer, and all of an answer that is short or that kafka-go decodes.
func (f *framedConn) next() error {
	if cap(f.frame) > 2*wholeFrame {
		f.frame = nil
	}
	f.frame = slices.Grow(f.frame[:0], 4)[:4]
	if _, err := io.ReadFull(f.from, f.frame); err != nil {
		return err
	}
	length, short := binary.BigEndian.Uint32(f.frame), 0
	check := f.known && f.asked.checked()
	switch {
	case f.frame[0] == tlsAlertType && f.frame[1] == tlsMajor:
		short = tlsAlert - len(f.frame)
		f.alert, check = true, false
	case length <= wholeFrame, check && length <= maxDecoded:
		short = int(length)
	case length > maxFrame:
		f.err = fmt.Errorf("%w: its answer begins with %q", ErrNotKafka, f.frame)
		return f.err
	case check || f.tokens && !f.known:
		f.err = fmt.Errorf("%w: it has %d bytes, and at most %d are read", ErrMalformed, length, maxDecoded)
		return f.err
	default:
		f.left = int(length)
	}
	if err := f.read(short); errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	if check {
		if f.err = f.asked.check(f.frame[4:]); f.err != nil {
			return f.err
		}
	}
	f.ready = f.frame
	return nil
}

// read appends n bytes to the frame, which grows only with what has arrived.
func (f *framedConn) read(n int) error {
	for n > 0 {
		some, at := min(n, max(wholeFrame, len(f.frame))), len(f.frame)
		f.frame = slices.Grow(f.frame, some)[:at+some]
		if _, err := io.ReadFull(f.from, f.frame[at:]); err != nil {
			return err
		}
		n -= some
	}
	return nil
}
