package hbase

import (
	"net"
	"syscall"
	"testing"
	"time"
)

// The TCP options are passed to the operating system.
func TestSettingsOfTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	type settings struct{ keepAlive, idle, interval, probes, noDelay int }
	for _, tt := range []struct {
		name string
		opts Options
		want settings
	}{
		{"default", Options{}, settings{1, 15, 5, 3, 1}},
		{"set", Options{TCPKeepAlive: time.Minute, TCPDelay: true}, settings{1, 60, 20, 3, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.EnsureDefaults()
			c, err := tt.opts.Dial(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := (settings{
				option(t, c, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE), option(t, c, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE),
				option(t, c, syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL), option(t, c, syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT),
				option(t, c, syscall.IPPROTO_TCP, syscall.TCP_NODELAY),
			}); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
	never := Options{TCPKeepAlive: -1}
	never.EnsureDefaults()
	c, err := never.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if on := option(t, c, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE); on != 0 {
		t.Error("asks though it must not")
	}
}

func option(t *testing.T, c net.Conn, level, name int) (value int) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if controlErr := raw.Control(func(fd uintptr) { value, err = syscall.GetsockoptInt(int(fd), level, name) }); controlErr != nil || err != nil {
		t.Fatal(controlErr, err)
	}
	return value
}
