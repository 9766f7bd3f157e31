package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brine/internal/certs/certstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk encrypts both sides of a connection, and returns the client's error after an echo.
func talk(t *testing.T, client *Client, server *tls.Config, plainText bool) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if s, err := Accept(c, server, plainText); err == nil {
			io.Copy(s, s)
		}
	}()
	defer func() { l.Close(); <-done }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if client != nil {
		if conn, err = client.Encrypt(t.Context(), conn, l.Addr().String()); err != nil {
			return err
		}
		defer conn.Close()
	}
	if _, err := io.WriteString(conn, "hello"); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, 5))
	return err
}

func open(t *testing.T, f Files) *Store {
	t.Helper()
	s, err := Open(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOnePortOfBoth(t *testing.T) {
	a := certstest.New(t, "a")
	cert, key := a.Issue(t, certstest.Leaf{})
	server := open(t, Files{Cert: cert, Key: key}).Server(tls.NoClientCert, tls.VersionTLS12)
	client := &Client{Store: open(t, Files{CA: a.CA}), Section: "x.tls", Connect: "x.connect"}
	for _, c := range []struct {
		client    *Client
		plainText bool
		works     bool
	}{{client, false, true}, {client, true, true}, {nil, true, true}, {nil, false, false}} {
		if err := talk(t, c.client, server, c.plainText); (err == nil) != c.works {
			t.Errorf("encrypted %v, plain text taken %v: %v", c.client != nil, c.plainText, err)
		}
	}
}

// Changed files are used for later connections, and only if all of them are good.
func TestFilesAreReadAgain(t *testing.T) {
	a := certstest.New(t, "a")
	cert, key := a.Issue(t, certstest.Leaf{Name: "one"})
	var news []string
	s, err := Open(Files{CA: a.CA, Cert: cert, Key: key}, func(err error) {
		text := "taken"
		if err != nil {
			text, _, _ = strings.Cut(strings.ReplaceAll(err.Error(), filepath.Dir(cert)+"/", ""), ";")
		}
		news = append(news, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	first := s.now()
	for _, step := range []struct {
		change func()
		same   bool
		news   string
	}{
		{func() {}, true, ""},
		{func() { os.Remove(key) }, true, "one.key cannot be read: no such file or directory"},
		{func() {}, true, ""}, // reported once
		{func() { os.WriteFile(key, []byte("secret"), 0o600) }, true, "one.pem is not a valid pair with key: failed to find any PEM data in key input"},
		{func() { a.Issue(t, certstest.Leaf{Name: "one"}) }, false, "taken"},
		{func() { os.WriteFile(a.CA, nil, 0o600) }, false, "ca.pem holds no certificate"},
	} {
		news = nil
		step.change()
		if got := s.now(); (got.own == first.own) != step.same || strings.Join(news, ", ") != step.news {
			t.Errorf("the same %v, news %q; want %v, %q", got.own == first.own, news, step.same, step.news)
		}
	}
}

// No error contains anything from a key file, whichever setting names it.
func TestKeysAreNotShown(t *testing.T) {
	a := certstest.New(t, "a")
	cert, key := a.Issue(t, certstest.Leaf{})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []Files{{CA: key}, {CA: secret}, {Cert: key, Key: cert}, {Cert: cert, Key: secret}, {Cert: secret, Key: key}, {Cert: secret, Key: secret}, {Cert: cert}, {Key: key}} {
		_, err := Open(f, nil)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "MII") {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// A server's description of itself is truncated and escaped.
func TestNamesAreNotTakenAsTheyAre(t *testing.T) {
	a, b := certstest.New(t, "a\x1b[2J"), certstest.New(t, "b")
	cert, key := a.Issue(t, certstest.Leaf{Hosts: []string{strings.Repeat("x.", 120) + "y"}})
	server := open(t, Files{Cert: cert, Key: key}).Server(tls.NoClientCert, tls.VersionTLS12)
	for _, ca := range []string{a.CA, b.CA} {
		err := talk(t, &Client{Store: open(t, Files{CA: ca}), Section: "x.tls", Connect: "x.connect"}, server, false)
		if err == nil || strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 700 {
			t.Errorf("%v", err)
		}
	}
}

// A cancelled Encrypt is not reported as the server's fault.
func TestEncryptIsCancelled(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	a := certstest.New(t, "a")
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(gone) })
	c := &Client{Store: open(t, Files{CA: a.CA}), Section: "x.tls", Connect: "x.connect"}
	if _, err := c.Encrypt(ctx, near, "localhost:1"); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}
