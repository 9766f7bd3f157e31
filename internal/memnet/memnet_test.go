package memnet

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a server and a client connected to it.
type pair struct {
	server, client *Place
	addr           string
	theirs, ours   net.Conn
}

func connect(t *testing.T) *pair {
	t.Helper()
	n := New(1)
	p := &pair{server: n.NewPlace("server"), client: n.NewPlace("client")}
	l, err := p.server.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	if p.ours, err = p.client.Dial(t.Context(), "tcp", p.addr); err != nil {
		t.Fatal(err)
	}
	if p.theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return p
}

// answers makes the server send some bytes, and returns what the client reads and how long that takes.
func (p *pair) answers(t *testing.T, bytes string) (string, time.Duration, error) {
	t.Helper()
	began := time.Now()
	if err := p.ours.SetDeadline(began.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, failed := io.WriteString(p.theirs, bytes)
	buf := make([]byte, 2*len(bytes))
	n := 0
	for n < len(bytes) {
		read, err := p.ours.Read(buf[n:])
		if n += read; err != nil {
			return string(buf[:n]), time.Since(began), errors.Join(err, failed)
		}
	}
	return string(buf[:n]), time.Since(began), failed
}

// Each fault of a place affects the other end, and ends.
func TestFaultsAreFeltAndEnd(t *testing.T) {
	for _, c := range []struct {
		name       string
		begin, end func(*Place)
		got        string
		took       time.Duration // at most; 0: at once
		err        error
	}{
		{"nothing", func(*Place) {}, func(*Place) {}, "answer", 0, nil},
		{"frozen", (*Place).Freeze, (*Place).Thaw, "", time.Minute, os.ErrDeadlineExceeded},
		{"delayed", func(p *Place) { p.Delay(time.Second) }, (*Place).Heal, "answer", time.Second, nil},
		{"narrow", func(p *Place) { p.Narrow(3) }, func(p *Place) { p.Narrow(0) }, "answer", 2 * time.Second, nil},
		{"cut", (*Place).Cut, func(*Place) {}, "", 0, syscall.ECONNRESET},
		{"down", (*Place).Down, (*Place).Up, "", 0, syscall.ECONNRESET},
		{"losing", func(p *Place) { p.Lose(1) }, func(*Place) {}, "", 0, syscall.ECONNRESET},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := connect(t)
				c.begin(p.server)
				got, took, err := p.answers(t, "answer")
				if got != c.got || !errors.Is(err, c.err) || took > c.took {
					t.Errorf("read %q after %v: %v; want %q within %v: %v", got, took, err, c.got, c.took, c.err)
				}
				_, err = p.client.Dial(t.Context(), "tcp", p.addr)
				if down := c.name == "down"; errors.Is(err, syscall.ECONNREFUSED) != down {
					t.Errorf("dialled while %s: %v", c.name, err)
				}
				c.end(p.server)
				if _, err := p.client.Dial(t.Context(), "tcp", p.addr); err != nil {
					t.Errorf("dialled when all is well: %v", err)
				}
			})
		})
	}
}

func TestAnswersThatComeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t)
		p.server.Repeat(1)
		if _, err := io.WriteString(p.theirs, "once"); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 8)
		if _, err := io.ReadFull(p.ours, buf); err != nil || string(buf) != "onceonce" {
			t.Errorf("read %q: %v", buf, err)
		}
	})
}

// What was sent before a close arrives, followed by EOF; faults of servers do not affect an aside place.
func TestCloseAndAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t)
		if _, err := io.WriteString(p.ours, "last"); err != nil {
			t.Fatal(err)
		}
		if err := p.ours.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(p.theirs); err != nil || string(got) != "last" {
			t.Errorf("read %q: %v", got, err)
		}
		p.server.Down()
		if _, err := p.server.net.NewAside("test").Dial(t.Context(), "tcp", p.addr); err != nil {
			t.Errorf("the test's own client: %v", err)
		}
		if _, err := p.client.Dial(t.Context(), "tcp", "127.0.0.1:9"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens: %v", err)
		}
	})
}
