package hbase_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/certs"
	"brine/internal/certs/certstest"
)

// network is who signs for whom in a test: the servers' authority, the clients' and one that nobody knows.
type network struct {
	t                         testing.TB
	servers, clients, unknown *certstest.Authority
}

func newNetwork(t testing.TB) network {
	return network{t, certstest.New(t, "servers"), certstest.New(t, "clients"), certstest.New(t, "unknown")}
}

// server returns the options of a server whose certificate its authority signs as the leaf says.
func (n network) server(l certstest.Leaf) *embedded.TLS {
	o := &embedded.TLS{CA: n.clients.CA}
	o.Cert, o.Key = n.servers.Issue(n.t, l)
	return o
}

// client returns the options of a client with a certificate as the leaf says, signed by the given authority.
func (n network) client(by *certstest.Authority, l certstest.Leaf) *hbase.TLS {
	l.Name = "client"
	o := &hbase.TLS{CA: n.servers.CA}
	o.Cert, o.Key = by.Issue(n.t, l)
	return o
}

func (n network) trusting(a *certstest.Authority) *hbase.TLS { return &hbase.TLS{CA: a.CA} }

func with[T any](o *T, change func(*T)) *T { change(o); return o }

// tlsCases are what servers and clients may bring together. Empty says: they work; else the error of Open has each of its texts.
var tlsCases = []struct {
	name   string
	server func(network) *embedded.TLS // nil result: plain text
	client func(network) *hbase.TLS
	says   []string
}{
	{"good", func(n network) *embedded.TLS { return n.server(certstest.Leaf{}) }, func(n network) *hbase.TLS { return n.trusting(n.servers) }, nil},
	{"TLS 1.3 alone", func(n network) *embedded.TLS { return n.server(certstest.Leaf{}) },
		func(n network) *hbase.TLS {
			return with(n.trusting(n.servers), func(o *hbase.TLS) { o.MinVersion = tls.VersionTLS13 })
		}, nil},
	{"a server name of its own", func(n network) *embedded.TLS { return n.server(certstest.Leaf{Hosts: []string{"hbase.internal"}}) },
		func(n network) *hbase.TLS {
			return with(n.trusting(n.servers), func(o *hbase.TLS) { o.ServerName = "hbase.internal" })
		}, nil},
	{"mutual", needing, func(n network) *hbase.TLS { return n.client(n.clients, certstest.Leaf{}) }, nil},
	{"wanted and shown", wanting, func(n network) *hbase.TLS { return n.client(n.clients, certstest.Leaf{}) }, nil},
	{"wanted and not shown", wanting, func(n network) *hbase.TLS { return n.trusting(n.servers) }, nil},
	{"a port of both, with TLS", both, func(n network) *hbase.TLS { return n.trusting(n.servers) }, nil},
	{"a port of both, in plain text", both, func(network) *hbase.TLS { return nil }, nil},
	{"expired", func(n network) *embedded.TLS { return n.server(certstest.Leaf{From: -2 * time.Hour, Till: -time.Hour}) },
		func(n network) *hbase.TLS { return n.trusting(n.servers) },
		[]string{`the server's certificate "CN=leaf" expired at 20`, "have it renewed, or set the clock of this machine"}},
	{"not yet valid", func(n network) *embedded.TLS { return n.server(certstest.Leaf{From: time.Hour, Till: 2 * time.Hour}) },
		func(n network) *hbase.TLS { return n.trusting(n.servers) },
		[]string{`the server's certificate "CN=leaf" is not valid before 20`, "have it renewed, or set the clock of this machine"}},
	{"wrong name", func(n network) *embedded.TLS {
		return n.server(certstest.Leaf{Hosts: []string{"hbase.example", "10.1.2.3"}})
	},
		func(n network) *hbase.TLS { return n.trusting(n.servers) },
		[]string{`"CN=leaf" is for hbase.example, 10.1.2.3, not for 127.0.0.1`, "have one made for that name, or set hbase.tls.server_name"}},
	{"self-signed", func(n network) *embedded.TLS { return n.server(certstest.Leaf{Self: true}) },
		func(n network) *hbase.TLS { return n.trusting(n.servers) },
		[]string{`"CN=leaf" is signed by itself, and not known here`, "name a file that holds it in hbase.tls.ca"}},
	{"unknown authority", func(n network) *embedded.TLS { return n.server(certstest.Leaf{}) }, func(n network) *hbase.TLS { return n.trusting(n.unknown) },
		[]string{`"CN=leaf" is signed by an authority that is not known here, "CN=servers"`, "name the file of that authority's certificate in hbase.tls.ca"}},
	{"no client certificate", needing, func(n network) *hbase.TLS { return n.trusting(n.servers) },
		[]string{"the server wants a certificate of ours: certificate required", "set hbase.tls.cert and hbase.tls.key"}},
	{"client certificate expired", needing, func(n network) *hbase.TLS {
		return n.client(n.clients, certstest.Leaf{From: -2 * time.Hour, Till: -time.Hour})
	}, []string{"the server refuses our certificate: expired certificate", "name in hbase.tls.cert one that is valid now"}},
	{"client certificate not yet valid", needing, func(n network) *hbase.TLS {
		return n.client(n.clients, certstest.Leaf{From: time.Hour, Till: 2 * time.Hour})
	}, []string{"the server refuses our certificate: expired certificate", "name in hbase.tls.cert one that is valid now"}},
	{"client certificate of an unknown authority", needing, func(n network) *hbase.TLS { return n.client(n.unknown, certstest.Leaf{}) },
		[]string{"the server refuses our certificate: unknown certificate authority", "signed by an authority that the servers know"}},
	{"TLS to a plain port", func(network) *embedded.TLS { return nil }, func(n network) *hbase.TLS { return n.trusting(n.servers) },
		[]string{"the port does not speak TLS", "enable TLS on the servers, correct hbase.connect, or remove hbase.tls"}},
	{"plain text to a TLS port", func(n network) *embedded.TLS { return n.server(certstest.Leaf{}) }, func(network) *hbase.TLS { return nil },
		[]string{"the server ended the connection before it answered anything, as one does that wants TLS (hbase.tls)"}},
}

