package serve

import (
	"bytes"
	"container/list"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Cache says how old an answer may be that is given again without asking the stores.
type Cache struct {
	MaxAge time.Duration // 0: none is given again
	Bytes  int           // of all that are kept; 64 MiB
}

// cache keeps answers of GET routes for a while. A key names who asks, and with him all that he may see, so that nobody gets what another
// got; what permits and audits a request comes before it. It is bounded in bytes: what was used last stays.
type cache struct {
	opts Cache

	mu    sync.Mutex
	of    map[string]*list.Element
	order *list.List // of *kept, the one used last at the front
	bytes int
}

// kept is an answer.
type kept struct {
	key  string
	body []byte
	etag string
	at   time.Time
}

func newCache(o Cache) *cache {
	return &cache{opts: o, of: map[string]*list.Element{}, order: list.New()}
}

// size is what an answer takes, with what keeps it.
func (k *kept) size() int { return len(k.key) + len(k.body) + 256 }

// get returns an answer that is young enough.
func (c *cache) get(key string, now time.Time) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.of[key]
	if e == nil {
		return nil
	}
	k := e.Value.(*kept)
	if now.Sub(k.at) >= c.opts.MaxAge {
		c.drop(e)
		return nil
	}
	c.order.MoveToFront(e)
	return k
}

// put keeps an answer, unless it is too large to be one of several.
func (c *cache) put(k *kept) {
	if k.size() > c.opts.Bytes/largest {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.of[k.key]; e != nil {
		c.drop(e)
	}
	c.of[k.key] = c.order.PushFront(k)
	for c.bytes += k.size(); c.bytes > c.opts.Bytes; {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	k := c.order.Remove(e).(*kept)
	delete(c.of, k.key)
	c.bytes -= k.size()
}

// largest is the part of the cache that one answer may take: so many of them fit.
const largest = 8

// cached is the key of the request's answer, if that may be one of a moment ago: of rows, to a question that is all in its URL, and of
// which nobody says that it is to show a change.
func (c *call) cached() (key string, ok bool) {
	e, h := c.endpoint, c.r.Header
	ok = c.opts.Cache.MaxAge > 0 && e.method == http.MethodGet && e.on != nil && !e.events && !c.lines && h.Get(afterHeader) == "" &&
		h.Get("If-None-Match") == ""
	return c.seenBy() + "\x00" + c.r.URL.EscapedPath() + "?" + c.values.Encode(), ok
}

// answered runs the route, or answers as it did a moment ago.
func (c *call) answered() error {
	key, ok := c.cached()
	if !ok {
		return c.endpoint.handle(c)
	}
	now := time.Now()
	k := c.cache.get(key, now)
	if c.opts.Hooks.Cached != nil {
		c.opts.Hooks.Cached(k != nil)
	}
	if k != nil {
		h := c.w.Header()
		h.Set("Age", strconv.Itoa(int(now.Sub(k.at).Seconds())))
		h.Set("Content-Type", jsonType)
		if k.etag != "" {
			h.Set("ETag", k.etag)
		}
		_, _ = c.w.Write(k.body) // the asker is gone: nobody is left to answer
		return nil
	}
	out := &copied{ResponseWriter: c.w, left: c.opts.Cache.Bytes / largest}
	c.w = out
	err := c.endpoint.handle(c)
	if err == nil && out.code == 0 && out.left >= 0 {
		c.cache.put(&kept{key: key, body: out.body.Bytes(), etag: out.Header().Get("ETag"), at: now})
	}
	return err
}

// copied keeps what is written, as far as it is not too much.
type copied struct {
	http.ResponseWriter
	code int // 0: 200
	body bytes.Buffer
	left int
}

func (w *copied) WriteHeader(code int) {
	if w.code = code; code == http.StatusOK {
		w.code = 0
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *copied) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left >= 0 {
		w.body.Write(b)
	}
	n, err := w.ResponseWriter.Write(b)
	if err != nil {
		w.left = -1
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *copied) Unwrap() http.ResponseWriter { return w.ResponseWriter }
