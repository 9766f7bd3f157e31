package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
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

// brittle is a connection whose writes fail once it is broken, as they do when the other side has reset it.
type brittle struct {
	net.Conn
	broken atomic.Bool
}

func (b *brittle) Write(p []byte) (int, error) {
	if b.broken.Load() {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return b.Conn.Write(p)
}

// TestAlertExplainsAFailedWrite: in TLS 1.3 the server reads our certificate after our side of the handshake, so a write may fail before
// anybody has read the alert. A broken pipe alone would not say that a certificate is missing. What the write has read for the alert is not
// missing in later reads, since there are none.
func TestAlertExplainsAFailedWrite(t *testing.T) {
	a := certstest.New(t, "a")
	cert, key := a.Issue(t, certstest.Leaf{})
	for _, c := range []struct {
		name  string
		auth  tls.ClientAuthType
		sends string
		want  string
	}{
		{"the server wants a certificate", tls.RequireAnyClientCert, "", "the server requires a client certificate: certificate required; set x.tls.cert"},
		{"the server sends something and ends the connection", tls.NoClientCert, "the rest of an answer", "broken pipe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			near, far := net.Pipe()
			done := make(chan error, 1)
			server := tls.Server(far, open(t, Files{Cert: cert, Key: key}).Server(c.auth, tls.VersionTLS13))
			go func() {
				_, err := io.WriteString(server, c.sends) // blocks until it is read
				done <- errors.Join(err, server.Close())
			}()
			plain := &brittle{Conn: near}
			client := &Client{Store: open(t, Files{CA: a.CA}), Section: "x.tls", Connect: "x.connect"}
			conn, err := client.Encrypt(t.Context(), plain, "127.0.0.1:1")
			if err != nil {
				t.Fatal(err)
			}
			plain.broken.Store(true)
			if _, err := io.WriteString(conn, "hello"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the write: %v", err)
			}
			if n, err := conn.Read(make([]byte, 100)); n > 0 || err == nil {
				t.Errorf("a read after it: %d bytes, %v", n, err)
			}
			near.Close()
			<-done
		})
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

// TestFollow: each new connection of a transport has the files as they are when it is made, and the server's name is checked, be it a host's
// or an address.
func TestFollow(t *testing.T) {
	first, second := certstest.New(t, "first"), certstest.New(t, "second")
	dir := t.TempDir()
	files := Files{CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	put := func(to, from string) {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hold := func(a *certstest.Authority, name string) {
		cert, key := a.Issue(t, certstest.Leaf{Name: name})
		put(files.CA, a.CA)
		put(files.Cert, cert)
		put(files.Key, key)
	}
	hold(first, "ours")
	store := open(t, files)
	transport := new(http.Transport)
	Follow(transport, func() *tls.Config { return store.Dialling("") })
	defer transport.CloseIdleConnections()

	serve := func(a *certstest.Authority, l certstest.Leaf) string {
		cert, key := a.Issue(t, l)
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
		}))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		clients := x509.NewCertPool()
		ca, err := os.ReadFile(a.CA)
		if err != nil || !clients.AppendCertsFromPEM(ca) {
			t.Fatal(err)
		}
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	ask := func(url string) (string, error) {
		client := http.Client{Transport: transport}
		response, err := client.Get(url)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		name, err := io.ReadAll(response.Body)
		return string(name), err
	}
	old, renewed := serve(first, certstest.Leaf{}), serve(second, certstest.Leaf{})
	elsewhere := serve(first, certstest.Leaf{Hosts: []string{"elsewhere.example", "10.1.2.3"}})
	wants := func(url, name, fault string) {
		t.Helper()
		got, err := ask(url)
		if got != name || (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s answers %q, %v; want %q, %q", url, got, err, name, fault)
		}
	}
	wants(old, "ours", "")
	wants(strings.Replace(old, "127.0.0.1", "localhost", 1), "ours", "")
	wants(renewed, "", "unknown authority")
	wants(elsewhere, "", "certificate is valid for 10.1.2.3, not 127.0.0.1")
	wants(strings.Replace(elsewhere, "127.0.0.1", "localhost", 1), "", "certificate is valid for elsewhere.example, not localhost")
	transport.CloseIdleConnections()
	hold(second, "renewed")
	wants(renewed, "renewed", "")
	wants(old, "", "unknown authority")
}
