package serve

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"brine/serve/live"
)

// streams are the event streams of all bearers. If possible, a stream takes over its connection, so that nothing of its HTTP request is
// kept. It then costs a goroutine that writes, one that waits for the client to leave, and its state in package live.
type streams struct {
	most int // per bearer
	log  *slog.Logger

	mu    sync.Mutex
	open  map[string]int        // by bearer
	conns map[net.Conn]struct{} // hijacked ones
	done  sync.WaitGroup        // their goroutines
	ended bool                  // none may begin any more
}

func newStreams(log *slog.Logger) *streams {
	return &streams{most: math.MaxInt, log: log, open: map[string]int{}, conns: map[net.Conn]struct{}{}}
}

// begin counts a stream, unless the bearer has too many, and returns the function that ends it.
func (s *streams) begin(bearer string) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return nil, refuse(overloaded, live.ErrClosed.Error())
	case s.open[bearer] >= s.most:
		return nil, refuse(tooMany, "you have too many open event streams")
	}
	s.open[bearer]++
	s.done.Add(1)
	return func() {
		defer s.done.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[bearer]--; s.open[bearer] == 0 {
			delete(s.open, bearer)
		}
	}, nil
}

// take runs work on a connection in a new goroutine. A panic ends the stream, as it ends a request, but not the process.
func (s *streams) take(conn net.Conn, work func()) {
	s.mu.Lock()
	s.conns[conn] = struct{}{}
	s.mu.Unlock()
	s.done.Go(func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.conns, conn)
		}()
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("BUG: an event stream panicked", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		work()
	})
}

// wait waits until all streams have ended, which they do once nothing is watched any more. When ctx is done, it cuts off those whose
// clients read too slowly.
func (s *streams) wait(ctx context.Context) {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for conn := range s.conns {
			_ = conn.SetDeadline(time.Now()) // its goroutine closes it
		}
	})
	defer stop()
	s.done.Wait()
}

// taken writes to a hijacked connection.
type taken struct{ conn net.Conn }

func (o *taken) send(text string) error {
	if err := o.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := o.conn.Write([]byte(text))
	return err
}

// response writes to the answer of a request.
type response struct {
	w  http.ResponseWriter
	to *http.ResponseController
}

func (o *response) send(text string) error {
	if err := o.to.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.to.Flush()
}
