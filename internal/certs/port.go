package certs

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// handshakeRecord is the first byte of every TLS connection: the type of a record with a handshake message.
const handshakeRecord = 0x16

// Accept returns the stream of an accepted connection after its handshake. If plainText is set and the first byte is not that of TLS, the
// stream is not encrypted. The caller has set a deadline. If Accept fails, the caller closes the connection.
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

// begun is a connection from which bytes were already read.
type begun struct {
	net.Conn
	rest io.Reader
}

func (b *begun) Read(p []byte) (int, error) { return b.rest.Read(p) }

// linger lets a client read the alert that it was sent. Otherwise unread bytes from the client would make the system reset the connection
// and drop the alert.
func linger(conn net.Conn) {
	const longest, most = time.Second, 64 << 10
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = conn.SetReadDeadline(time.Now().Add(longest))
		_, _ = io.CopyN(io.Discard, conn, most) // ends when the client closes
	}
}

// Port configures the encryption of one of our ports. If Files.CA is set, clients must show a certificate signed by one of these
// authorities. Without Files.Cert the port speaks plain text.
type Port struct {
	Files
	MinVersion uint16 // 0: TLS 1.2
}

// Encrypted reports whether the port speaks TLS.
func (p Port) Encrypted() bool { return p.Cert != "" }

// Listener accepts only TLS connections. It does not wait for the handshake, which happens at the first read.
type Listener struct{ net.Listener }

// Listen returns l with the port's encryption. changed is as in Open.
func (p Port) Listen(l net.Listener, changed func(error)) (net.Listener, error) {
	if !p.Encrypted() {
		return l, nil
	}
	store, err := Open(p.Files, changed)
	if err != nil {
		return nil, err
	}
	auth := tls.NoClientCert
	if p.CA != "" {
		auth = tls.RequireAndVerifyClientCert
	}
	return &Listener{tls.NewListener(l, store.Server(auth, cmp.Or(p.MinVersion, tls.VersionTLS12)))}, nil
}

// Client returns the configuration of a client that has the port's own files. It accepts the certificate in them under any name, and shows
// that certificate as its own if the port requires one.
func (p Port) Client() (*tls.Config, error) {
	store, err := Open(Files{Cert: p.Cert, Key: p.Key}, nil)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         cmp.Or(p.MinVersion, tls.VersionTLS12),
		InsecureSkipVerify: true, // VerifyConnection verifies: the certificate itself is known
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !s.PeerCertificates[0].Equal(store.now().own.Leaf) {
				return errors.New("the port presents a certificate other than the one in " + p.Cert)
			}
			return nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return store.now().own, nil },
	}, nil
}
