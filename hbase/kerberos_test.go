package hbase_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/gssapi/gssapitest"
	"brine/internal/testenv"
)

const (
	krbRealm  = "TEST.EXAMPLE"
	krbServer = "hbase/localhost"
)

// secured is a KDC and what a server and a client need from it.
type secured struct {
	*gssapitest.KDC
	server embedded.Kerberos
	client hbase.Kerberos
}

func secure(t testing.TB) *secured {
	t.Helper()
	kdc := gssapitest.NewKDC(krbRealm)
	return &secured{kdc, embedded.Kerberos{Keytab: kdc.Keytab(t, krbServer)},
		hbase.Kerberos{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, kdc.Listen(t))}}
}

// options returns client options with enough patience for a busy machine.
func (s *secured) options(connect string) hbase.Options {
	k := s.client
	return hbase.Options{Connect: connect, Kerberos: &k, Pause: 2 * time.Millisecond, PauseServerOverloaded: 2 * time.Millisecond}
}

func open(t testing.TB, o hbase.Options) *hbase.Client {
	t.Helper()
	c, err := hbase.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Every quality of protection carries every kind of call, including cells in several wrapped messages.
func TestKerberos(t *testing.T) {
	for _, qop := range []string{"", "auth", "auth-int", "auth-conf"} {
		t.Run("qop "+qop, func(t *testing.T) {
			s := secure(t)
			server, err := embedded.Start(embedded.Options{Kerberos: &s.server})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { server.Close() })
			seen := new(tap)
			o := s.options("rpc://" + server.Addr())
			o.Kerberos.QOP, o.Dial, o.User, o.Compression = qop, seen.dial, "somebody else", "gzip"
			c := open(t, o)
			table(t, c, "orders")
			marker := []byte("what nobody but the server reads")
			large := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
			b := hbase.NewBatch("orders")
			b.Mutate(marker)
			b.Put([]byte("e"), []byte("large"), 1, large)
			if failed, err := c.Submit(t.Context(), b).Wait(t.Context()); err != nil || failed != nil {
				t.Fatal(failed, err)
			}
			got, err := c.Get(t.Context(), "orders", hbase.Get{Row: marker})
			if err != nil || len(got.Cells) != 1 || !bytes.Equal(got.Cells[0].Value, large) {
				t.Fatalf("%d cells, %v", len(got.Cells), err)
			}
			if sealed := !bytes.Contains(seen.bytes(), marker); sealed != (qop == "auth-conf") {
				t.Errorf("what is sent is sealed: %v", sealed)
			}
		})
	}
}

