package gssapi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/types"
	"go.uber.org/goleak"

	"brine/internal/gssapi/gssapitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gokrb5 opens what we seal, and the other way round; checksums are equal.
func TestSealerIsGokrb5s(t *testing.T) {
	for _, etype := range supported {
		key, err := newKey(etype)
		if err != nil {
			t.Fatal(err)
		}
		et, err := crypto.GetEtype(etype)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSealer(key, usageInitiator)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 100 {
			message := bytes.Repeat([]byte{byte(n)}, n)
			if n >= headerLen { // gokrb5 does not seal less than a block
				theirs, err := et.DecryptMessage(key.KeyValue, s.seal(nil, message[:n/2], message[n/2:]), usageInitiator)
				if err != nil || !bytes.Equal(theirs, message) {
					t.Fatalf("type %d, %d bytes sealed here: %x, %v", etype, n, theirs, err)
				}
				_, sealed, err := et.EncryptMessage(key.KeyValue, message, usageInitiator)
				if err != nil {
					t.Fatal(err)
				}
				if ours, err := s.open(sealed); err != nil || !bytes.Equal(ours, message) {
					t.Fatalf("type %d, %d bytes sealed by gokrb5: %x, %v", etype, n, ours, err)
				}
			}
			sum, err := et.GetChecksumHash(key.KeyValue, message, usageInitiator)
			if err != nil || !bytes.Equal(s.sign(nil, message[:n/2], message[n/2:]), sum) {
				t.Fatalf("type %d: checksum of %d bytes: %v", etype, n, err)
			}
		}
	}
}

const (
	realm  = "TEST.EXAMPLE"
	server = "hbase/localhost"
)

// peers are a client and a server, and their KDC.
type peers struct {
	kdc      *gssapitest.KDC
	login    *Login
	acceptor *Acceptor
}

