package serve

import (
	"bytes"
	"container/list"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"brine/internal/when"
)

// Cache says how old a cached answer may be.
type Cache struct {
	MaxAge time.Duration // 0: no caching
	Own    time.Duration // the same, if longer, for what was read by key from tables that only this process writes
	Bytes  int           // total size of cached answers; default 64 MiB
}

// cache caches answers of GET routes for a while. A key includes the caller, and so all that the caller may see, so that nobody gets
// another caller's answer. Permission checks and the audit come before the cache. The cache is bounded in bytes and evicts the least
// recently used answers. Before an answer is read, what it reads is marked, and the mark is checked whenever the answer is reused: an
// answer that a write overtakes is never reused after the row was settled.
type cache struct {
	opts Cache

	mu    sync.Mutex
	of    map[string]*list.Element
	order *list.List // of *kept, most recently used first
	bytes int
}

// kept is a cached answer.
type kept struct {
	key  string
	body []byte
	etag string
	at   time.Time
	of   *reading // what it was read through; nil: this process writes no rows
}

func newCache(o Cache) *cache {
	return &cache{opts: o, of: map[string]*list.Element{}, order: list.New()}
}

// size returns the memory that a cached answer takes.
func (k *kept) size() int {
	size := len(k.key) + len(k.body) + 256
	if k.of != nil {
		size += perPlace * k.of.mark.Places()
	}
	return size
}

// perPlace is the memory that a mark takes per key prefix.
const perPlace = 256

// overtaken reports whether, since before the answer was read, this process has written a row that may belong to it.
func (k *kept) overtaken() bool { return k.of != nil && k.of.mark.Hit() }

// get returns the cached answer for key if it is fresh and not overtaken, and nil otherwise.
func (c *cache) get(key string, now time.Time) *kept {
	var out dropped
	defer out.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.of[key]
	if e == nil {
		return nil
	}
	k := e.Value.(*kept)
	if now.Sub(k.at) >= c.maxAge(k) || k.overtaken() {
		out.add(c.drop(e))
		return nil
	}
	c.order.MoveToFront(e)
	return k
}

// maxAge returns how old an answer may be at present.
func (c *cache) maxAge(k *kept) time.Duration {
	if c.opts.Own > c.opts.MaxAge && k.of.alone() {
		return c.opts.Own
	}
	return c.opts.MaxAge
}

// put caches an answer and what it was read through, unless the answer may not be reused or is too large.
func (c *cache) put(k *kept) {
	if c.maxAge(k) == 0 || k.size() > c.opts.Bytes/largest {
		k.of.close()
		return
	}
	var out dropped
	defer out.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.of[k.key]; e != nil {
		out.add(c.drop(e))
	}
	c.of[k.key] = c.order.PushFront(k)
	for c.bytes += k.size(); c.bytes > c.opts.Bytes; {
		out.add(c.drop(c.order.Back()))
	}
}

// drop removes an answer. The caller closes the reading.
func (c *cache) drop(e *list.Element) *reading {
	k := c.order.Remove(e).(*kept)
	delete(c.of, k.key)
	c.bytes -= k.size()
	return k.of
}

// dropped are the readings of removed answers. They are closed after the cache's mutex is released, because closing a mark waits for a
// gap between two flights of rows, and nobody else should wait for that.
type dropped []*reading

func (d *dropped) add(r *reading) { *d = append(*d, r) }

func (d *dropped) close() {
	for _, r := range *d {
		r.close()
	}
}

// largest is the least number of answers that the cache has room for.
const largest = 8

// cacheable reports whether a cached answer may be sent: for rows, asked for entirely by the URL, without a change that it must show, and
// without relative times.
func (c *call) cacheable() bool {
	e, h := c.endpoint, c.r.Header
	return max(c.opts.Cache.MaxAge, c.opts.Cache.Own) > 0 && e.method == http.MethodGet && e.on != nil && !e.events && !c.lines &&
		h.Get(afterHeader) == "" && h.Get("If-None-Match") == "" && !c.relative()
}

// relative reports whether the question has a time relative to now.
func (c *call) relative() bool {
	for _, p := range c.endpoint.params {
		if p.timed() && slices.ContainsFunc(c.values[p.name], when.Ago) {
			return true
		}
	}
	return false
}

// answered runs the route, or sends a cached answer.
func (c *call) answered() error {
	if !c.cacheable() {
		return c.endpoint.handle(c)
	}
	key := c.seenBy() + "\x00" + c.r.URL.EscapedPath() + "?" + c.values.Encode()
	now := time.Now()
	k := c.cache.get(key, now)
	c.opts.Hooks.Cached(k != nil)
	if k != nil {
		h := c.w.Header()
		h.Set("Age", strconv.Itoa(int(now.Sub(k.at).Seconds())))
		if k.etag != "" {
			h.Set("ETag", k.etag)
		}
		return c.send(k.body)
	}
	out := &copied{ResponseWriter: c.w, left: c.opts.Cache.Bytes / largest}
	c.w, c.reading = out, c.newReading(nil)
	keeps := false
	defer func() {
		if !keeps {
			c.reading.close()
		}
	}()
	err := c.endpoint.handle(c)
	if keeps = err == nil && out.code == 0 && out.left >= 0; keeps {
		c.cache.put(&kept{key: key, body: out.body.Bytes(), etag: out.Header().Get("ETag"), at: now, of: c.reading})
	}
	return err
}

// copied copies what is written, up to a limit.
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

// Unwrap implements http.ResponseController's unwrapping.
func (w *copied) Unwrap() http.ResponseWriter { return w.ResponseWriter }
