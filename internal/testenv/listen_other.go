//go:build !linux

package testenv

import (
	"net"
	"testing"
)

// Listen returns net.Listen: only on Linux are ports held for a server that starts again at its address.
func Listen(testing.TB) func(network, addr string) (net.Listener, error) { return net.Listen }

// Port returns a free address of 127.0.0.1, which another process may take.
func Port(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // only its port is needed
	return l.Addr().String()
}
