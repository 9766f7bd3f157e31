package hbase_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/hbase/internal/zk/zktest"
	"brine/internal/certs"
	"brine/internal/certs/certstest"
	"brine/internal/testenv"

	"google.golang.org/protobuf/proto"
)

// network is the certificate authorities of a test: the servers', the clients' and one that nobody knows.
type network struct {
	t                         testing.TB
	servers, clients, unknown *certstest.Authority
}

func newNetwork(t testing.TB) network {
	return network{t, certstest.New(t, "servers"), certstest.New(t, "clients"), certstest.New(t, "unknown")}
}

// server returns the options of a server with a certificate for the leaf, signed by the servers' authority.
func (n network) server(l certstest.Leaf) *embedded.TLS {
	o := &embedded.TLS{CA: n.clients.CA}
	o.Cert, o.Key = n.servers.Issue(n.t, l)
	return o
}

// client returns the options of a client with a certificate for the leaf, signed by the given authority.
func (n network) client(by *certstest.Authority, l certstest.Leaf) *hbase.TLS {
	l.Name = "client"
	o := &hbase.TLS{CA: n.servers.CA}
	o.Cert, o.Key = by.Issue(n.t, l)
	return o
}

func with[T any](o *T, change func(*T)) *T { change(o); return o }

// tlsCases are the combinations of servers and clients. If says is empty, they work together; otherwise the error of Open contains each of
// its texts. They are the rows of the matrix in docs/security.md.
var tlsCases = []struct {
	name     string
	server   func(network) *embedded.TLS // nil: plain text
	client   func(network) *hbase.TLS    // nil: plain text
	says     []string
	real     realHBase // real server on which it runs too
	realSays []string  // where that server's texts differ
}{
	{name: "a certificate of the authority in `ca`", server: serving(certstest.Leaf{}), client: trusting, real: realUnasking},
	{name: "the same, `min_version: TLSv1.3`", server: serving(certstest.Leaf{}), client: newest, real: realTLS,
		realSays: []string{"the server supports none of the client's TLS versions, which are 1.3 or newer", "lower hbase.tls.min_version"}},
	{name: "one for `server_name`", server: serving(certstest.Leaf{Hosts: []string{"hbase.internal", "localhost"}}), client: named("hbase.internal"),
		real: realPresenting}, // localhost for the servers among themselves
	{name: "mutual: certificates of both sides", server: needing, client: showing(certstest.Leaf{}), real: realTLS},
	{name: "one of the client is wanted, and shown", server: wanting, client: showing(certstest.Leaf{}), real: realWanting},
	{name: "one of the client is wanted, and not shown", server: wanting, client: trusting, real: realWanting},
	{name: "TLS to a port of both", server: both, client: trusting, real: realWanting},
	{name: "plain text to a port of both", server: both, real: realWanting},
	{name: "the server's has expired", server: serving(certstest.Leaf{From: -2 * time.Hour, Till: -time.Hour}), client: trusting, real: realPresenting,
		says: []string{"the server's certificate \"CN=leaf\" expired at 20", "renew it, or correct this machine's clock"}},
	{name: "the server's is not yet valid", server: serving(certstest.Leaf{From: time.Hour, Till: 2 * time.Hour}), client: trusting, real: realPresenting,
		says: []string{"the server's certificate \"CN=leaf\" is not valid before 20", "renew it, or correct this machine's clock"}},
	{name: "the server's is for another name", server: serving(certstest.Leaf{Hosts: []string{"hbase.example", "10.1.2.3"}}), client: trusting, real: realPresenting,
		says: []string{"\"CN=leaf\" is for hbase.example, 10.1.2.3, not for 127.0.0.1", "issue one for that name, or set hbase.tls.server_name"}},
	{name: "the server's is not for `server_name`", server: serving(certstest.Leaf{}), client: named("hbase.internal"), real: realTLS,
		says: []string{" is for localhost, 127.0.0.1, not for hbase.internal", "or set hbase.tls.server_name to a name in it"}},
	{name: "the server's is signed by itself", server: serving(certstest.Leaf{Self: true}), client: trusting, real: realPresenting,
		says: []string{"\"CN=leaf\" is self-signed, and unknown here", "name a file that holds it in hbase.tls.ca"}},
	{name: "the server's is of an unknown authority", server: serving(certstest.Leaf{}), client: strange, real: realTLS,
		says: []string{" is signed by an unknown authority, ", "name the file of that authority's certificate in hbase.tls.ca"}},
	{name: "none of the client", server: needing, client: trusting, real: realTLS,
		says:     []string{"the server requires a client certificate: certificate required", "set hbase.tls.cert and hbase.tls.key"},
		realSays: []string{"the server requires a client certificate: bad certificate", "set hbase.tls.cert and hbase.tls.key"}},
	{name: "the client's has expired", server: needing, client: showing(certstest.Leaf{From: -2 * time.Hour, Till: -time.Hour}), real: realTLS,
		says:     []string{"the server refuses the client's certificate: expired certificate", "name in hbase.tls.cert one that is valid now"},
		realSays: []string{"the server refuses the client's certificate: unknown certificate", "name in hbase.tls.cert one that is valid now"}},
	{name: "the client's is not yet valid", server: needing, client: showing(certstest.Leaf{From: time.Hour, Till: 2 * time.Hour}), real: realTLS,
		says:     []string{"the server refuses the client's certificate: expired certificate", "name in hbase.tls.cert one that is valid now"},
		realSays: []string{"the server refuses the client's certificate: unknown certificate", "name in hbase.tls.cert one that is valid now"}},
	{name: "the client's is of an unknown authority", server: needing, client: stranger, real: realTLS,
		says:     []string{"the server refuses the client's certificate: unknown certificate authority", "signed by an authority that the servers trust"},
		realSays: []string{"the server refuses the client's certificate: unknown certificate", "signed by an authority that the servers trust"}},
	{name: "the client's is for another address", server: needing, client: showing(certstest.Leaf{Hosts: []string{"brine.example"}}), real: realTLS,
		realSays: []string{"the server refuses the client's certificate: unknown certificate", "issued for this machine's address"}},
	{name: "TLS to a port of plain text", client: trusting, real: realPlain,
		says: []string{"the port does not speak TLS", "enable TLS on the servers, correct hbase.connect, or remove hbase.tls"}},
	{name: "plain text to a port of TLS", server: serving(certstest.Leaf{}), real: realTLS,
		says: []string{"the server closed the connection before answering, as it does if it requires TLS (hbase.tls)"}},
}

