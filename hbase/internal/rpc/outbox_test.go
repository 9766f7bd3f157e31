package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/encoding/protowire"
)

// tape is a socket that keeps what is written. It has room for as many bytes of a write that does not wait as room returns.
type tape struct {
	net.Conn
	room func(n int) int

	mu      sync.Mutex
	written []byte
}

func (s *tape) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = append(s.written, b...)
	return len(b), nil
}

func (s *tape) try(b []byte) (int, error) { return s.Write(b[:min(len(b), s.room(len(b)))]) }

func (s *tape) SetWriteDeadline(time.Time) error { return nil }

// post does with a frame what conn.await does.
func post(o *outbox, frame []byte) {
	if o.queue(frame) {
		_ = o.flush()
		return
	}
	o.send <- &call{frame: frame}
}

// frame returns a frame of n bytes that says who sent it.
func frame(sender, nth, n int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(n))
	b = append(b, byte(sender), byte(nth>>8), byte(nth))
	return append(b, make([]byte, n-len(b)+4)...)
}

// The socket takes any part of a small frame, or none: the writer writes the rest of it before anything else.
func TestSocketTakesHalfAFrame(t *testing.T) {
	for room := range 24 {
		synctest.Test(t, func(t *testing.T) {
			s := &tape{room: func(int) int { return room }}
			o := newOutbox(s, time.Second)
			o.try = s.try
			ended := make(chan struct{})
			done := make(chan error)
			go func() { done <- o.write(ended) }()
			var want []byte
			for i := range 5 {
				f := frame(1, i, 20)
				post(o, f)
				want = append(want, f...)
			}
			synctest.Wait()
			if !bytes.Equal(s.written, want) || len(o.rest) > 0 || len(o.queued) > 0 || o.sending != 0 {
				t.Errorf("room for %d bytes: written %x, want %x; left %d, queued %d, sending %d", room, s.written, want, len(o.rest), len(o.queued), o.sending)
			}
			close(ended)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// Many goroutines send small and large frames at once over a socket whose room changes: each frame is written whole, once, and behind those
// that its sender has sent before.
func TestFramesOfManyAreWhole(t *testing.T) {
	synctest.Test(t, framesOfMany)
}

func framesOfMany(t *testing.T) {
	const senders, each = 8, 300
	s := &tape{room: func(n int) int {
		if rand.IntN(4) == 0 {
			return rand.IntN(n + 1)
		}
		return n
	}}
	o := newOutbox(s, time.Second)
	o.try = s.try
	ended, done := make(chan struct{}), make(chan error)
	go func() { done <- o.write(ended) }()
	var wg sync.WaitGroup
	for k := range senders {
		wg.Go(func() {
			for i := range each {
				n := 20 + rand.IntN(200)
				if rand.IntN(20) == 0 {
					n += smallFrame
				}
				post(o, frame(k, i, n))
			}
		})
	}
	wg.Wait()
	synctest.Wait()
	close(ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var next [senders]int
	rest := s.written
	for len(rest) > 0 {
		n := 4 + int(binary.BigEndian.Uint32(rest))
		k, i := int(rest[4]), int(rest[5])<<8|int(rest[6])
		if i != next[k] {
			t.Fatalf("frame %d of sender %d comes after frame %d", i, k, next[k]-1)
		}
		next[k]++
		rest = rest[n:]
	}
	for k, n := range next {
		if n != each {
			t.Errorf("%d frames of sender %d, want %d", n, k, each)
		}
	}
}

// server accepts connections that serve handles once it has read preamble and header.
func server(t *testing.T, o Options, serve func(net.Conn, *bufio.Reader)) (*Servers, Endpoint) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				if _, err := io.CopyN(io.Discard, r, wire.PreambleLen); err != nil {
					return
				}
				if _, err := wire.ReadFrame(r, 1<<30); err == nil {
					serve(conn, r)
				}
			})
		}
	})
	o.Dial, o.MaxAnswerBytes = new(net.Dialer).DialContext, 1<<20
	if o.RPCTimeout == 0 {
		o.RPCTimeout = time.Minute
	}
	o.DialTimeout = time.Minute
	var goroutines Goroutines
	s := New(t.Context(), o, &goroutines)
	t.Cleanup(func() {
		s.Close()
		goroutines.Wait()
		l.Close()
		wg.Wait()
	})
	return s, ClientService.At(l.Addr().String())
}

