// Package certstest makes certificates for tests, as files: authorities that live as long as their test, and what they sign.
package certstest

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	CA string // file of its own certificate

	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

// Leaf describes a certificate. The zero value is a currently valid one for this machine, as server and client.
type Leaf struct {
	Name       string        // common name and name of the files; default leaf
	Hosts      []string      // names and addresses; default localhost and 127.0.0.1
	From, Till time.Duration // validity, relative to now; default an hour ago to an hour from now
	Self       bool          // signed by its own key
}

// New creates an authority in a folder of the test.
func New(t testing.TB, name string) *Authority {
	t.Helper()
	a := &Authority{dir: t.TempDir()}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	a.cert = sign(t, template, template, a.key, a.key)
	a.CA = filepath.Join(a.dir, "ca.pem")
	write(t, a.CA, "CERTIFICATE", a.cert.Raw)
	return a
}

// Load loads an authority from its files. It signs in a folder of the test.
func Load(t testing.TB, ca, key string) *Authority {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(ca, key)
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{CA: ca, dir: t.TempDir(), cert: pair.Leaf, key: pair.PrivateKey.(crypto.Signer)}
}

// Issue creates a certificate and its key, and returns their files. It replaces an earlier certificate with the same name, as a renewal
// does.
func (a *Authority) Issue(t testing.TB, l Leaf) (cert, key string) {
	t.Helper()
	name := cmp.Or(l.Name, "leaf")
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(cmp.Or(l.From, -time.Hour)), NotAfter: time.Now().Add(cmp.Or(l.Till, time.Hour)),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	hosts := l.Hosts
	if hosts == nil {
		hosts = []string{"localhost", "127.0.0.1"}
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	own := newKey(t)
	parent, by := a.cert, a.key
	if l.Self {
		parent, by = template, own
	}
	made := sign(t, template, parent, own, by)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")
	write(t, cert, "CERTIFICATE", made.Raw)
	write(t, key, "PRIVATE KEY", pkcs8)
	return cert, key
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func sign(t testing.TB, template, parent *x509.Certificate, of, by crypto.Signer) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, of.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Copy replaces a file by a copy of another atomically, as the renewal of certificates does: a connection made meanwhile reads a whole
// file.
func Copy(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = errors.Join(os.WriteFile(to+".new", b, 0o600), os.Rename(to+".new", to))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
