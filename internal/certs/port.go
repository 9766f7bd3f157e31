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

// Port is how a port of ours is encrypted. With Files.CA, clients must show a certificate that one of these authorities has signed; without
// Files.Cert it speaks plain text.
type Port struct {
	Files
	MinVersion uint16 // 0: TLS 1.2
}

// Encrypted reports whether the port speaks TLS.
func (p Port) Encrypted() bool { return p.Cert != "" }

// Listener accepts connections that speak TLS and nothing else. Their handshakes are their readers' to wait for.
type Listener struct{ net.Listener }

// Listen has a listener speak as the port is to. changed is as Open's.
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

// Client returns the configuration of a client that knows the port's own files, and takes the certificate that they hold by whatever name
// it dials. It shows that certificate as its own where the port wants one.
func (p Port) Client() (*tls.Config, error) {
	store, err := Open(Files{Cert: p.Cert, Key: p.Key}, nil)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         cmp.Or(p.MinVersion, tls.VersionTLS12),
		InsecureSkipVerify: true, // VerifyConnection does it: the certificate itself is known
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !s.PeerCertificates[0].Equal(store.now().own.Leaf) {
				return errors.New("the port shows another certificate than the one in " + p.Cert)
			}
			return nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return store.now().own, nil },
	}, nil
}
