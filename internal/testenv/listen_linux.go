package testenv

import (
	"fmt"
	"net"
	"syscall"
	"testing"
)

// Listen returns a function like net.Listen for a server that the test stops and starts again at the same address: once the system has
// chosen a port of 127.0.0.1, nobody else gets it until the test ends, and while the server is stopped, connections are refused.
//
// Each port is held by a socket that is bound and never listens. With SO_REUSEADDR on both, that does not keep the server's own from
// listening there.
func Listen(t testing.TB) func(network, addr string) (net.Listener, error) {
	return func(network, addr string) (net.Listener, error) {
		if network != "tcp" || addr != "127.0.0.1:0" {
			return net.Listen(network, addr)
		}
		fd, port, err := hold()
		if err != nil {
			return nil, fmt.Errorf("holding a port: %w", err)
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
		return net.Listen(network, fmt.Sprintf("127.0.0.1:%d", port))
	}
}

// Port returns an address of 127.0.0.1 for a server of another process, which sets SO_REUSEADDR, as servers do. Like a port of Listen it is
// the test's until the end of the test, also while the server is stopped.
func Port(t testing.TB) string {
	t.Helper()
	fd, port, err := hold()
	if err != nil {
		t.Fatalf("holding a port: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// hold binds a socket to a free port of 127.0.0.1.
func hold() (fd, port int, err error) {
	fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	if err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	var at syscall.Sockaddr
	if err == nil {
		at, err = syscall.Getsockname(fd)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return 0, 0, err
	}
	return fd, at.(*syscall.SockaddrInet4).Port, nil
}
