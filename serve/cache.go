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
	"brine/rowkey"
)

// Cache says how old an answer may be that is given again without asking the stores.
type Cache struct {
	MaxAge time.Duration // 0: none is given again
	Own    time.Duration // the same, if it is longer, of what was read by keys in tables that this process alone writes
	Bytes  int           // of all that are kept; 64 MiB
}

// cache keeps answers of GET routes for a while. A key names the caller, and with it all that the caller may see, so that nobody gets what
// another got; what permits and audits a request comes before it. It is bounded in bytes: what was used last stays. An answer is marked by
// what it was read from before that is read, and its mark is looked at whenever it is given again: a reading that a row overtakes leaves
// nothing that is given after the row was settled.
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
	of   *reading // what it was read through; nil: this process writes no rows
}

func newCache(o Cache) *cache {
	return &cache{opts: o, of: map[string]*list.Element{}, order: list.New()}
}

// size is what an answer takes, with what keeps it.
func (k *kept) size() int {
	size := len(k.key) + len(k.body) + 256
	if k.of != nil {
		size += perPlace * k.of.mark.Places()
	}
	return size
}

// perPlace is what a mark takes for each prefix of keys.
const perPlace = 256

// overtaken reports whether this process has written a row that may be of the answer, since before it was read.
func (k *kept) overtaken() bool { return k.of != nil && k.of.mark.Hit() }

// get returns an answer that is young enough, and was not overtaken.
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

// maxAge is how old an answer may be, as things are.
func (c *cache) maxAge(k *kept) time.Duration {
	if c.opts.Own > c.opts.MaxAge && k.of.alone() {
		return c.opts.Own
	}
	return c.opts.MaxAge
}

// put keeps an answer and what it was read through, unless it may not be given again, or is too large to be one of several.
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

// drop takes an answer out. What it was read through is to be closed.
func (c *cache) drop(e *list.Element) *reading {
	k := c.order.Remove(e).(*kept)
	delete(c.of, k.key)
	c.bytes -= k.size()
	return k.of
}

// dropped is what answers that were taken out were read through. It is closed once the cache's mutex is free: a mark is taken away between
// two flights of rows, and nobody else is to wait for that.
type dropped []*reading

func (d *dropped) add(r *reading) { *d = append(*d, r) }

func (d *dropped) close() {
	for _, r := range *d {
		r.close()
	}
}

// largest is the part of the cache that one answer may take: so many of them fit.
const largest = 8

// cached is the key of the request's answer, if that may be one of a moment ago: of rows, to a question that is all in its URL, of which
// nobody says that it is to show a change, and which asks the same a moment later.
func (c *call) cached() (key string, ok bool) {
	e, h := c.endpoint, c.r.Header
	ok = max(c.opts.Cache.MaxAge, c.opts.Cache.Own) > 0 && e.method == http.MethodGet && e.on != nil && !e.events && !c.lines &&
		h.Get(afterHeader) == "" && h.Get("If-None-Match") == "" && !c.relative()
	return c.seenBy() + "\x00" + c.r.URL.EscapedPath() + "?" + c.values.Encode(), ok
}

// relative reports whether a time of the question is so long before now.
func (c *call) relative() bool {
	for _, p := range c.endpoint.params {
		if p.kind == rowkey.Time && slices.ContainsFunc(c.values[p.name], when.Ago) {
			return true
		}
	}
	return false
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
