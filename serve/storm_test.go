package serve_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/serve"
)

// TestConnectionStorm attempts thousands of connections, and holds thousands open with clients that send nothing, never end a header, or
// send one that is too long or a body that does not arrive. It checks that other clients, each with a new connection, are all answered, that
// an open event stream continues, and that what the server holds stays within its limits. For a manual run, BRINE_STORM=100000 sets the
// number of attempts; as many are open at a time as there are descriptors for, at most 15,000.
func TestConnectionStorm(t *testing.T) {
	attempts := 3000
	if n, err := strconv.Atoi(os.Getenv("BRINE_STORM")); err == nil {
		attempts = n
	}
	const connections = 1024 // the default
	s := newShop(t, func(o *serve.Options) { o.Connections = connections })
	s.run()
	watching := s.stream(t.Context())
	nextEvent(t, watching)
	before := memory()

	calm := make(chan struct{})
	var others errgroup.Group
	var answers, longest atomic.Int64
	for range 4 {
		others.Go(func() error {
			for {
				select {
				case <-calm:
					return nil
				default:
				}
				began := time.Now()
				if err := s.answersNewcomer(t.Context()); err != nil {
					return err
				}
				answers.Add(1)
				longest.Store(max(longest.Load(), int64(time.Since(began))))
			}
		})
	}
	a := &attack{addr: s.Addr(), most: openAtOnce(t, connections), attempts: attempts}
	a.run(t.Context())
	during := memory()
	close(calm)
	if err := others.Wait(); err != nil {
		t.Errorf("another client: %v", err)
	}
	s.add("2013-01-03T00:00:00Z", "ARRIVE")
	if _, kind, data := nextEvent(t, watching); kind != "page" || strings.Count(data, `"action":`) != 4 {
		t.Errorf("the stream that was there: %s %s", kind, data)
	}
	a.end()
	grown := max(0, int64(during)-int64(before))
	t.Logf("%d attempts (%d failed), %d open at once; meanwhile %d answers to others, the slowest after %v; memory grew by %d MiB, the attack's own included",
		attempts, a.failed.Load(), a.most, answers.Load(), time.Duration(longest.Load()).Round(time.Millisecond), grown>>20)
	if answers.Load() == 0 {
		t.Error("nobody else was answered")
	}
	// A connection costs the server a goroutine with two buffers of 4 KiB, a header of at most 64 KiB, and what is read ahead; it costs the
	// attack a descriptor.
	if most := int64(connections*(128<<10) + a.most*(4<<10) + 64<<20); grown > most {
		t.Errorf("memory grew by %d MiB, more than %d", grown>>20, most>>20)
	}
}

// answersNewcomer sends a request on a new connection.
func (s *shop) answersNewcomer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+timeline, http.NoBody)
	if err != nil {
		return err
	}
	once := http.Transport{DisableKeepAlives: true}
	resp, err := once.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "DELIVER")) {
		err = fmt.Errorf("%s %s", resp.Status, body)
	}
	return err
}

// memory returns what this process has obtained from the system and not released.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// openAtOnce returns the number of descriptors for connections of an attack, besides those of the server and others.
func openAtOnce(t *testing.T, server int) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	most := min(15_000, int(min(limit.Cur, 1<<20))-server-512)
	if os.Getenv("BRINE_STORM") == "" {
		most = min(most, 1000)
	}
	if most < 10 {
		t.Skipf("%d descriptors are too few for a storm", limit.Cur)
	}
	return most
}

// attack opens connections that never make a complete request.
type attack struct {
	addr     string
	most     int // most open at a time
	attempts int
	failed   atomic.Int64

	mu   sync.Mutex
	open []net.Conn
}

// run makes all attempts, some at a time. The last ones stay open.
func (a *attack) run(ctx context.Context) {
	var g errgroup.Group
	g.SetLimit(64)
	for i := range a.attempts {
		g.Go(func() error {
			a.attempt(ctx, i)
			return nil
		})
	}
	_ = g.Wait() // none returns an error
}

func (a *attack) attempt(ctx context.Context, i int) {
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%200))} // one address has 28,000 ports
	c, err := (&net.Dialer{Timeout: 10 * time.Second, LocalAddr: from}).DialContext(ctx, "tcp", a.addr)
	if err != nil {
		a.failed.Add(1)
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // the server need not read it
	says := []string{"", "GET " + timeline + " HTTP/1.1\r\nHost: localhost\r\nX-A: ", "\x16\x03\x01", "GET / HTTP/1.1\r\nX-A: " + strings.Repeat("x", 80<<10),
		"POST " + batch + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"}
	_, _ = io.WriteString(c, says[i%len(says)]) // the connection may already be closed
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, c)
	if len(a.open) > a.most {
		at := rand.IntN(len(a.open))
		a.open[at].Close()
		a.open[at] = a.open[len(a.open)-1]
		a.open = a.open[:len(a.open)-1]
	}
}

func (a *attack) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.open {
		c.Close()
	}
}