// echo answers a request with its parameter, as an encoded message.
func echo(conn io.Writer, q wire.Request) error {
	header := protowire.AppendVarint([]byte{1 << 3}, uint64(q.Header.GetCallId()))
	body := protowire.AppendBytes(protowire.AppendBytes(nil, header), q.Param)
	_, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

func ask(ctx context.Context, s *Servers, to Endpoint, param string) (string, error) {
	r, err := s.RoundTrip(ctx, to, "Get", func(dst []byte, c wire.Call) ([]byte, error) {
		return wire.AppendEncodedRequest(dst, c, []byte(param), nil)
	})
	return string(r.Param), err
}

// A peer does not read, so that the writer waits in the middle of a frame and others find the socket full: their deadlines pass in time.
// When it reads again, every frame is whole, also of those who have left, and calls are answered.
func TestFullSocketHoldsNobodyUp(t *testing.T) {
	for _, long := range []bool{false, true} {
		t.Run(fmt.Sprint("long ", long), func(t *testing.T) {
			read := make(chan struct{})
			var mu sync.Mutex
			seen := make(map[string]bool)
			s, to := server(t, Options{}, func(conn net.Conn, r *bufio.Reader) {
				<-read
				for {
					b, err := wire.ReadFrame(r, 1<<30)
					if err != nil {
						return
					}
					q, err := wire.DecodeRequest(b)
					if err != nil {
						t.Errorf("half a frame: %v", err)
						return
					}
					mu.Lock()
					seen[string(q.Param)] = true
					mu.Unlock()
					if echo(conn, q) != nil {
						return
					}
				}
			})
			if err := s.Connect(t.Context(), to); err != nil {
				t.Fatal(err)
			}
			c, err := s.get(t.Context(), to, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			if long {
				wg.Go(func() {
					if _, err := ask(t.Context(), s, to, strings.Repeat("long", 4<<20)); err == nil || !strings.Contains(err.Error(), "limit") {
						t.Error(err) // its echo is longer than allowed, and ends the connection
					}
				})
			}
			full := func() bool { // with small frames alone, the socket has taken a part of one
				c.out.mu.Lock()
				defer c.out.mu.Unlock()
				return c.out.sending > 0 || len(c.out.queued) > smallFrame
			}
			gone := 0
			for !full() || gone < 10 {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Microsecond)
				if _, err := ask(ctx, s, to, fmt.Sprint(gone, strings.Repeat("short", 800))); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				cancel()
				gone++
			}
			close(read)
			wg.Wait()
			if answer, err := ask(t.Context(), s, to, "last"); answer != "last" || err != nil {
				t.Errorf("%q, %v", answer, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !seen["last"] {
				t.Errorf("%d frames seen after %d calls", len(seen), gone)
			}
		})
	}
}

// Answers to calls that their callers have given up arrive while others' calls, which use the same memory, are pending: everyone gets the
// answer to the own call.
func TestLateAnswersReachNoOtherCall(t *testing.T) {
	var late []wire.Request
	s, to := server(t, Options{}, func(conn net.Conn, r *bufio.Reader) {
		for {
			b, err := wire.ReadFrame(r, 1<<30)
			if err != nil {
				return
			}
			q, err := wire.DecodeRequest(b)
			if err != nil {
				t.Error(err)
				return
			}
			if strings.HasPrefix(string(q.Param), "slow") {
				late = append(late, q)
				continue
			}
			if len(late) > 0 {
				_ = echo(conn, late[0])
				late = late[1:]
			}
			if echo(conn, q) != nil {
				return
			}
		}
	})
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			for i := range 500 {
				if i%3 == 0 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(50))*time.Microsecond)
					if answer, err := ask(ctx, s, to, fmt.Sprint("slow ", k, i)); err == nil && answer != fmt.Sprint("slow ", k, i) {
						t.Errorf("the answer to slow %d %d is %q", k, i, answer)
					}
					cancel()
				}
				if answer, err := ask(t.Context(), s, to, fmt.Sprint(k, i)); err != nil || answer != fmt.Sprint(k, i) {
					t.Errorf("the answer to %d %d is %q, %v", k, i, answer, err)
				}
			}
		})
	}
	wg.Wait()
}

