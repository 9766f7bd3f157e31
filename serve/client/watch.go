package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	watchAgain = time.Second // delay after a lost connection
	maxEvent   = 16 << 20    // bytes
)

// Watch calls see with a view's first page, once at the start and again each time it has changed, until ctx is done or see returns an
// error, and returns either error. stale says why the last page may be out of date; page is empty then. After a lost connection or a
// temporary refusal (503), Watch tries again each second, and delivers what has changed meanwhile. Any other refusal ends it with a
// *Problem.
func (c *Client) Watch(ctx context.Context, view string, params url.Values, see func(page Page, stale *Problem) error) error {
	return c.watch(ctx, viewPath(view)+"/events", params, "page", func(data []byte, stale *Problem) error {
		var page Page
		if data != nil {
			if err := json.Unmarshal(data, &page); err != nil {
				return err
			}
		}
		return see(page, stale)
	})
}

// watch calls see with the data of the named events, and with problems; see Watch.
func (c *Client) watch(ctx context.Context, path string, params url.Values, event string,
	see func(data []byte, stale *Problem) error) error {
	w := watch{event: event, see: see}
	for {
		resp, err := c.do(ctx, http.MethodGet, path, params, nil, "Accept", "text/event-stream", "Last-Event-ID", w.last)
		if err == nil {
			err = errors.Join(w.read(resp.Body), resp.Body.Close())
		}
		p, refused := errors.AsType[*Problem](err)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case w.seen != nil:
			return w.seen
		case refused && p.Status != http.StatusServiceUnavailable:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(watchAgain):
		}
	}
}

// watch is the state that outlives a connection.
type watch struct {
	event string // name of the events to deliver
	see   func([]byte, *Problem) error
	seen  error  // error returned by see
	last  string // id of the last delivered event
}

// read delivers the events of one connection.
func (w *watch) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEvent)
	var id, event, data string
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data = value
		case "": // the end of an event, or a comment
			if err := w.take(id, event, data); err != nil {
				return err
			}
			id, event, data = "", "", ""
		}
	}
	return lines.Err()
}

func (w *watch) take(id, event, data string) error {
	switch event {
	case w.event:
		w.last, w.seen = id, w.see([]byte(data), nil)
	case "problem":
		stale := new(Problem)
		if err := json.Unmarshal([]byte(data), stale); err != nil {
			return err
		}
		w.last, w.seen = id, w.see(nil, stale)
	}
	return w.seen
}