// realHBase is one of the real servers.
type realHBase int

const (
	realNone       realHBase = iota
	realTLS                  // requires certificates of clients, for their addresses
	realPresenting           // the same, presenting the certificate of the case
	realUnasking             // does not ask for certificates of clients
	realWanting              // asks for them, does without, and takes plain text too
	realPlain                // has no TLS
	realKerberized           // offers all qualities of protection
	realRekeyed              // the same, with a keytab of other keys than the KDC's
	realIntegrity            // offers auth-int alone
)

// runs reports whether the real servers are set up so. They are in other ways than usual by `make test-security` alone.
func (r realHBase) runs() bool {
	clientAuth, protection := testenv.HBaseSetUp()
	switch r {
	case realNone:
		return false
	case realUnasking:
		return clientAuth == "none"
	case realWanting:
		return clientAuth == "want"
	case realIntegrity:
		return protection == "integrity"
	default:
		return true
	}
}

func serving(l certstest.Leaf) func(network) *embedded.TLS {
	return func(n network) *embedded.TLS { return n.server(l) }
}

func trusting(n network) *hbase.TLS { return &hbase.TLS{CA: n.servers.CA} }
func strange(n network) *hbase.TLS  { return &hbase.TLS{CA: n.unknown.CA} }
func stranger(n network) *hbase.TLS { return n.client(n.unknown, certstest.Leaf{}) }

func showing(l certstest.Leaf) func(network) *hbase.TLS {
	return func(n network) *hbase.TLS { return n.client(n.clients, l) }
}

func named(server string) func(network) *hbase.TLS {
	return func(n network) *hbase.TLS {
		return with(showing(certstest.Leaf{})(n), func(o *hbase.TLS) { o.ServerName = server })
	}
}

