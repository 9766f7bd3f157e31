//go:build unix

package rpc

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// tryWrite returns a function that writes what a socket has room for and does not wait. Only one goroutine may use it at a time. It is nil
// if the connection is more than a socket: TLS and SASL must see every byte.
func tryWrite(conn net.Conn) func([]byte) (int, error) {
	socket, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	var ( // outside, so that a write does not allocate
		frames []byte
		n      int
		failed error
	)
	write := func(fd uintptr) bool {
		n, failed = ignoringInterrupts(int(fd), frames)
		return true // also if there is no room
	}
	return func(b []byte) (int, error) {
		frames, n, failed = b, 0, nil
		// An error of raw itself means that the socket is closed, or that the deadline of an earlier write has passed. A write that waits
		// fails in the first case and sets another deadline in the second.
		_ = raw.Write(write)
		frames = nil
		switch {
		case failed == nil:
			return n, nil
		case errors.Is(failed, syscall.EAGAIN):
			return 0, nil
		}
		failed = os.NewSyscallError("write", failed)
		return 0, &net.OpError{Op: "write", Net: "tcp", Source: socket.LocalAddr(), Addr: socket.RemoteAddr(), Err: failed} // as net has it
	}
}

func ignoringInterrupts(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Write(fd, b)
		if err == nil || !errors.Is(err, syscall.EINTR) { //nolint:errorlint
			return max(n, 0), err
		}
	}
}
