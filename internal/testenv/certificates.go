package testenv

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// Presents waits until the server presents the certificate of a file to who connects now.
func Presents(t testing.TB, addr, cert string) {
	t.Helper()
	block, rest := pem.Decode(content(t, cert))
	for block != nil && block.Type != "CERTIFICATE" { // its key
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		t.Fatalf("%s holds no certificate", cert)
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin) // not the test's, which has ended when it cleans up
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	var shown []byte
	see := func(chain [][]byte, _ [][]*x509.Certificate) error {
		shown = chain[0]
		return errors.New("seen")
	}
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, VerifyPeerCertificate: see}}
	for {
		conn, err := dialer.DialContext(ctx, "tcp", addr)
		if conn != nil {
			conn.Close()
		}
		if bytes.Equal(shown, block.Bytes) {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("%s did not present %s within %v, but last %x (%v)", addr, cert, answerWithin, shown, err)
		}
	}
}

// replace replaces the content of a file in one step, for servers that read it at any time and as another user.
func replace(t testing.TB, file string, b []byte) {
	t.Helper()
	if err := errors.Join(os.WriteFile(file+".new", b, 0o644), os.Rename(file+".new", file)); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lock locks a folder until the test ends (syscall.LOCK_SH, LOCK_EX), and first waits for the tests of all packages that have it locked.
// The system unlocks it for a test that was killed.
func lock(t testing.TB, dir string, how int) {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		t.Fatalf("locking %s: %v", dir, err)
	}
}
