package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// door stands before an HTTP server and keeps its port. Before it is first opened, connections are refused, as if no server ran. Later,
// while it is shut, every connection is cut; a request in progress may have been executed.
type door struct {
	url    string
	socket int // bound; nobody listens on it before the first opening
	server *httptest.Server
	shut   atomic.Bool
	passed atomic.Int64 // answers that got through
	cut    atomic.Int64 // requests that were cut off
}

func newDoor(t *testing.T, target string) *door {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(*http.Response) error {
		if d.shut.Load() {
			return errShut
		}
		d.passed.Add(1)
		return nil
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { d.abort() }
	d.server = &httptest.Server{Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.shut.Load() {
			d.abort()
		}
		proxy.ServeHTTP(w, r)
	})}}
	d.bind(t)
	return d
}

var errShut = errors.New("the door is shut")

// abort cuts the connection of the request being served.
func (d *door) abort() {
	d.cut.Add(1)
	panic(http.ErrAbortHandler)
}

// bound reserves a port on which nobody listens while its socket is open, and which nobody else gets.
func bound() (socket int, addr string, err error) {
	if socket, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
		return 0, "", err
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, "", errors.Join(err, syscall.Close(socket))
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		return 0, "", errors.Join(err, syscall.Close(socket))
	}
	return socket, "127.0.0.1:" + strconv.Itoa(name.(*syscall.SockaddrInet4).Port), nil
}

// keepPort keeps the port of a listener that was closed for the one that comes after it, until release.
func keepPort(t *testing.T, addr string) (release func()) {
	t.Helper()
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		if err := syscall.Close(socket); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(release)
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}); err != nil {
		t.Fatal(err)
	}
	return release
}

func (d *door) bind(t *testing.T) {
	t.Helper()
	socket, addr, err := bound()
	if err != nil {
		t.Fatal(err)
	}
	d.socket, d.url = socket, "http://"+addr
	t.Cleanup(func() {
		if d.server.Listener != nil {
			d.server.Close()
		} else if err := syscall.Close(d.socket); err != nil {
			t.Error(err)
		}
	})
}

// open lets everything through from now on.
func (d *door) open(t *testing.T) {
	t.Helper()
	d.shut.Store(false)
	if d.server.Listener != nil {
		return
	}
	if err := syscall.Listen(d.socket, 128); err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(d.socket), "door")
	listener, err := net.FileListener(file) // has a descriptor of its own
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	d.server.Listener = listener
	d.server.Start()
}