func newPeers(t testing.TB, etype int32) *peers {
	t.Helper()
	kdc := gssapitest.NewKDC(realm)
	kdc.Set(func(f *gssapitest.Faults) { f.EType = etype })
	acceptor, err := NewAcceptor(kdc.Keytab(t, server))
	if err != nil {
		t.Fatal(err)
	}
	login, err := NewLogin(Options{Principal: "brine", Keytab: kdc.Keytab(t, "brine"), Krb5Conf: kdc.Conf(t, "kdc:88"), Dial: kdc.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(login.Close)
	return &peers{kdc, login, acceptor}
}

func (p *peers) ticket(t testing.TB) Ticket {
	t.Helper()
	ticket, err := p.login.Ticket(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

// contexts returns the contexts of both sides after an exchange.
func (p *peers) contexts(t testing.TB) (initiator, acceptor *Context) {
	t.Helper()
	i := NewInitiator(p.ticket(t))
	request, err := i.Request()
	if err != nil {
		t.Fatal(err)
	}
	reply, acceptor, err := p.acceptor.Accept(request)
	if err != nil {
		t.Fatal(err)
	}
	if initiator, err = i.Finish(reply); err != nil {
		t.Fatal(err)
	}
	return initiator, acceptor
}

func TestContexts(t *testing.T) {
	for _, etype := range supported {
		for _, noSubkey := range []bool{false, true} {
			t.Run(fmt.Sprintf("type %d, no subkey of the acceptor's %v", etype, noSubkey), func(t *testing.T) {
				p := newPeers(t, etype)
				p.acceptor.noSubkey = noSubkey
				c, s := p.contexts(t)
				if c.Peer() != server+"@"+realm || s.Peer() != "brine@"+realm {
					t.Errorf("%s and %s", c.Peer(), s.Peer())
				}
				for n := range 50 {
					seal := n%3 == 0
					message := bytes.Repeat([]byte("x"), n*7)
					for _, way := range []struct{ from, to *Context }{{c, s}, {s, c}} {
						token := way.from.Wrap(nil, message, seal)
						if len(token) > len(message)+way.from.Overhead() {
							t.Errorf("%d bytes in a token of %d", len(message), len(token))
						}
						if token = rotated(token, n); seal && bytes.Contains(token, []byte("xxxxxxx")) {
							t.Error("it is not sealed")
						}
						if got, err := way.to.Unwrap(token, seal); err != nil || !bytes.Equal(got, message) {
							t.Fatalf("%q, %v", got, err)
						}
					}
				}
			})
		}
	}
}

// rotated rotates the body of a token, as Windows does.
func rotated(token []byte, n int) []byte {
	binary.BigEndian.PutUint16(token[6:], uint16(n))
	body := token[headerLen:]
	for range n % len(body) {
		last := body[len(body)-1]
		copy(body[1:], body)
		body[0] = last
	}
	return token
}

func TestUnwrapRefuses(t *testing.T) {
	p := newPeers(t, supported[0])
	for _, c := range []struct {
		name   string
		change func(c, s *Context) []byte
		want   string
	}{
		{"a token left out", func(c, _ *Context) []byte { c.Wrap(nil, nil, true); return c.Wrap(nil, nil, true) }, "one was lost"},
		{"a token sent again", func(c, s *Context) []byte {
			token := c.Wrap(nil, []byte("x"), true)
			if _, err := s.Unwrap(bytes.Clone(token), true); err != nil {
				t.Fatal(err)
			}
			return token
		}, "one was lost or repeated"},
		{"one's own token", func(_, s *Context) []byte { return s.Wrap(nil, nil, true) }, "our own wrap token"},
		{"not sealed", func(c, _ *Context) []byte { return c.Wrap(nil, []byte("x"), false) }, "not sealed"},
		{"changed", func(c, _ *Context) []byte { b := c.Wrap(nil, []byte("x"), true); b[len(b)-20] ^= 1; return b }, "changed in transit"},
		{"changed header", func(c, _ *Context) []byte { b := c.Wrap(nil, []byte("x"), true); b[5]++; return b }, "changed in transit"},
		{"cut", func(c, _ *Context) []byte { return c.Wrap(nil, nil, true)[:20] }, "sealed bytes"},
		{"empty", func(*Context, *Context) []byte { return nil }, "wrap token of 0 bytes"},
		{"RC4's", func(*Context, *Context) []byte { return append([]byte{0x60, 0x30}, make([]byte, 48)...) }, "not a wrap token"},
		{"of another context", func(*Context, *Context) []byte {
			other, _ := p.contexts(t)
			return other.Wrap(nil, []byte("x"), true)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			initiator, acceptor := p.contexts(t)
			_, err := acceptor.Unwrap(c.change(initiator, acceptor), true)
			if !errors.Is(err, ErrToken) || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// An answer to another request, one from a peer without the server's key, and anything that is not a message end the exchange.
func TestServerMustProveItself(t *testing.T) {
	p := newPeers(t, supported[0])
	exchange := func() (*Initiator, []byte) {
		i := NewInitiator(p.ticket(t))
		request, err := i.Request()
		if err != nil {
			t.Fatal(err)
		}
		reply, _, err := p.acceptor.Accept(request)
		if err != nil {
			t.Fatal(err)
		}
		return i, reply
	}
	one, reply := exchange()
	other, _ := exchange()
	if _, err := other.Finish(reply); !errors.Is(err, ErrToken) {
		t.Errorf("the answer to another request: %v", err)
	}
	reply[len(reply)-1] ^= 1
	if _, err := one.Finish(reply); !errors.Is(err, ErrToken) {
		t.Errorf("a changed answer: %v", err)
	}
	if _, err := one.Finish(encodeToken(tokenRequest, nil)); !errors.Is(err, ErrToken) {
		t.Errorf("a request as an answer: %v", err)
	}
}

// A server whose keytab is older than the KDC's key reports that in a token that the client understands.
func TestServersKeytabIsOld(t *testing.T) {
	p := newPeers(t, supported[0])
	p.kdc.Key(server)
	i := NewInitiator(p.ticket(t))
	request, err := i.Request()
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := p.acceptor.Accept(request)
	if err == nil {
		t.Fatal("it is accepted")
	}
	if _, err := i.Finish(reply); !errors.Is(err, ErrWrongKey) {
		t.Errorf("got %v", err)
	}
}

func TestServersClock(t *testing.T) {
	p := newPeers(t, supported[0])
	p.acceptor.now = func() time.Time { return time.Now().Add(10 * time.Minute) }
	i := NewInitiator(p.ticket(t))
	request, err := i.Request()
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := p.acceptor.Accept(request)
	if !errors.Is(err, ErrClockSkew) {
		t.Errorf("the server says %v", err)
	}
	if _, err := i.Finish(reply); !errors.Is(err, ErrClockSkew) || !bytes.Contains([]byte(err.Error()), []byte("10m0s behind")) {
		t.Errorf("the client says %v", err)
	}
}

// run runs a client and a server against each other until one fails or both are done.
func run(c *Client, s *Server) error {
	var challenge []byte
	for !c.Done() || !s.Done() {
		answer, err := c.Step(challenge)
		if err != nil {
			return err
		}
		if challenge, err = s.Step(answer); err != nil {
			return err
		}
	}
	return nil
}

func TestProtectionIsAgreed(t *testing.T) {
	p := newPeers(t, supported[0])
	for _, c := range []struct {
		asks, offered QOP
		agreed        bool
	}{
		{Auth, Auth, true}, {Int, Int, true}, {Conf, Conf, true}, {Conf, Auth | Int | Conf, true}, {Auth, Auth | Conf, true},
		{Conf, Auth | Int, false}, {Int, Auth, false}, {Auth, Conf, false}, {Auth, 0, false},
	} {
		t.Run(fmt.Sprintf("%v of %v", c.asks, c.offered), func(t *testing.T) {
			client, server := NewClient(p.ticket(t), c.asks), NewServer(p.acceptor, c.offered)
			err := run(client, server)
			if c.agreed != (err == nil) || !c.agreed && !errors.Is(err, ErrDowngrade) {
				t.Fatalf("got %v", err)
			}
			if !c.agreed {
				if _, err := client.Step(nil); err == nil {
					t.Error("it goes on after a failure")
				}
				return
			}
			if server.Peer() != "brine@"+realm {
				t.Errorf("the server takes it for %s", server.Peer())
			}
			for _, l := range []*Layer{client.Layer(), server.Layer()} {
				if (l == nil) != (c.asks == Auth) || l != nil && l.Seal != (c.asks == Conf) {
					t.Errorf("layer %+v", l)
				}
			}
		})
	}
}

// The server checks the client's choice against its offer.
func TestServerRefusesAnotherChoice(t *testing.T) {
	p := newPeers(t, supported[0])
	client, server := NewClient(p.ticket(t), Auth), NewServer(p.acceptor, Conf)
	client.initiator.ticket = p.ticket(t)
	var challenge []byte
	for range 2 {
		answer, err := client.Step(challenge)
		if err == nil {
			challenge, err = server.Step(answer)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.context.Unwrap(challenge, false); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Step(client.context.Wrap(nil, []byte{byte(Auth), 0, 0, 0}, false)); !errors.Is(err, ErrToken) {
		t.Errorf("got %v", err)
	}
}

func TestStream(t *testing.T) {
	p := newPeers(t, supported[0])
	for _, seal := range []bool{false, true} {
		c, s := p.contexts(t)
		ours, theirs := net.Pipe()
		client, server := NewStream(&Layer{Context: c, Seal: seal, Max: 65536}, ours, ours, 1<<20), NewStream(&Layer{Context: s, Seal: seal}, theirs, theirs, 1<<20)
		want := make([]byte, 300_000)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range want {
			want[i] = byte(random.Uint32())
		}
		go func() {
			defer theirs.Close()
			// Errors show up as missing bytes.
			_, _ = io.CopyBuffer(struct{ io.Writer }{server}, io.LimitReader(struct{ io.Reader }{server}, int64(len(want))), make([]byte, 1000))
		}()
		go func() { _, _ = client.Write(want) }() // as above
		got := make([]byte, len(want))
		if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seal %v: what came back is not what was sent: %v", seal, err)
		}
		ours.Close()
	}
}

func TestStreamHoldsLengthsToItsLimit(t *testing.T) {
	p := newPeers(t, supported[0])
	c, _ := p.contexts(t)
	for _, prefix := range [][]byte{{0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 4, 1}} {
		_, err := NewStream(&Layer{Context: c}, bytes.NewReader(prefix), io.Discard, 1024).Read(make([]byte, 1))
		if !errors.Is(err, ErrToken) {
			t.Errorf("%x: %v", prefix, err)
		}
	}
	_, err := NewStream(&Layer{Context: c}, bytes.NewReader([]byte{0, 0x10, 0, 0, 1}), io.Discard, 1<<30).Read(make([]byte, 1))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a token that is cut off: %v", err)
	}
}

// FuzzAccept gives an acceptor arbitrary bytes: it must not panic, and must accept only a request with a ticket.
func FuzzAccept(f *testing.F) {
	p := newPeers(f, supported[0])
	request, err := NewInitiator(p.ticket(f)).Request()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request)
	f.Add(encodeToken(tokenRequest, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, c, err := p.acceptor.Accept(b); err == nil && (c == nil || c.Peer() != "brine@"+realm) {
			t.Fatalf("%x is accepted", b)
		}
	})
}

// FuzzFinish gives an initiator arbitrary answers, raw and framed as a token: it must accept only the server's.
func FuzzFinish(f *testing.F) {
	p := newPeers(f, supported[0])
	ticket := p.ticket(f)
	i := NewInitiator(ticket)
	request, err := i.Request()
	if err != nil {
		f.Fatal(err)
	}
	reply, _, err := p.acceptor.Accept(request)
	if err != nil {
		f.Fatal(err)
	}
	other := NewInitiator(ticket)
	if _, err := other.Request(); err != nil {
		f.Fatal(err)
	}
	f.Add(reply)
	f.Add(reply[17:])
	p.kdc.Key(server)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, token := range [][]byte{b, encodeToken(tokenReply, b), encodeToken(tokenError, b)} {
			if _, err := other.Finish(token); err == nil {
				t.Fatalf("%x is taken for the server's", token)
			}
		}
	})
}

// FuzzUnwrap gives a context arbitrary tokens with the right sequence number: it must accept none.
func FuzzUnwrap(f *testing.F) {
	keys := types.EncryptionKey{KeyType: supported[0], KeyValue: make([]byte, 32)}
	peer := func() *Context {
		c, err := newContext("x", keys, true, false, 0, 7)
		if err != nil {
			f.Fatal(err)
		}
		return c
	}
	wrong := keys
	wrong.KeyValue = bytes.Repeat([]byte{1}, 32)
	c, err := newContext("x", wrong, true, true, 7, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(c.Wrap(nil, []byte("message"), true))
	c.sent = 7
	f.Add(c.Wrap(nil, []byte("message"), false))
	s := peer()
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := s.Unwrap(bytes.Clone(b), false); err == nil {
			t.Fatalf("%x is %x", b, m)
		}
	})
}
