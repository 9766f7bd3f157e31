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

// Limits on the cost of watching: how often an answer is renewed, how many at a time, and how many rows each has.
const (
	watchEvery  = time.Second
	watchSoon   = 50 * time.Millisecond // after this process has written what is watched
	watchBeside = 16
	maxWatched  = 100 // rows per page
	maxBearer   = 32  // streams per account, or per address without one

	heartbeat    = 15 * time.Second // keeps proxies from taking the stream for dead
	sureFor      = 5 * time.Second  // the caller is checked again after this time, and at once if this process has changed an account
	writeTimeout = 10 * time.Second // per event: a slower client is disconnected, and connects again
	reconnect    = time.Second
	eventsType   = "text/event-stream"
)

// watching returns the options of the server's hub.
func (o *Options) watching() live.Options {
	return live.Options{Every: watchEvery, Soonest: watchSoon, Timeout: o.Timeout, Beside: watchBeside, Answers: o.Streams, Streams: o.Streams,
		Log: o.Log}
}

// events streams a view's first page as server-sent events, once at the start and again whenever it changes. All clients that ask the same
// share one query per second. A stream ends with its request, or with the server.
func (c *call) events(v *query.View) error {
	if _, err := c.question(v, maxWatched); err != nil {
		return err // as an ordinary problem
	}
	return c.keep("page", v.Name+"?"+c.values.Encode(), c.watched(v))
}

// keep streams an answer as events of the given name, once at the start and again whenever it changes. what identifies the answer among all
// that are watched.
func (c *call) keep(event, what string, ask live.Ask) error {
	if c.r.Method == http.MethodHead {
		c.streamed()
		return nil
	}
	end, err := c.streams.begin(c.bearer())
	if err != nil {
		c.opts.Hooks.Shed()
		return err
	}
	s, err := c.hub.Watch(c.seenBy()+what, ask)
	if err != nil {
		end()
	}
	switch {
	case errors.Is(err, live.ErrFull):
		c.opts.Hooks.Shed()
		return refuse(overloaded, "too many event streams are open")
	case err != nil:
		return refuse(overloaded, err.Error())
	}
	c.streamed()
	c.leave() // before the first byte: whoever has that may take the place at once
	f := &follower{stream: s, name: event, last: c.r.Header.Get("Last-Event-Id"), request: requestID(c.r), still: c.still()}
	conn, _, err := http.NewResponseController(c.w).Hijack()
	if err != nil { // the connection cannot be taken over
		defer end()
		defer s.Close()
		f.out = &response{c.w, http.NewResponseController(c.w)}
		f.follow(c.r.Context()) // without the deadline of ordinary answers
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

// streamed sets the headers of an event stream.
func (c *call) streamed() {
	c.w.Header().Set("Content-Type", eventsType)
	c.w.Header().Set("X-Accel-Buffering", "no") // makes a proxy pass on each event at once
}

// head returns the head of an answer on a connection that will serve no other request.
func head(h http.Header) string {
	var text strings.Builder
	text.WriteString("HTTP/1.1 200 OK\r\n")
	h = h.Clone()
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	_ = h.Write(&text) // a Builder never fails
	return text.String() + "\r\n"
}

// follower sends the states of one stream to one client. It keeps no more of its request than it needs, because there may be ten thousand
// followers.
type follower struct {
	stream  *live.Stream
	out     feed
	head    string      // sent before the first event
	name    string      // of events with the answer
	last    string      // id of what the client has
	request string      // request id, for problems
	still   func() bool // whether the caller is unchanged; nil: nobody in particular
}

// feed sends a text at once, or fails.
type feed interface{ send(text string) error }

// alone follows on a hijacked connection, until the client is gone or sends anything.
func (f *follower) alone(conn net.Conn) {
	ctx, gone := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	defer reading.Wait()
	defer conn.Close() // ends the read
	defer gone()
	reading.Go(func() {
		defer gone()
		var one [1]byte
		_, _ = conn.Read(one[:]) // whatever arrives, the stream ends
	})
	f.out = &taken{conn}
	f.follow(ctx)
}

// follow returns when the client is gone, the server stops, or the caller has changed.
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
			return // the client connects again, and is identified again
		case beat:
			err = f.out.send(": still here\n\n")
		case err != nil:
			return
		case state.Err != nil:
			f.last, err = "", f.problem() // the next page is always sent: it says that the outage is over
		default:
			err = f.state(state.Data)
		}
		if err != nil {
			return
		}
	}
}

// next waits for a state, until the next heartbeat is due.
func next(ctx context.Context, s *live.Stream) (live.State, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	return s.Next(ctx)
}

// watched returns a function that reads a view's first page. It makes a new question each time, because an argument may be a relative time.
func (c *call) watched(v *query.View) live.Ask {
	asked := *c
	asked.w, asked.r, asked.answer, asked.at = nil, nil, nil, nil // the answer outlives the request
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

// renewed returns a function that reads a watched answer. It logs the start of an outage. The function may be called after the request has
// ended.
func (c *call) renewed(ask func(ctx context.Context, through *reading) (any, error)) live.Ask {
	s, log, path, failing := c.Server, c.opts.Log, c.endpoint.path, false
	return func(ctx context.Context, wake func()) ([]byte, func(), error) {
		through, asked := s.newReading(wake), false
		defer func() {
			if !asked { // ask has panicked
				through.close()
			}
		}()
		answer, err := ask(ctx, through)
		asked = true
		if err != nil && !failing && !errors.Is(ctx.Err(), context.Canceled) {
			log.Warn("could not refresh a watched answer", "route", path, "error", query.MaskedError(err, s.opts.Masks))
		}
		if failing = err != nil; err != nil {
			return nil, through.close, err
		}
		var text bytes.Buffer
		err = encode(&text, answer)
		return bytes.TrimSpace(text.Bytes()), through.close, err
	}
}

// seenBy names what an answer depends on besides the question: the caller, its role, and its owner.
func (c *call) seenBy() string {
	if c.id == nil {
		return ""
	}
	return fmt.Sprintf("%s, %q: ", c.sealedFor(), c.id.Account.Owner)
}

// still returns a function that reports whether the caller is the same as at the start of the stream. An expired session, a revoked token,
// and a disabled or changed account end their streams with the next event or heartbeat. Changes by another process take effect after
// sureFor.
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

// sure calls ask if the last call was sureFor ago or changes has moved since. The returned function is not safe for concurrent use.
func sure(changes func() uint64, ask func() bool) func() bool {
	var asked time.Time
	var before uint64
	return func() bool {
		now, n := time.Now(), changes() // read before ask, so that changes in between are seen the next time
		if !asked.IsZero() && now.Sub(asked) < sureFor && n == before {
			return true
		}
		asked, before = now, n
		return ask()
	}
}

// nowhere discards a cookie for a client that already has its answer.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// state sends an answer, unless the client already has it.
func (f *follower) state(data []byte) error {
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:8])
	if id == f.last {
		return nil
	}
	f.last = id
	return f.out.send("id: " + id + "\nevent: " + f.name + "\ndata: " + string(data) + "\n\n")
}

// problem sends that the last answer may be stale. The stream continues.
func (f *follower) problem() error {
	var text strings.Builder
	p := client.Problem{Type: docsPath + "#" + unavailable.name, Title: unavailable.title, Status: unavailable.status,
		Detail: "the page may be stale until the next one", Request: f.request}
	if err := encode(&text, p); err != nil {
		return err
	}
	return f.out.send("event: problem\ndata: " + strings.TrimSpace(text.String()) + "\n\n")
}
