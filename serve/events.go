package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"brine/account"
	"brine/query"
	"brine/serve/client"
	"brine/serve/live"
)

// What watching costs is bounded: so often an answer is asked for, so many at a time, and so many rows each.
const (
	watchEvery  = time.Second
	watchSoon   = 50 * time.Millisecond // where this process has written what is watched
	watchBeside = 16
	maxWatched  = 100 // rows of a page
	maxBearer   = 32  // streams of an account, or of an address without one

	heartbeat    = 15 * time.Second // so that what stands between does not take the stream for dead
	sureFor      = 5 * time.Second  // the caller is looked up again after so long, and at once when this process has changed an account
	writeTimeout = 10 * time.Second // of one event: who reads slower is given up, and asks again
	reconnect    = time.Second
	eventsType   = "text/event-stream"
)

// watching are the bounds of the server's hub.
func (o *Options) watching() live.Options {
	return live.Options{Every: watchEvery, Soonest: watchSoon, Timeout: o.Timeout, Beside: watchBeside, Answers: o.Streams, Streams: o.Streams,
		Log: o.Log}
}

// events streams a view's first page, and again whenever it changes, as server-sent events. All who ask the same are served by one asking
// a second. A stream ends with its request, or with the server.
func (c *call) events(v *query.View) error {
	if _, err := c.question(v, maxWatched); err != nil {
		return err // a problem as any other
	}
	return c.keep("page", v.Name+"?"+c.values.Encode(), c.watched(v))
}

// keep streams an answer as it is, and again whenever it changes, as events of a name. What names the answer among all that are watched.
func (c *call) keep(event, what string, ask live.Ask) error {
	if c.r.Method == http.MethodHead {
		c.streamed()
		return nil
	}
	end, err := c.streams.begin(c.bearer())
	if err != nil {
		called(c.opts.Hooks.Shed)
		return err
	}
	s, err := c.hub.Watch(c.seenBy()+what, ask)
	if err != nil {
		end()
	}
	switch {
	case errors.Is(err, live.ErrFull):
		called(c.opts.Hooks.Shed)
		return refuse(overloaded, "as many event streams as may be are open")
	case err != nil:
		return refuse(overloaded, err.Error())
	}
	c.streamed()
	f := &follower{stream: s, name: event, last: c.r.Header.Get("Last-Event-Id"), request: requestID(c.r), still: c.still()}
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil { // there is no connection to take
		defer end()
		defer s.Close()
		c.leave()
		f.out = &response{c.w, http.NewResponseController(c.w)}
		f.follow(c.r.Context()) // without the deadline of answers
		return nil
	}
	f.head = head(c.w.Header())
	c.streams.take(conn, func() {
		defer end()
		defer s.Close()
		f.alone(conn)
	})
	return nil
}

// streamed says what the answer is.
func (c *call) streamed() {
	c.w.Header().Set("Content-Type", eventsType)
	c.w.Header().Set("X-Accel-Buffering", "no") // a proxy passes on each event as it comes
}

// head begins an answer on a connection that nothing else will be asked on.
func head(h http.Header) string {
	var text strings.Builder
	text.WriteString("HTTP/1.1 200 OK\r\n")
	h = h.Clone()
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	_ = h.Write(&text) // a Builder takes everything
	return text.String() + "\r\n"
}

// follower sends the states of one stream to one client. It holds nothing of the request that began it but what it needs: there may be ten
// thousand of them.
type follower struct {
	stream  *live.Stream
	out     feed
	head    string      // what comes before the first event
	name    string      // of the events that hold the answer
	last    string      // the id of what the client has
	request string      // the id of the request, for problems
	still   func() bool // whether the caller is still who it was; nil: nobody in particular
}

// feed sends a text now, or fails.
type feed interface{ send(text string) error }

// alone follows on a connection of the follower's own, until its client is gone or says anything.
func (f *follower) alone(conn net.Conn) {
	ctx, gone := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	defer reading.Wait()
	defer conn.Close() // ends the reading
	defer gone()
	reading.Go(func() {
		defer gone()
		var one [1]byte
		_, _ = conn.Read(one[:]) // whatever comes, no stream is wanted any more
	})
	f.out = &taken{conn}
	f.follow(ctx)
}

