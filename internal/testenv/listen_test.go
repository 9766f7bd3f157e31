package testenv_test

import (
	"net"
	"testing"

	"brine/internal/testenv"
)

// A server can listen at its address again and again, and is refused in between.
func TestListenAgain(t *testing.T) {
	listen := testenv.Listen(t)
	addr := "127.0.0.1:0"
	for range 3 {
		l, err := listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		addr = l.Addr().String()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		l.Close()
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			t.Error("connected to a server that is stopped")
		}
	}
}

// A server of another process can listen at an address of Port, again and again, and nobody else is given it.
func TestPortAgain(t *testing.T) {
	addr := testenv.Port(t)
	for range 3 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			t.Error("connected to a server that is not there")
		}
		l, err := net.Listen("tcp", addr) // sets SO_REUSEADDR
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := net.SplitHostPort(l.Addr().String()); got == port {
			t.Errorf("port %s was given away", port)
		}
		l.Close()
	}
}
