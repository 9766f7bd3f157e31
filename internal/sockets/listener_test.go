package sockets

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// faulty answers its accepts with errors, in turn, and then with a connection.
type faulty struct {
	fails  []error
	closed chan struct{}
	times  []time.Time
}

func (f *faulty) Accept() (net.Conn, error) {
	f.times = append(f.times, time.Now())
	if len(f.fails) == 0 {
		c, _ := net.Pipe()
		return c, nil
	}
	err := f.fails[0]
	f.fails = f.fails[1:]
	return nil, err
}
func (f *faulty) Close() error   { close(f.closed); return nil }
func (f *faulty) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 16000} }

func accepting(err error) error {
	return &net.OpError{Op: "accept", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 16000}, Err: os.NewSyscallError("accept4", err)}
}

func TestAcceptGoesOnAfterErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := accepting(syscall.EMFILE)
		f := &faulty{closed: make(chan struct{})}
		for range 10 {
			f.fails = append(f.fails, full)
		}
		var warned []string
		l := Listener(f, func(err error) { warned = append(warned, err.Error()) })
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		const want = "accepting connections on 127.0.0.1:16000: accept4: too many open files: raise the limit of this process (ulimit -n)"
		if len(warned) != 1 || warned[0] != want {
			t.Errorf("warned %q, want once %q", warned, want)
		}
		for i, want := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000} {
			if got := f.times[i+1].Sub(f.times[i]); got != want*time.Millisecond {
				t.Errorf("waited %v after error %d, want %v", got, i+1, want*time.Millisecond)
			}
		}
		time.Sleep(warnWithin)
		f.fails = []error{full}
		if c, err = l.Accept(); err != nil || len(warned) != 2 {
			t.Fatalf("a minute later: %v, warned %d times, want 2", err, len(warned))
		}
		c.Close()
	})
}

// Close ends an accept at once, even one that waits before a retry.
func TestCloseEndsAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken for ever")
		f := &faulty{closed: make(chan struct{}), fails: []error{broken, broken, broken, broken, broken, broken, broken, broken, broken}}
		l := Listener(f, nil)
		ended := make(chan error)
		go func() { _, err := l.Accept(); ended <- err }()
		time.Sleep(700 * time.Millisecond) // it waits for 640 ms, starting at 635 ms
		began := time.Now()
		l.Close()
		if err := <-ended; !errors.Is(err, broken) || time.Since(began) != 0 {
			t.Errorf("ended with %v after %v", err, time.Since(began))
		}
	})
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.ECONNREFUSED, "connection refused"},
		{syscall.EMFILE, "too many open files: raise the limit of this process (ulimit -n)"},
		{syscall.ENFILE, "too many open files in system: raise the limit of this machine (sysctl fs.file-max)"},
	} {
		err := Explain(c.err)
		if err.Error() != c.want || !errors.Is(err, c.err) {
			t.Errorf("Explain(%v) is %q, want %q", c.err, err, c.want)
		}
	}
	if err := Explain(nil); err != nil {
		t.Error(err)
	}
}

func TestDialNamesWhatHelps(t *testing.T) {
	dial := Dial(&net.Dialer{Control: func(string, string, syscall.RawConn) error { return syscall.EMFILE }})
	_, err := dial(t.Context(), "tcp", "127.0.0.1:9")
	if !errors.Is(err, syscall.EMFILE) || !strings.HasSuffix(err.Error(), "too many open files: raise the limit of this process (ulimit -n)") {
		t.Error(err)
	}
}