func newest(n network) *hbase.TLS {
	return with(showing(certstest.Leaf{})(n), func(o *hbase.TLS) { o.MinVersion = tls.VersionTLS13 })
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

// options returns the options of a client with little patience.
func options(addr string, o *hbase.TLS) hbase.Options {
	return hbase.Options{Connect: "rpc://" + addr, TLS: o, Pause: 2 * time.Millisecond, PauseServerOverloaded: 2 * time.Millisecond}
}

func TestTLS(t *testing.T) {
	for _, c := range tlsCases {
		t.Run(c.name, func(t *testing.T) {
			n := newNetwork(t)
			o := embedded.Options{Servers: 2} // the ports of the master and of region servers
			if c.server != nil {
				o.TLS = c.server(n)
			}
			s, err := embedded.Start(o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			tryTLS(t, "rpc://"+s.Addr(), c.client, n, c.says)
		})
	}
}

// The same with real servers, whose behaviour is not ours.
func TestTLSReal(t *testing.T) {
	for _, c := range tlsCases {
		if !c.real.runs() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			n, connect := newNetwork(t), ""
			of := func(r testenv.SecuredHBase) {
				n.servers = certstest.Load(t, r.CA, r.CAKey)
				n.clients, connect = n.servers, r.Connect
			}
			switch c.real {
			case realPlain:
				connect = testenv.HBase(t)
			case realTLS, realUnasking, realWanting:
				of(testenv.HBaseTLS(t))
			case realPresenting:
				r := testenv.HBaseTLSAlone(t)
				of(r)
				o := c.server(n)
				r.Present(t, o.Cert, o.Key)
			}
			says := c.says
			if c.realSays != nil {
				says = c.realSays
			}
			tryTLS(t, connect, c.client, n, says)
		})
	}
	if realWanting.runs() {
		t.Run("the clients' authority is revoked", revokedReal)
	}
}

// revokedReal has the servers trust another authority while they run: clients of the earlier one are refused from then on.
func revokedReal(t *testing.T) {
	r, n := testenv.HBaseTLSAlone(t), newNetwork(t)
	n.servers = certstest.Load(t, r.CA, r.CAKey)
	n.clients = n.servers
	o := options(strings.TrimPrefix(r.Connect, "rpc://"), showing(certstest.Leaf{})(n))
	o.TLS.CA = filepath.Join(t.TempDir(), "ca.pem")
	certstest.Copy(t, r.CA, o.TLS.CA) // the servers read theirs from r.CA too
	open(t, o)
	r.Trust(t, n.unknown.CA)
	for {
		c, err := hbase.Open(t.Context(), o)
		if err != nil {
			wantText(t, err, "the server refuses the client's certificate: unknown certificate")
			return
		}
		c.Close() // they have not read it yet
	}
}