// kerberosCases are the combinations of servers and clients. If says is empty, they work together; otherwise the error of Open is is, and
// contains says. They are the rows of the matrix in docs/security.md.
var kerberosCases = []struct {
	name     string
	server   func(s *secured, o *embedded.Options)                                  // changes the embedded server; nil: it is as usual
	client   func(t testing.TB, s *secured, o *hbase.Options, like *gssapitest.KDC) // like is a stranger with the realm of the KDC
	is       error
	says     string
	real     realHBase
	realSays string // where the real server's text, and error, differ
}{
	{name: "a keytab, `qop: auth`", client: qop("auth"), real: realKerberized},
	{name: "a keytab, `qop: auth-int`", client: qop("auth-int"), real: realKerberized},
	{name: "a keytab, `qop: auth-conf`", client: qop("auth-conf"), real: realKerberized},
	{name: "a ticket cache", real: realKerberized, client: func(t testing.TB, s *secured, o *hbase.Options, _ *gssapitest.KDC) {
		if o.Kerberos.Keytab = ""; s != nil {
			o.Kerberos.TicketCache = s.Cache(t, "brine", time.Hour)
		} else {
			o.Kerberos.TicketCache = testenv.HBaseKerberos(t).Cache(t)
		}
	}},
	{name: "a ticket cache whose ticket has expired", is: hbase.ErrTicketExpired, says: "get another one (kinit)", real: realKerberized,
		client: func(t testing.TB, _ *secured, o *hbase.Options, like *gssapitest.KDC) {
			o.Kerberos.Keytab, o.Kerberos.TicketCache = "", like.Cache(t, "brine", -time.Hour)
		}},
	{name: "no ticket", is: hbase.ErrDenied, says: "set hbase.kerberos", real: realKerberized,
		client: func(_ testing.TB, _ *secured, o *hbase.Options, _ *gssapitest.KDC) { o.Kerberos = nil }},
	{name: "a keytab of an earlier key", is: hbase.ErrWrongKey, says: "export the keytab again", real: realKerberized,
		client: func(t testing.TB, _ *secured, o *hbase.Options, like *gssapitest.KDC) {
			o.Kerberos.Keytab = like.Keytab(t, "brine")
		}},
	{name: "a keytab of a principal that the KDC does not know", is: hbase.ErrUnknownPrincipal, says: "is spelled as in the KDC", real: realKerberized,
		client: func(t testing.TB, _ *secured, o *hbase.Options, like *gssapitest.KDC) {
			o.Kerberos.Principal, o.Kerberos.Keytab = "nobody", like.Keytab(t, "nobody")
		}},
	{name: "a keytab of another realm", is: hbase.ErrWrongRealm, says: "names no KDC of OTHER", real: realKerberized,
		client: func(t testing.TB, _ *secured, o *hbase.Options, _ *gssapitest.KDC) {
			o.Kerberos.Principal, o.Kerberos.Keytab = "brine@OTHER", gssapitest.NewKDC("OTHER").Keytab(t, "brine")
		}},
	{name: "a KDC of another realm", is: hbase.ErrWrongRealm, says: "it does not serve the realm of brine@OTHER", real: realKerberized,
		realSays: "is spelled as in the KDC, with its realm",
		client: func(t testing.TB, s *secured, o *hbase.Options, like *gssapitest.KDC) {
			other := gssapitest.NewKDC("OTHER")
			o.Kerberos.Principal, o.Kerberos.Keytab = "brine@OTHER", other.Keytab(t, "brine")
			o.Kerberos.Krb5Conf = changed(t, o.Kerberos.Krb5Conf, like.Realm, "OTHER")
		}},
	{name: "no KDC", is: hbase.ErrNoKDC, says: "no KDC answers for realm", real: realKerberized,
		client: func(t testing.TB, _ *secured, o *hbase.Options, like *gssapitest.KDC) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			o.Kerberos.Krb5Conf = like.Conf(t, l.Addr().String())
			l.Close()
		}},
	{name: "a clock that is 10 minutes off", is: hbase.ErrClockSkew, says: "this machine's is 10m0s behind", real: realKerberized,
		client: func(t testing.TB, s *secured, o *hbase.Options, _ *gssapitest.KDC) {
			if s == nil {
				kdc := testenv.StartKDC(t)
				kdc.Admin("addprinc -randkey brine")
				o.Kerberos.Keytab, o.Kerberos.Krb5Conf = kdc.Keytab("brine"), kdc.Krb5Conf
				kdc.Ahead(10 * time.Minute)
			}
		},
		server: func(s *secured, _ *embedded.Options) {
			s.Set(func(f *gssapitest.Faults) { f.Skew = 10*time.Minute + time.Second })
		}},
	{name: "another `server_principal`, which the KDC does not know", is: hbase.ErrUnknownServer, says: "check that it is the server's principal",
		real: realKerberized, client: func(_ testing.TB, _ *secured, o *hbase.Options, _ *gssapitest.KDC) {
			o.Kerberos.ServerPrincipal = "other/_HOST"
		}},
	{name: "a server whose keytab is of an earlier key", is: hbase.ErrWrongKey, says: "the server's keytab does not match the KDC", real: realRekeyed,
		realSays: "check its keytab, its clock and its hbase.rpc.protection",
		server:   func(s *secured, _ *embedded.Options) { s.Key(krbServer) }},
	{name: "a server that offers less protection than `qop`", is: hbase.ErrDowngrade, says: "the server offers auth, auth-int, but qop is auth-conf",
		real: realIntegrity, realSays: "the server offers auth-int, but qop is auth-conf",
		server: func(_ *secured, o *embedded.Options) { o.Kerberos.QOP = []string{"auth", "auth-int"} }, client: qop("auth-conf")},
	{name: "a server that demands more than `qop`", is: hbase.ErrDowngrade, says: "the server offers auth-conf, but qop is auth",
		real: realIntegrity, realSays: "the server offers auth-int, but qop is auth",
		server: func(_ *secured, o *embedded.Options) { o.Kerberos.QOP = []string{"auth-conf"} }},
	{name: "a server without Kerberos", is: hbase.ErrDenied, says: "BadAuthException", real: realPlain,
		realSays: "it offers to continue without authentication, which brine refuses",
		server:   func(_ *secured, o *embedded.Options) { o.Kerberos = nil }},
}

func qop(of string) func(testing.TB, *secured, *hbase.Options, *gssapitest.KDC) {
	return func(_ testing.TB, _ *secured, o *hbase.Options, _ *gssapitest.KDC) { o.Kerberos.QOP = of }
}

// A client works, or gets the reason why not at once.
func TestKerberosMatrix(t *testing.T) {
	for _, c := range kerberosCases {
		t.Run(c.name, func(t *testing.T) {
			s := secure(t)
			so, co := embedded.Options{Kerberos: &s.server}, s.options("")
			if c.server != nil {
				c.server(s, &so)
			}
			if c.client != nil {
				c.client(t, s, &co, gssapitest.NewKDC(krbRealm))
			}
			server, err := embedded.Start(so)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			co.Connect = "rpc://" + server.Addr()
			tryKerberos(t, co, c.is, c.says)
		})
	}
}

