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

// streams are the event streams of all bearers. What HTTP has them begun by is kept for none of them: each that can takes its connection,
// and is a goroutine that writes, one that waits for its client to leave, and what package live keeps of it.
type streams struct {
	most int // of a bearer
	log  *slog.Logger

	mu    sync.Mutex
	open  map[string]int        // by bearer
	conns map[net.Conn]struct{} // that were taken
	done  sync.WaitGroup        // of their goroutines
	ended bool                  // none begins any more
}

func newStreams(log *slog.Logger) *streams {
	return &streams{most: math.MaxInt, log: log, open: map[string]int{}, conns: map[net.Conn]struct{}{}}
}

// begin counts one more, unless the bearer has as many as may be, and returns what ends it.
func (s *streams) begin(bearer string) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return nil, refuse(overloaded, live.ErrClosed.Error())
	case s.open[bearer] >= s.most:
		return nil, refuse(tooMany, "as many event streams of yours are open as may be")
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

// take has a goroutine of its own work on a connection. A panic ends this stream, as it ends a request, and not the process.
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

// wait waits until all have ended, as they do by themselves once nothing is watched any more. Those whose clients read too slowly for that
// are cut off when ctx ends.
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

// taken writes to a connection that is the stream's alone.
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
