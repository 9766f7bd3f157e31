// Package certs is TLS by certificates in files, for whatever part of brine encrypts connections: those to HBase, those to the embedded
// HBase, and the HTTP ports. A Store reads the files, and reads them again for each new connection, so that a certificate that was
// renewed, or an authority that is trusted no longer, takes no restart. Connections that are open go on.
//
// The side that dials has a Client, which encrypts a connection and explains in words why it failed. The side that listens has a Port: an
// HTTP port's settings become one, and its Listen wraps the listener (http.tls; serve.tls is to be the same). Store.Server is its
// tls.Config for others, and Accept is for a port that takes plain text as well.
//
// The invariants: a connection is made with a certificate and its own key, and with authorities that were read whole; while the files
// hold something else, a key without its certificate for one, what they held last goes on being used and the fault is reported. No
// session is resumed, so that each connection proves itself by what is in the files now. No error holds anything of a key.
package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

// Files name what a side of connections needs, each a file in PEM.
type Files struct {
	CA        string // authorities that have signed the other side's certificate; empty: a client takes the system's, a server asks for none
	Cert, Key string // our own certificate, with those between it and the authority behind it, and its key; both or neither
}

// Store is what the files held when they were last good.
type Store struct {
	files   Files
	changed func(error)

	mu     sync.Mutex
	seen   [3][sha256.Size]byte // of the files as they were last read
	good   held
	faulty string // the fault that was reported last; empty: the files are good
}

// held is what files hold.
type held struct {
	roots *x509.CertPool   // nil: the system's
	own   *tls.Certificate // nil: none
}

// Open reads the files. changed, which may be nil, is called when they have changed: with nil when what they hold is used from now on, or
// with why it is not. It is called where connections are made, and must not block.
func Open(files Files, changed func(error)) (*Store, error) {
	if (files.Cert == "") != (files.Key == "") {
		return nil, errors.New("a certificate and its key go together: name both files, or neither")
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

// now returns what the files hold, or held when they were last good. They are compared by their bytes: two changes can have one time.
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
		s.changed(fmt.Errorf("%w; the certificates that were read before are still used", err))
	}
	return s.good
}

// contents are those of CA, Cert and Key; nil for a file that is not named.
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

// maxFile is more than all authorities of a system take.
const maxFile = 4 << 20

// ReadPEM reads a file of certificates or of a key, which must be a regular one.
func ReadPEM(name string) ([]byte, error) {
	info, err := os.Stat(name) // before it is opened: a pipe would block
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file")
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

// Authorities returns the certificates of a file in PEM.
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

// Server returns the configuration of a port, which shows the certificate that the files hold when a connection is made, and takes clients'
// certificates that their authorities have signed.
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

// version is the name of a version of TLS.
func version(v uint16) string { return strings.TrimPrefix(tls.VersionName(v), "TLS ") }