// tryTLS opens a client, which works if says is empty, or is refused with all of its texts.
func tryTLS(t *testing.T, connect string, client func(network) *hbase.TLS, n network, says []string) {
	t.Helper()
	o := options(strings.TrimPrefix(connect, "rpc://"), nil)
	if client != nil {
		o.TLS = client(n)
	}
	c, err := hbase.Open(t.Context(), o)
	if len(says) > 0 {
		wantText(t, err, append(says, strings.TrimPrefix(connect, "rpc://"))...)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	name := testenv.Name(t)
	table(t, c, name)
	if got, err := c.Get(t.Context(), name, hbase.Get{Row: []byte("r42")}); err != nil || len(got.Cells) == 0 {
		t.Errorf("%v %v", got, err)
	}
	if err := errors.Join(c.DisableTable(t.Context(), name), c.DeleteTable(t.Context(), name)); err != nil {
		t.Error(err)
	}
}

// Encrypted sessions with ZooKeeper, and no others, find the cluster.
func TestTLSToZooKeeper(t *testing.T) {
	n := newNetwork(t)
	s, err := embedded.Start(embedded.Options{TLS: needing(n)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	host, port, _ := net.SplitHostPort(s.Addr())
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	z := zktest.New(t, "/hbase")
	at := &hbasepb.ServerName{HostName: &host, Port: proto.Uint32(uint32(number)), StartCode: proto.Uint64(1)}
	z.Set("/hbase/master", &hbasepb.Master{Master: at})
	z.Set("/hbase/meta-region-server", &hbasepb.MetaRegionServer{Server: at, State: hbasepb.RegionState_OPEN.Enum()})
	z.Do(func() { z.Auth = "brine:secret" })
	serves := needing(n)
	pair, err := tls.LoadX509KeyPair(serves.Cert, serves.Key)
	if err != nil {
		t.Fatal(err)
	}
	plain := answering(t, z.Serve)
	secure := answering(t, func(c net.Conn) { z.Serve(tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}})) })
	for _, c := range []struct {
		name, addr string
		encrypted  bool
		says       string
	}{
		{"both by TLS", secure, true, ""},
		{"ZooKeeper in plain text", plain, false, ""},
		{"TLS to a plain port of ZooKeeper", plain, true, "the TLS handshake"},
		{"plain text to its secure port", secure, false, "as happens if the port requires TLS (hbase.tls.zookeeper)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options("", n.client(n.clients, certstest.Leaf{}))
			o.Connect, o.ZooKeeperAuth, o.TLS.ZooKeeper = "zk://"+c.addr+"/hbase", "brine:secret", c.encrypted
			client, err := hbase.Open(t.Context(), o)
			if c.says != "" {
				wantText(t, err, c.says)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the matrix of docs/security.md again")

// TestSecurityMatrix compares the page with the tables of the tests.
func TestSecurityMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("| who shows what | embedded | HBase 2.6.4 | brine says |\n|---|---|---|---|\n")
	for _, c := range tlsCases {
		outcome := func(says []string) string {
			if len(says) > 0 {
				return "refused"
			}
			return "works"
		}
		real, says := "", c.says
		if c.real != realNone {
			if c.realSays != nil {
				says = c.realSays
			}
			real = outcome(says)
		}
		said := ""
		if len(says) > 0 {
			said = strings.Trim(strings.TrimSuffix(strings.ReplaceAll(says[0], `"CN=leaf"`, "…"), " 20"), " ,")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.name, outcome(c.says), real, said)
	}
	testenv.Section(t, "docs/security.md", "tls", b.String(), *update)

	b.Reset()
	b.WriteString("| who comes with what, or to what | embedded | HBase 2.6.4 | brine says |\n|---|---|---|---|\n")
	for _, c := range kerberosCases {
		outcome, real := "works", ""
		if c.says != "" {
			outcome = "refused"
		}
		if c.real != realNone {
			real = outcome
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.name, outcome, real, cmp.Or(c.realSays, c.says))
	}
	testenv.Section(t, "docs/security.md", "kerberos", b.String(), *update)
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

// A server that accepts a connection and then answers nothing, closes it, or sends garbage is given up within the connect time-out.
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
		{"an old version", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Write([]byte{21, 3, 1, 0, 2, 2, 70}) }, "the server supports none of the client's TLS versions"},
		{"another alert", func(c net.Conn) { c.Read(make([]byte, 4096)); c.Write([]byte{21, 3, 3, 0, 2, 2, 80}) }, "the server closed the TLS connection: internal error"},
		{"HTTP", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, "the port does not speak TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := answering(t, c.answer)
			o := options(addr, trusting(n))
			unanswered := strings.Contains(c.says, "not answered")
			if unanswered {
				o.DialTimeout = 100 * time.Millisecond
			}
			_, err := hbase.Open(t.Context(), o)
			for unanswered && err != nil && !strings.Contains(err.Error(), c.says) {
				o.DialTimeout *= 2 // on a busy machine, the time may be over before the handshake begins
				_, err = hbase.Open(t.Context(), o)
			}
			wantText(t, err, addr, c.says)
		})
	}
}

// answering listens until the test ends, passes each connection to answer, and then closes it.
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

// replaced replaces the content of a file atomically, as certificate renewal does: a connection made meanwhile reads a whole file.
func replaced(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := errors.Join(os.WriteFile(file+".new", b, 0o600), os.Rename(file+".new", file)); err != nil {
		t.Fatal(err)
	}
}