// A caller's own write fails: the connection ends with that reason, for everybody, and the next call makes another.
func TestConnectionFailsDuringACallersWrite(t *testing.T) {
	s, to := server(t, Options{}, func(conn net.Conn, r *bufio.Reader) {
		for {
			b, err := wire.ReadFrame(r, 1<<30)
			if err != nil {
				return
			}
			if q, err := wire.DecodeRequest(b); err != nil || string(q.Param) != "silence" && echo(conn, q) != nil {
				return
			}
		}
	})
	c, err := s.get(t.Context(), to, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := ask(t.Context(), s, to, "a"); answer != "a" || err != nil { // so that it counts as heard
		t.Fatal(answer, err)
	}
	broken := errors.New("broken")
	var wg sync.WaitGroup
	check := func(param string) {
		wg.Go(func() {
			_, err := ask(t.Context(), s, to, param)
			if cut, ok := errors.AsType[*remote.ConnError](err); !ok || !cut.Cut || cut.Class != "connection" || !errors.Is(err, broken) ||
				!strings.Contains(err.Error(), "write: broken") {
				t.Errorf("%s: %v", param, err)
			}
		})
	}
	check("silence")
	for pending := 0; pending == 0; {
		c.mu.Lock()
		pending = len(c.pending)
		c.mu.Unlock()
	}
	c.out.writing.Lock() // nobody writes while try is replaced
	c.out.try = func(b []byte) (int, error) { return 0, broken }
	c.out.writing.Unlock()
	check("b")
	wg.Wait()
	if answer, err := ask(t.Context(), s, to, "c"); answer != "c" || err != nil {
		t.Error(answer, err)
	}
}

// A write that does not wait fails with the same error as one that does.
func TestTryWriteFailsLikeNet(t *testing.T) {
	failure := func(write func(*net.TCPConn) func([]byte) (int, error)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		peer, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		peer.Close()
		w := write(conn.(*net.TCPConn))
		if w == nil {
			t.Skip("this system has no such write")
		}
		_, _ = conn.Read(make([]byte, 1)) // until it has noticed
		for {
			if _, err := w([]byte("x")); err != nil {
				return strings.NewReplacer(conn.LocalAddr().String(), "here", l.Addr().String(), "there").Replace(fmt.Sprintf("%T %v", err, err))
			}
		}
	}
	got := failure(func(c *net.TCPConn) func([]byte) (int, error) { return tryWrite(c) })
	want := failure(func(c *net.TCPConn) func([]byte) (int, error) { return c.Write })
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Calls with different time-outs end at their times, whatever the order in which they were made, and so does one that the writer has no
// time for.
func TestEachCallEndsAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, silent := net.Pipe()
		var goroutines Goroutines
		opts := Options{RPCTimeout: time.Minute, DialTimeout: time.Minute, MaxAnswerBytes: 1 << 20, Dial: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
		s := New(t.Context(), opts, &goroutines)
		go func() {
			r := bufio.NewReader(silent)
			_, _ = io.CopyN(io.Discard, r, wire.PreambleLen)
			_, _ = wire.ReadFrame(r, 1<<30)
			_, _ = wire.ReadFrame(r, 1<<30) // the first call; then it does not even read
		}()
		to := ClientService.At("m1:1")
		var wg sync.WaitGroup
		for _, seconds := range []int{30, 5, 20, 10, 5, 7} {
			for range 20 { // more than there is room for
				wg.Go(func() {
					start := time.Now()
					ctx := WithCallOptions(t.Context(), CallOptions{Timeout: time.Duration(seconds) * time.Second})
					_, err := ask(ctx, s, to, "a")
					late, ok := errors.AsType[*remote.ConnError](err)
					if !ok || late.Class != "timeout" || err.Error() != "m1:1: no answer in time: context deadline exceeded" || !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					if took := time.Since(start); took != time.Duration(seconds)*time.Second {
						t.Errorf("a call of %d s took %v", seconds, took)
					}
				})
			}
			synctest.Wait()
		}
		wg.Wait()
		s.Close()
		goroutines.Wait()
		silent.Close()
		if c := s.conns; len(c) != 0 {
			t.Errorf("%d connections", len(c))
		}
	})
}
