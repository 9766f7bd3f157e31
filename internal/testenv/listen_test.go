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