func needing(n network) *embedded.TLS {
	return with(n.server(certstest.Leaf{}), func(o *embedded.TLS) { o.ClientAuth = embedded.Need })
}

func wanting(n network) *embedded.TLS {
	return with(n.server(certstest.Leaf{}), func(o *embedded.TLS) { o.ClientAuth = embedded.Want })
}

func both(n network) *embedded.TLS {
	return with(n.server(certstest.Leaf{}), func(o *embedded.TLS) { o.PlainText = true })
}

// options are those of a client that has little patience.
func options(addr string, o *hbase.TLS) hbase.Options {
	return hbase.Options{Connect: "rpc://" + addr, TLS: o, Pause: 2 * time.Millisecond, PauseServerOverloaded: 2 * time.Millisecond}
}

func TestTLS(t *testing.T) {
	for _, c := range tlsCases {
		t.Run(c.name, func(t *testing.T) {
			n := newNetwork(t)
			s, err := embedded.Start(embedded.Options{TLS: c.server(n), Servers: 2}) // the master's port and those of region servers
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			client, err := hbase.Open(t.Context(), options(s.Addr(), c.client(n)))
			if len(c.says) > 0 {
				wantText(t, err, append(c.says, s.Addr())...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			table(t, client, "t")
			if got, err := client.Get(t.Context(), "t", hbase.Get{Row: []byte("r42")}); err != nil || len(got.Cells) == 0 {
				t.Errorf("%v %v", got, err)
			}
		})
	}
}

func wantText(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v\nlacks %q", err, text)
		}
	}
}

// A server that accepts, and then answers nothing, closes, or sends what nobody can read, is given up within the time of a connection.
func TestTLSHandshakeThatComesToNothing(t *testing.T) {
	n := newNetwork(t)
	for _, c := range []struct {
		name   string
		answer func(net.Conn)
		says   string
	}{
		{"nothing", func(c net.Conn) { io.Copy(io.Discard, c) }, "the TLS handshake was not answered within"},
		{"half a record", func(c net.Conn) { c.Write([]byte{22, 3, 3, 0, 100, 2}); io.Copy(io.Discard, c) }, "the TLS handshake was not answered within"},
		{"the end", func(c net.Conn) { c.Read(make([]byte, 4096)) }, "the connection was closed during the TLS handshake"},
		{"an old version", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Write([]byte{21, 3, 1, 0, 2, 2, 70}) }, "the server takes none of our versions of TLS"},
		{"another alert", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Write([]byte{21, 3, 3, 0, 2, 2, 80}) }, "the server ended the TLS connection: internal error"},
		{"HTTP", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, "the port does not speak TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := answering(t, c.answer)
			o := options(addr, n.trusting(n.servers))
			if strings.Contains(c.says, "not answered") {
				o.DialTimeout = 100 * time.Millisecond
			}
			_, err := hbase.Open(t.Context(), o)
			wantText(t, err, addr, c.says)
		})
	}
}

