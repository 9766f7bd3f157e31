package admin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"brine/internal/certs"
	"brine/internal/certs/certstest"
	"brine/internal/testenv"
)

// encrypted runs an encrypted port until the test ends.
func encrypted(t *testing.T, how certs.Port, log *slog.Logger) *Port {
	t.Helper()
	l, err := ListenTLS("127.0.0.1:0", "http.listen", "http.tls", how, log)
	if err != nil {
		t.Fatal(err)
	}
	p := New(l, "127.0.0.1:0", Options{Metrics: prometheus.NewRegistry(), Healthy: fine, Ready: fine, Log: log})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return p
}

// ask sends a request on a new connection.
func ask(p *Port, config *tls.Config) error {
	return Client{Addr: p.Addr(), TLS: config}.Get(context.Background(), "/healthz", new(struct{}))
}

func trusting(t *testing.T, ca string) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: pool}
}

func TestPortIsEncrypted(t *testing.T) {
	a, b := certstest.New(t, "a"), certstest.New(t, "b")
	var how certs.Port
	how.Cert, how.Key = a.Issue(t, certstest.Leaf{Hosts: []string{"127.0.0.1"}})
	var logged testenv.Text
	p := encrypted(t, how, slog.New(slog.NewTextHandler(&logged, nil)))
	known, err := how.Client()
	if err != nil {
		t.Fatal(err)
	}
	says := func(step string, err error, want string) {
		t.Helper()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
	says("by its authority", ask(p, trusting(t, a.CA)), "")
	says("by its own file", ask(p, known), "")
	says("by another authority", ask(p, trusting(t, b.CA)), "unknown authority")
	says("in plain text", ask(p, nil), "Client sent an HTTP request to an HTTPS server")
	if !strings.HasPrefix(p.URL(), "https://") {
		t.Error(p.URL())
	}

	renewed, key := b.Issue(t, certstest.Leaf{Hosts: []string{"127.0.0.1"}})
	for from, to := range map[string]string{renewed: how.Cert, key: how.Key} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	says("renewed, by the authority before", ask(p, trusting(t, a.CA)), "unknown authority")
	says("renewed, by its authority", ask(p, trusting(t, b.CA)), "")
	says("renewed, by its own file", ask(p, known), "")
	if err := os.WriteFile(how.Key, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	says("with a key that is none", ask(p, trusting(t, b.CA)), "")
	stranger, err := certs.Port{Files: certs.Files{Cert: renewed, Key: key}}.Client()
	if err != nil {
		t.Fatal(err)
	}
	says("by a copy of its file", ask(p, stranger), "")
	a.Issue(t, certstest.Leaf{Hosts: []string{"127.0.0.1"}})
	says("by the file that it had", ask(p, stranger), "the port presents a certificate other than the one in")
	if got := logged.String(); !strings.Contains(got, "cannot be used") || !strings.Contains(got, "new connections use them") || strings.Contains(got, "hunter2") {
		t.Errorf("logged: %s", got)
	}
}

func TestPortWantsCertificates(t *testing.T) {
	a, clients := certstest.New(t, "a"), certstest.New(t, "clients")
	var how certs.Port
	how.Cert, how.Key = a.Issue(t, certstest.Leaf{})
	how.CA = clients.CA
	p := encrypted(t, how, slog.New(slog.DiscardHandler))
	with := trusting(t, a.CA)
	cert, key := clients.Issue(t, certstest.Leaf{})
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	with.Certificates = []tls.Certificate{pair}
	if err := ask(p, with); err != nil {
		t.Error(err)
	}
	if err := ask(p, trusting(t, a.CA)); err == nil {
		t.Error("a request without one was answered")
	}
	// In TLS 1.3 the port reads the client's certificate after the client's handshake, so a request's own error may be that of a write to
	// a closed connection. A client that only reads always gets the alert.
	conn, err := tls.Dial("tcp", p.Addr(), trusting(t, a.CA))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("without one: %v", err)
	}
}

func TestPortWithoutItsFilesIsNotOpened(t *testing.T) {
	how := certs.Port{Files: certs.Files{Cert: "absent.pem", Key: "absent.key"}}
	if l, err := ListenTLS("127.0.0.1:0", "http.listen", "http.tls", how, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "http.tls: absent.pem cannot be read") {
		t.Errorf("%v %v", l, err)
	}
	http.DefaultClient.CloseIdleConnections()
}