// tryKerberos opens a client, which works if says is empty, or is refused by the error is, if that is not nil, with the text says.
func tryKerberos(t *testing.T, o hbase.Options, is error, says string) {
	t.Helper()
	c, err := hbase.Open(t.Context(), o)
	if says != "" {
		if err == nil {
			c.Close()
			t.Fatal("it is let in")
		}
		if is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v\nwant %q", err, says)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	name := testenv.Name(t)
	table(t, c, name)
	defer dropTable(t, c, name)
	if got, err := c.Get(t.Context(), name, hbase.Get{Row: []byte("r42")}); err != nil || len(got.Cells) == 0 {
		t.Errorf("%v %v", got, err)
	}
}

// Servers that violate the exchange: the error says what they did, and arrives before the time to connect is over, or when it is.
func TestKerberosHostileServers(t *testing.T) {
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	success := []byte{0, 0, 0, 0}
	for _, c := range []struct {
		name   string
		answer []byte // answer to the first token; nil: none, and the connection stays open
		want   string
	}{
		{"no authentication", append(success, 0xff, 0xff, 0xff, 0xa8), "without authentication, which brine refuses"},
		{"refusal", append(append([]byte{0, 0, 0, 1}, frame([]byte("org.x.SomeException"))...), frame([]byte("no \x1b[31mentry"))...),
			"it refuses the ticket for hbase/localhost"},
		{"huge token", append(success, 0x7f, 0xff, 0xff, 0xff), "limit 1048576"},
		{"a token that is none", append(success, frame([]byte("hello"))...), "malformed Kerberos token"},
		{"an empty token", append(success, 0, 0, 0, 0), "malformed Kerberos token"},
		{"HTTP", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "malformed bytes on the wire"},
		{"nothing", nil, "Kerberos with hbase/localhost: read tcp"},
		{"the end", []byte{}, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := secure(t)
			s.Key(krbServer)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go answerOnce(l, c.answer)
			o := s.options("rpc://" + l.Addr().String())
			if c.answer == nil {
				o.DialTimeout = 500 * time.Millisecond
			}
			for ; ; o.DialTimeout *= 2 { // on a busy machine, the time may be over before the exchange begins
				client, err := hbase.Open(t.Context(), o)
				if err == nil {
					client.Close()
					t.Fatal("it is let in")
				}
				if strings.Contains(err.Error(), c.want) {
					return
				}
				if c.answer != nil || o.DialTimeout > 20*time.Second {
					t.Fatalf("got %v\nwant %q", err, c.want)
				}
			}
		})
	}
}

// answerOnce reads the preamble and the first token of each connection, and answers them. Without an answer, it holds the connection until
// the client gives it up.
func answerOnce(l net.Listener, answer []byte) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			var head [10]byte
			if _, err := io.ReadFull(c, head[:]); err != nil {
				return
			}
			_, _ = io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(head[6:]))) // whatever it is
			if answer != nil {
				_, _ = c.Write(answer) // the client notices what is missing
				return
			}
			_, _ = io.Copy(io.Discard, c) // until the connection ends
		}()
	}
}

// Tickets live for two seconds, and connections are cut all the time: everything acknowledged is there, and the KDC was called again and
// again.
func TestKerberosRenewalUnderLoad(t *testing.T) {
	s := secure(t)
	s.Set(func(f *gssapitest.Faults) { f.Life = 2 * time.Second })
	server, err := embedded.Start(embedded.Options{Kerberos: &s.server})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	o := s.options("rpc://" + server.Addr())
	o.Kerberos.QOP = "auth-conf"
	cut := new(tap)
	o.Dial = cut.dial
	c := open(t, o)
	if err := c.CreateTable(t.Context(), hbase.Table{Name: "t", Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		t.Fatal(err)
	}
	written := 0
	for logins := 0; logins < 3; logins, _, _ = s.Counts() {
		b := hbase.NewBatch("t")
		for range 100 {
			b.Mutate(fmt.Appendf(nil, "%08d", written))
			b.Put([]byte("e"), []byte("q"), 1, []byte("v"))
			written++
		}
		flight := c.Submit(t.Context(), b)
		if written%5000 == 0 {
			cut.all()
		}
		if failed, err := flight.Wait(t.Context()); err != nil || failed != nil {
			t.Fatal(failed, err)
		}
	}
	found := 0
	for _, err := range c.Scan(t.Context(), "t", hbase.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		found++
	}
	if found != written {
		t.Errorf("%d of %d rows are there", found, written)
	}
}

func TestKerberosOptions(t *testing.T) {
	for want, k := range map[string]hbase.Kerberos{
		"needs either a Keytab or a TicketCache": {Principal: "brine"},
		"Principal is empty":                     {Keytab: "k"},
		`unknown quality of protection "best"`:   {Principal: "brine", Keytab: "k", QOP: "best"},
		"no such file":                           {Principal: "brine", Keytab: "k", Krb5Conf: "/nowhere/krb5.conf"},
	} {
		_, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://127.0.0.1:1", Kerberos: &k})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := embedded.Start(embedded.Options{Kerberos: &embedded.Kerberos{Keytab: "/nowhere"}}); err == nil {
		t.Error("a server without a keytab starts")
	}
}