// answering listens until the test ends, and gives each connection to answer, then closes it.
func answering(t *testing.T, answer func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer c.Close(); answer(c) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

// copied puts what one file holds into another.
func copied(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What the files hold when a connection is made counts, on both sides: who is trusted no longer is refused from the next connection on, who
// is renewed is let in, and files that are not whole leave things as they were.
func TestTLSFilesAreReadAgain(t *testing.T) {
	n := newNetwork(t)
	server, opts := needing(n), n.client(n.clients, certstest.Leaf{})
	was := map[string][]byte{}
	for _, file := range []string{server.CA, opts.CA, opts.Cert, opts.Key} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		was[file] = b
	}
	s, err := embedded.Start(embedded.Options{TLS: server, Servers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o := options(s.Addr(), opts)
	o.Patience = 500 * time.Millisecond
	var news newsOf
	o.Hooks.Certificates = news.add
	c, err := hbase.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	table(t, c, "t")
	// reconnected gets a row over new connections, at addresses that have not refused one a moment ago.
	reconnected := func() error {
		for _, node := range s.Nodes() {
			node.Kill()
			if err := node.Restart("127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.Get(t.Context(), "t", hbase.Get{Row: []byte("r42")})
		return err
	}
	restore := func() {
		for file, b := range was {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := reconnected(); err != nil {
		t.Fatal("with the same files:", err)
	}
	for _, step := range []struct {
		name   string
		change func()
		says   string
		news   []string
	}{
		{"the servers' authority is revoked", func() { copied(t, n.unknown.CA, opts.CA) }, "is signed by an authority that is not known here", []string{"", ""}},
		{"the clients' authority is revoked", func() { copied(t, n.unknown.CA, server.CA) }, "the server refuses our certificate: unknown certificate authority", nil},
		{"the client's certificate is replaced by a stranger's", func() {
			cert, key := n.unknown.Issue(t, certstest.Leaf{Name: "stranger"})
			copied(t, cert, opts.Cert)
			copied(t, key, opts.Key)
		}, "the server refuses our certificate: unknown certificate authority", []string{"", ""}},
		{"the client's is renewed, and the server's", func() { n.client(n.clients, certstest.Leaf{}); n.server(certstest.Leaf{}) }, "", []string{"", ""}},
		{"a certificate without its key", func() {
			cert, _ := n.clients.Issue(t, certstest.Leaf{Name: "half"})
			copied(t, cert, opts.Cert)
		}, "", []string{"is not a valid pair with key: private key does not match public key; the certificates that were read before are still used"}},
		{"no file", func() { os.Remove(opts.CA) }, "", []string{"cannot be read: no such file or directory; the certificates that were read before are still used"}},
		{"no certificate", func() { os.WriteFile(opts.CA, []byte("-----BEGIN"), 0o600) }, "", []string{"holds no certificate"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			defer restore()
			news.take()
			step.change()
			if err := reconnected(); step.says == "" && err != nil || step.says != "" && (err == nil || !strings.Contains(err.Error(), step.says)) {
				t.Errorf("got %v, want %q", err, step.says)
			}
			restore()
			if err := reconnected(); err != nil {
				t.Errorf("restored: %v", err)
			}
			got := news.take()
			if len(got) != len(step.news) || slices.ContainsFunc(step.news, func(want string) bool {
				return !slices.ContainsFunc(got, func(g string) bool { return g == want || want != "" && strings.Contains(g, want) })
			}) {
				t.Errorf("news %q, want %q", got, step.news)
			}
		})
	}
}

// newsOf collects what a hook is called with.
type newsOf struct {
	mu  sync.Mutex
	all []string
}

func (n *newsOf) add(i hbase.CertificatesInfo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := ""
	if i.Err != nil {
		text = i.Err.Error()
	}
	n.all = append(n.all, text)
}

func (n *newsOf) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.all
	n.all = nil
	return all
}

// What cannot be opened is refused at once, with the option that is wrong.
func TestTLSOptionsAreChecked(t *testing.T) {
	n := newNetwork(t)
	cert, key := n.clients.Issue(t, certstest.Leaf{Name: "client"})
	_, other := n.clients.Issue(t, certstest.Leaf{Name: "other"})
	for _, c := range []struct {
		o    hbase.TLS
		says string
	}{
		{hbase.TLS{Cert: cert}, "Options.TLS has a certificate without its key"},
		{hbase.TLS{MinVersion: tls.VersionTLS10}, "Options.TLS.MinVersion is 0x0301"},
		{hbase.TLS{CA: key}, "Options.TLS: " + key + " holds no certificate"},
		{hbase.TLS{CA: t.TempDir()}, "cannot be read: no regular file"},
		{hbase.TLS{CA: cert + "x"}, "cannot be read: no such file or directory"},
		{hbase.TLS{Cert: cert, Key: other}, "is not a valid pair with key: private key does not match public key"},
	} {
		_, err := hbase.Open(context.Background(), options("127.0.0.1:1", &c.o))
		wantText(t, err, c.says)
	}
	for _, o := range []embedded.TLS{{}, {Cert: cert}, {Cert: cert, Key: other}, {Cert: cert, Key: key, ClientAuth: "maybe"}, {Cert: cert, Key: key, ClientAuth: embedded.Need}} {
		if s, err := embedded.Start(embedded.Options{TLS: &o}); err == nil {
			t.Errorf("%+v starts", o)
			s.Close()
		}
	}
}

// The error of a handshake can be taken apart.
func TestTLSErrorHasItsFix(t *testing.T) {
	n := newNetwork(t)
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = hbase.Open(t.Context(), options(s.Addr(), n.trusting(n.servers)))
	if e, ok := errors.AsType[*certs.Error](err); !ok || e.Msg != "the port does not speak TLS" || e.Advice() == "" {
		t.Errorf("%v", err)
	}
}