// follow returns when the client is gone, when the server ends, or when the caller is no longer who it was.
func (f *follower) follow(ctx context.Context) {
	if f.out.send(fmt.Sprintf("%sretry: %d\n\n", f.head, reconnect.Milliseconds())) != nil {
		return
	}
	f.head = ""
	for {
		state, err := next(ctx, f.stream)
		beat := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
		switch {
		case (err == nil || beat) && f.still != nil && !f.still():
			return // it connects again, and is answered as whom it is then
		case beat:
			err = f.out.send(": still here\n\n")
		case err != nil:
			return
		case state.Err != nil:
			f.last, err = "", f.problem() // the next page is sent in any case: it says that the outage is over
		default:
			err = f.state(state.Data)
		}
		if err != nil {
			return
		}
	}
}

// next waits for a state until it is time for a heartbeat.
func next(ctx context.Context, s *live.Stream) (live.State, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	return s.Next(ctx)
}

// watched asks for a view's first page, each time by a question of its own: an argument may say how long ago.
func (c *call) watched(v *query.View) live.Ask {
	asked := *c
	asked.w, asked.r = nil, nil // the answer outlives the request
	return c.renewed(func(ctx context.Context, through *reading) (any, error) {
		now := asked
		now.reading = through
		q, err := now.question(v, maxWatched)
		if err != nil {
			return nil, err
		}
		return now.page(ctx, q, now.opts.PageBytes)
	})
}

// renewed asks for an answer that is watched. An outage is logged when it begins. It may be called when the request has ended.
func (c *call) renewed(ask func(ctx context.Context, through *reading) (any, error)) live.Ask {
	s, log, path, failing := c.Server, c.opts.Log, c.endpoint.path, false
	return func(ctx context.Context, wake func()) ([]byte, func(), error) {
		through, asked := s.newReading(wake), false
		defer func() {
			if !asked { // it has panicked
				through.close()
			}
		}()
		answer, err := ask(ctx, through)
		asked = true
		if err != nil && !failing && !errors.Is(ctx.Err(), context.Canceled) {
			log.Warn("an answer that is watched was not renewed", "route", path, "error", err)
		}
		if failing = err != nil; err != nil {
			return nil, through.close, err
		}
		var text bytes.Buffer
		err = encode(&text, answer)
		return bytes.TrimSpace(text.Bytes()), through.close, err
	}
}

// seenBy names all that an answer depends on besides the question: the caller, its role, and whose rows are its own.
func (c *call) seenBy() string {
	if c.id == nil {
		return ""
	}
	return fmt.Sprintf("%s, %q: ", c.sealedFor(), c.id.Account.Owner)
}

// still returns a function that reports whether the caller is still who it was when the stream began: a session that is over, a token that
// was revoked and an account that was disabled or changed end their streams with the next event or heartbeat. What another process has
// changed shows once sureFor is over.
func (c *call) still() func() bool {
	if c.id == nil {
		return nil
	}
	was, server, e := c.seenBy(), c.Server, c.endpoint
	r := c.r.Clone(context.Background())
	r.Body = http.NoBody
	return sure(c.opts.Accounts.Changes, func() bool {
		now := call{Server: server, endpoint: e, w: nowhere{}, r: r, ctx: r.Context()}
		if now.identify() != nil || now.id == nil || now.id.Stale && now.id.Role != account.Customer {
			return false
		}
		return now.seenBy() == was
	})
}

// sure asks again where it did not for sureFor, or changes has moved since. It is for one goroutine.
func sure(changes func() uint64, ask func() bool) func() bool {
	var asked time.Time
	var before uint64
	return func() bool {
		now, n := time.Now(), changes() // before it is asked: what changes meanwhile is seen the next time
		if !asked.IsZero() && now.Sub(asked) < sureFor && n == before {
			return true
		}
		asked, before = now, n
		return ask()
	}
}

// nowhere is where a cookie is taken back from a client that has its answer.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// state sends an answer, unless it is the one that the client has already.
func (f *follower) state(data []byte) error {
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:8])
	if id == f.last {
		return nil
	}
	f.last = id
	return f.out.send("id: " + id + "\nevent: " + f.name + "\ndata: " + string(data) + "\n\n")
}

// problem says that the answer that was sent last may be old. The stream goes on.
func (f *follower) problem() error {
	var text strings.Builder
	p := client.Problem{Type: docsPath + "#" + unavailable.name, Title: unavailable.title, Status: unavailable.status,
		Detail: "the page may be old until the next one comes", Request: f.request}
	if err := encode(&text, p); err != nil {
		return err
	}
	return f.out.send("event: problem\ndata: " + strings.TrimSpace(text.String()) + "\n\n")
}
