package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
	watchBeside = 16
	maxWatched  = 100 // rows of a page
	maxBearer   = 32  // streams of an account, or of an address without one

	heartbeat    = 15 * time.Second // so that what stands between does not take the stream for dead
	writeTimeout = 10 * time.Second // of one event: who reads slower is given up, and asks again
	reconnect    = time.Second
	eventsType   = "text/event-stream"
)

// watching are the bounds of the server's hub.
func (o *Options) watching() live.Options {
	return live.Options{Every: watchEvery, Timeout: o.Timeout, Beside: watchBeside, Answers: o.Streams, Streams: o.Streams}
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
	if !c.streams.begin(c.bearer()) {
		called(c.opts.Hooks.Shed)
		return refuse(tooMany, "as many event streams of yours are open as may be")
	}
	defer c.streams.end(c.bearer())
	s, err := c.hub.Watch(c.seenBy()+what, ask)
	switch {
	case errors.Is(err, live.ErrFull):
		called(c.opts.Hooks.Shed)
		return refuse(overloaded, "as many event streams as may be are open")
	case err != nil:
		return refuse(overloaded, err.Error())
	}
	defer s.Close()
	c.leave()
	ctx := c.r.Context() // without the deadline of answers
	h := c.w.Header()
	h.Set("Content-Type", eventsType)
	h.Set("X-Accel-Buffering", "no") // a proxy passes on each event as it comes
	out := events{c.w, http.NewResponseController(c.w), event}
	_ = out.to.SetReadDeadline(time.Time{}) // the request has been read, and its deadline would end the stream
	if out.send(fmt.Sprintf("retry: %d\n\n", reconnect.Milliseconds())) != nil {
		return nil // the asker is gone, as below: nobody is left to answer
	}
	for last := c.r.Header.Get("Last-Event-Id"); ; {
		state, err := next(ctx, s)
		beat := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
		switch {
		case (err == nil || beat) && !c.still():
			return nil // it connects again, and is answered as whom it is then
		case beat:
			err = out.send(": still here\n\n")
		case err != nil:
			return nil //nolint:nilerr // the asker is gone, or the server ends
		case state.Err != nil:
			last, err = "", out.problem(requestID(c.r)) // the next page is sent in any case: it says that the outage is over
		default:
			last, err = out.state(state.Data, last)
		}
		if err != nil {
			return nil
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
	return c.renewed(func(ctx context.Context) (any, error) {
		q, err := asked.question(v, maxWatched)
		if err != nil {
			return nil, err
		}
		return asked.page(ctx, q, asked.opts.PageBytes)
	})
}

// renewed asks for an answer that is watched. An outage is logged when it begins. It may be called when the request has ended.
func (c *call) renewed(ask func(ctx context.Context) (any, error)) live.Ask {
	log, path, failing := c.opts.Log, c.endpoint.path, false
	return func(ctx context.Context) ([]byte, error) {
		answer, err := ask(ctx)
		if err != nil && !failing && !errors.Is(ctx.Err(), context.Canceled) {
			log.Warn("an answer that is watched was not renewed", "route", path, "error", err)
		}
		if failing = err != nil; err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = encode(&text, answer)
		return bytes.TrimSpace(text.Bytes()), err
	}
}

// seenBy names all that an answer depends on besides the question: who asks, in which role, and whose rows are its own.
func (c *call) seenBy() string {
	if c.id == nil {
		return ""
	}
	return fmt.Sprintf("%s, %q: ", c.sealedFor(), c.id.Account.Owner)
}

// still reports whether who asks is who it was when the stream began: a session that is over, a token that was revoked and an account that
// was disabled or changed end their streams with the next event or heartbeat.
func (c *call) still() bool {
	if c.id == nil {
		return true
	}
	now := call{Server: c.Server, endpoint: c.endpoint, w: c.w, r: c.r, ctx: c.r.Context()}
	if now.identify() != nil || now.id == nil || now.id.Stale && now.id.Role != account.Customer {
		return false
	}
	return now.seenBy() == c.seenBy()
}

// streams counts the event streams of each bearer.
type streams struct {
	mu   sync.Mutex
	most int
	open map[string]int
}

// begin counts one more, unless the bearer has as many as may be.
func (s *streams) begin(bearer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[bearer] >= s.most {
		return false
	}
	s.open[bearer]++
	return true
}

func (s *streams) end(bearer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[bearer]--; s.open[bearer] == 0 {
		delete(s.open, bearer)
	}
}

// events writes to one stream.
type events struct {
	w  http.ResponseWriter
	to *http.ResponseController

	name string // of the events that hold the answer
}

// send sends a text now, or fails.
func (o *events) send(text string) error {
	if err := o.to.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.to.Flush()
}

// state sends an answer, unless it is the one that the client has already. It returns the id of what the client has then.
func (o *events) state(data []byte, last string) (string, error) {
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:8])
	if id == last {
		return id, nil
	}
	return id, o.send("id: " + id + "\nevent: " + o.name + "\ndata: " + string(data) + "\n\n")
}

// problem says that the answer that was sent last may be old. The stream goes on.
func (o *events) problem(request string) error {
	var text strings.Builder
	p := client.Problem{Type: docsPath + "#" + unavailable.name, Title: unavailable.title, Status: unavailable.status,
		Detail: "the page may be old until the next one comes", Request: request}
	if err := encode(&text, p); err != nil {
		return err
	}
	return o.send("event: problem\ndata: " + strings.TrimSpace(text.String()) + "\n\n")
}
