package certs

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"time"
)

// handshakeRecord begins every connection that speaks TLS: it is the type of a record that holds a message of the handshake.
const handshakeRecord = 0x16

// Accept returns the stream of a connection that a port has accepted, after its handshake: encrypted, or as it is where plain text is taken
// and the first byte is none of TLS. The caller has set a deadline. After an error the connection is the caller's to close.
func Accept(conn net.Conn, config *tls.Config, plainText bool) (net.Conn, error) {
	raw := conn
	if plainText {
		var first [1]byte
		if _, err := io.ReadFull(conn, first[:]); err != nil {
			return nil, err
		}
		conn = &begun{Conn: conn, rest: io.MultiReader(bytes.NewReader(first[:]), conn)}
		if first[0] != handshakeRecord {
			return conn, nil
		}
	}
	stream := tls.Server(conn, config)
	if err := stream.Handshake(); err != nil {
		linger(raw)
		return nil, err
	}
	return stream, nil
}

// begun is a connection of which something was read.
type begun struct {
	net.Conn
	rest io.Reader
}

func (b *begun) Read(p []byte) (int, error) { return b.rest.Read(p) }

// linger lets a client read the alert that it was sent: what it has sent itself meanwhile, unread, would have the system reset the
// connection, and drop the alert.
func linger(conn net.Conn) {
	const longest, most = time.Second, 64 << 10
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(longest))
		_, _ = io.CopyN(io.Discard, conn, most) // it ends when the client closes
	}
}