// The files' content at the time of connecting counts, on both sides: a peer that is no longer trusted is refused from the next connection
// on, one with a renewed certificate is accepted, and incomplete files change nothing.
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
	// reconnected gets a row over new connections, at addresses that have not just refused one, and checks that it succeeds, or fails as says
	// says. It tries again for as long as it takes, because a busy machine may run out of patience first.
	reconnected := func(t *testing.T, says string) {
		t.Helper()
		for _, node := range s.Nodes() {
			node.Kill()
			if err := node.Restart("127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		for wrong := 0; wrong < 40; {
			_, err = c.Get(t.Context(), "t", hbase.Get{Row: []byte("r42")})
			if err == nil {
				break
			}
			if says != "" && strings.Contains(err.Error(), says) {
				return
			}
			if t.Log(err); !errors.Is(err, context.DeadlineExceeded) {
				wrong++
			}
		}
		if says != "" || err != nil {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	restore := func() {
		for file, b := range was {
			replaced(t, file, b)
		}
	}
	reconnected(t, "") // with the same files
	for _, step := range []struct {
		name   string
		change func()
		says   string
		news   []string
	}{
		{"the servers' authority is revoked", func() { certstest.Copy(t, n.unknown.CA, opts.CA) }, "is signed by an unknown authority", []string{"", ""}},
		{"the clients' authority is revoked", func() { certstest.Copy(t, n.unknown.CA, server.CA) }, "the server refuses the client's certificate: unknown certificate authority", nil},
		{"the client's certificate is replaced by a stranger's", func() {
			cert, key := n.unknown.Issue(t, certstest.Leaf{Name: "stranger"})
			certstest.Copy(t, cert, opts.Cert)
			certstest.Copy(t, key, opts.Key)
		}, "the server refuses the client's certificate: unknown certificate authority", []string{"", ""}},
		{"the client's is renewed, and the server's", func() { n.client(n.clients, certstest.Leaf{}); n.server(certstest.Leaf{}) }, "", []string{"", ""}},
		{"only one of Cert and Key", func() {
			cert, _ := n.clients.Issue(t, certstest.Leaf{Name: "half"})
			certstest.Copy(t, cert, opts.Cert)
		}, "", []string{"is not a valid pair with key: private key does not match public key; the previous certificates stay in use"}},
		{"no file", func() { os.Remove(opts.CA) }, "", []string{"cannot be read: no such file or directory; the previous certificates stay in use"}},
		{"no certificate", func() { replaced(t, opts.CA, []byte("-----BEGIN")) }, "", []string{"holds no certificate"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			defer restore()
			news.take()
			step.change()
			reconnected(t, step.says)
			restore()
			reconnected(t, "")
			got := news.take()
			if len(got) != len(step.news) || slices.ContainsFunc(step.news, func(want string) bool {
				return !slices.ContainsFunc(got, func(g string) bool { return g == want || want != "" && strings.Contains(g, want) })
			}) {
				t.Errorf("news %q, want %q", got, step.news)
			}
		})
	}
}

// newsOf collects the arguments of a hook's calls.
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

// What cannot be opened is refused at once, and the error names the wrong option.
func TestTLSOptionsAreChecked(t *testing.T) {
	n := newNetwork(t)
	cert, key := n.clients.Issue(t, certstest.Leaf{Name: "client"})
	_, other := n.clients.Issue(t, certstest.Leaf{Name: "other"})
	for _, c := range []struct {
		o    hbase.TLS
		says string
	}{
		{hbase.TLS{Cert: cert}, "Options.TLS has only one of Cert and Key"},
		{hbase.TLS{MinVersion: tls.VersionTLS10}, "Options.TLS.MinVersion is 0x0301"},
		{hbase.TLS{CA: key}, "Options.TLS: " + key + " holds no certificate"},
		{hbase.TLS{CA: t.TempDir()}, "cannot be read: not a regular file"},
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

// The error of a handshake wraps a *certs.Error with its fix.
func TestTLSErrorHasItsFix(t *testing.T) {
	n := newNetwork(t)
	s, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = hbase.Open(t.Context(), options(s.Addr(), trusting(n)))
	if e, ok := errors.AsType[*certs.Error](err); !ok || e.Msg != "the port does not speak TLS" || e.Advice() == "" {
		t.Errorf("%v", err)
	}
}
