// Package certs is TLS with certificates in files, for every part of brine that encrypts connections: to HBase, to the embedded HBase, and
// on the HTTP ports. A Store reads the files again for each new connection, so a renewed certificate or an authority that is no longer
// trusted needs no restart. Open connections continue.
//
// The dialling side uses a Client, which encrypts a connection and explains why it failed. The listening side uses a Port: an HTTP port's
// settings become one, and its Listen wraps the listener (http.tls, serve.tls). Store.Server is its tls.Config for
// others, and Accept is for a port that takes plain text as well.
//
// The invariants: a connection uses a certificate with its own key, and authorities that were read completely. While the files have other
// contents, such as a key without its certificate, their last good contents stay in use and the fault is reported. No session is resumed,
// so each connection is verified with the current files. No error contains any part of a key.
package certs

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// Files are the PEM files of one side of connections.
type Files struct {
	CA        string // authorities that sign the other side's certificate; empty: a client uses the system's, a server requires no certificate
	Cert, Key string // our own certificate, with the intermediate ones, and its key; both or neither
}

// Store holds the last good contents of the files.
type Store struct {
	files   Files
	changed func(error)

	mu     sync.Mutex
	seen   [3][sha256.Size]byte // of the files as last read
	good   held
	faulty string // the last reported fault; empty: the files are good
}

// held is the contents of the files.
type held struct {
	roots *x509.CertPool   // nil: the system's
	own   *tls.Certificate // nil: none
}

// Open reads the files. changed, which may be nil, is called after they changed: with nil if the new contents are in use from now on, or
// with the reason why they are not. It is called while connections are made, and must not block.
func Open(files Files, changed func(error)) (*Store, error) {
	if (files.Cert == "") != (files.Key == "") {
		return nil, errors.New("a certificate needs its key: name both files, or neither")
	}
	if changed == nil {
		changed = func(error) {}
	}
	s := &Store{files: files, changed: changed}
	found, err := files.read()
	if err != nil {
		return nil, err
	}
	if s.good, err = files.parse(found); err != nil {
		return nil, err
	}
	s.seen = sumsOf(found)
	return s, nil
}

// now returns the current contents of the files, or the last good ones. It compares contents by their bytes, because two changes can have
// the same time.
func (s *Store) now() held {
	s.mu.Lock()
	defer s.mu.Unlock()
	contents, err := s.files.read()
	var found held
	if err == nil {
		sums := sumsOf(contents)
		if sums == s.seen {
			s.faulty = ""
			return s.good
		}
		if found, err = s.files.parse(contents); err == nil {
			s.seen, s.good, s.faulty = sums, found, ""
			s.changed(nil)
			return s.good
		}
	}
	if fault := err.Error(); fault != s.faulty {
		s.faulty = fault
		s.changed(fmt.Errorf("%w; the previous certificates stay in use", err))
	}
	return s.good
}

// contents are the contents of CA, Cert and Key; nil for a file that is not set.
type contents [3][]byte

func sumsOf(c contents) (sums [3][sha256.Size]byte) {
	for i := range c {
		sums[i] = sha256.Sum256(c[i])
	}
	return sums
}

func (f Files) read() (c contents, err error) {
	for i, name := range []string{f.CA, f.Cert, f.Key} {
		if name == "" {
			continue
		}
		if c[i], err = ReadPEM(name); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (f Files) parse(c contents) (h held, err error) {
	if f.CA != "" {
		if h.roots, err = Authorities(c[0]); err != nil {
			return h, fmt.Errorf("%s %w", f.CA, err)
		}
	}
	if f.Cert != "" {
		pair, err := Pair(c[1], c[2])
		if err != nil {
			return h, fmt.Errorf("%s %w", f.Cert, err)
		}
		h.own = &pair
	}
	return h, nil
}

// maxFile is larger than a file with all authorities of a system.
const maxFile = 4 << 20

// ReadPEM reads a file of certificates or a key. It must be a regular file.
func ReadPEM(name string) ([]byte, error) {
	info, err := os.Stat(name) // before opening it, because a pipe would block
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil && info.Size() > maxFile {
		err = fmt.Errorf("more than %d MiB", maxFile>>20)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(name)
	}
	if e, ok := errors.AsType[*os.PathError](err); ok {
		err = e.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	return content, nil
}

// Authorities returns the certificates of a PEM file.
func Authorities(pem []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("holds no certificate")
	}
	return pool, nil
}

// Pair returns a certificate with its key, both in PEM.
func Pair(cert, key []byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair, fmt.Errorf("is not a valid pair with key: %s", strings.TrimPrefix(err.Error(), "tls: "))
	}
	return pair, nil
}

// Server returns the configuration of a port. The port shows the certificate that is in the files when a connection is made, and accepts
// client certificates signed by the authorities in the files.
func (s *Store) Server(auth tls.ClientAuthType, minVersion uint16) *tls.Config {
	return &tls.Config{
		MinVersion: minVersion,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			h := s.now()
			c := &tls.Config{MinVersion: minVersion, ClientAuth: auth, ClientCAs: h.roots, SessionTicketsDisabled: true}
			if h.own != nil {
				c.Certificates = []tls.Certificate{*h.own}
			}
			return c, nil
		},
	}
}

// Dialling returns the configuration of a connection that is made now. The server's certificate must be for serverName; empty: for the
// host, which the caller then sets.
func (s *Store) Dialling(serverName string) *tls.Config { return s.now().dialling(serverName) }

func (h held) dialling(serverName string) *tls.Config {
	c := &tls.Config{ServerName: serverName, MinVersion: tls.VersionTLS12, RootCAs: h.roots}
	if h.own != nil { // shown whatever authorities the server names, so that the server reports what is wrong with it
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return h.own, nil }
	}
	return c
}

// For returns a configuration for a host; it is c if that names a server already.
func For(c *tls.Config, address string) *tls.Config {
	host, _, err := net.SplitHostPort(address)
	if err != nil || c.ServerName != "" {
		return c
	}
	c = c.Clone()
	c.ServerName = host
	return c
}

// Dial returns dial with TLS on top, for each connection by what config returns then.
func Dial(dial func(ctx context.Context, network, address string) (net.Conn, error), config func() *tls.Config) func(
	ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, handshakeTime)
		defer cancel()
		conn := tls.Client(plain, For(config(), address))
		if err := conn.HandshakeContext(ctx); err != nil {
			_ = plain.Close() // the error of the handshake says more
			return nil, err
		}
		return conn, nil
	}
}

const handshakeTime = 10 * time.Second

// Follow makes a transport encrypt each new connection by what config returns then; one through a proxy, by what it returns now.
func Follow(t *http.Transport, config func() *tls.Config) {
	dial := t.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	t.TLSClientConfig, t.DialTLSContext = config(), Dial(dial, config)
}

// version returns the name of a TLS version.
func version(v uint16) string { return strings.TrimPrefix(tls.VersionName(v), "TLS ") }
