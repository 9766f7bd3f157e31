package registry

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
)

// Client finds schemas. It is safe for concurrent use.
type Client struct {
	o      Options
	api    *sr.Client
	own    *sr.Client // Apicurio's own API; nil if the URLs are not those of its ccompat API
	memory memory
	dir    dir
	now    func() time.Time

	flights singleflight.Group
	running sync.WaitGroup // fetches
	ctx     context.Context
	stop    context.CancelFunc

	mu     sync.Mutex
	closed bool
	failed map[ID]*failure // guarded by mu
}

// failure is what is known about an id whose schema could not be fetched.
type failure struct {
	err     *Error
	until   time.Time // no request for it before then
	missing time.Time // when it was first not found, without any other answer since; zero if the last answer was another
	tries   int       // consecutive failures
}

// maxFailures bounds the number of remembered failures.
const maxFailures = 10_000

// New returns a client. It sends no request, and creates the folder of the cache.
func New(o Options) (*Client, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Client{o: o, now: time.Now, failed: map[ID]*failure{}}
	c.memory.init(o.MaxSchemas, o.MaxBytes)
	if err := c.dir.open(o.Cache, o.URLs); err != nil {
		return nil, err
	}
	if err := c.connect(); err != nil {
		return nil, err
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c, nil
}

// Close cancels running fetches and waits for them. Lookup still works afterwards.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.running.Wait()
	if t, ok := c.o.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Framing returns how records name their schemas, as set in the options.
func (c *Client) Framing() Framing { return c.o.Framing }

// Lookup returns the schema if it is in memory. It sends no request and allocates nothing.
func (c *Client) Lookup(id ID) (*Schema, bool) { return c.memory.get(id) }

// Resolve loads the schemas of all ids into memory, or returns an error: the gravest *Error of all ids, or ctx's error. If the error is
// Unknown, the schemas of all other ids are in memory, and Schema returns each unknown id's own error without a request.
//
// It sends one request per id that is neither in memory nor in the cache, however many callers ask for it. It does not wait and retry: that
// is up to the caller, whose operators know its backoff. Soon after a failure, it returns the same error without a request.
func (c *Client) Resolve(ctx context.Context, ids ...ID) error {
	lacking, seen := []ID(nil), map[ID]bool{}
	for _, id := range ids {
		if _, ok := c.memory.get(id); !ok && !seen[id] {
			seen[id] = true
			lacking = append(lacking, id)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	// Any error but "not found" ends the requests: if the registry is away, the others would wait as long.
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(c.o.Calls)
	var mu sync.Mutex
	var gravest *Error
	for _, id := range lacking {
		group.Go(func() error {
			if within.Err() != nil {
				return nil
			}
			_, err := c.Schema(within, id)
			var e *Error
			if !errors.As(err, &e) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if gravest == nil || e.Outcome > gravest.Outcome {
				gravest = e
			}
			if e.Outcome == Unknown || e.Status == http.StatusNotFound {
				return nil // go on: each id's Options.UnknownAfter begins with its first request
			}
			return e
		})
	}
	err := group.Wait()
	switch {
	case gravest != nil:
		return gravest
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// Schema returns the schema of an id, from memory, the cache or the registry. Its error is an *Error or ctx's error.
func (c *Client) Schema(ctx context.Context, id ID) (*Schema, error) {
	if s, ok := c.memory.get(id); ok {
		return s, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.recent(id); err != nil {
		return nil, err
	}
	// The fetch is for all callers, so it continues when the first caller gives up.
	answer := c.flights.DoChan(id.String(), func() (any, error) {
		if s, ok := c.memory.get(id); ok { // by a fetch that has just ended
			return s, nil
		}
		return c.fetch(id)
	})
	select {
	case r := <-answer:
		s, _ := r.Val.(*Schema)
		return s, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Check checks that the registry answers and accepts the credentials.
func (c *Client) Check(ctx context.Context) error {
	var types []string
	if err := c.get(ctx, c.api, "/schemas/types", &types); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := c.explain(ID{}, err)
		if e.Status == http.StatusNotFound {
			e.Fix = notThereFix
		}
		return e
	}
	return nil
}

// Newest returns the newest schema of a subject, or nil if the registry does not know the subject. It sends a request each time, and does
// not cache the answer. The error is an *Error or ctx's error.
func (c *Client) Newest(ctx context.Context, subject string) (*Schema, error) {
	s, err := c.at(ctx, ID{}, "/subjects/"+url.PathEscape(subject)+"/versions/latest")
	if err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	e := c.explain(ID{}, err)
	if e.Code/100 == http.StatusNotFound { // 40401: from a registry itself
		return nil, nil //nolint:nilnil // as documented
	}
	return nil, e
}

// recent returns the error of an id that must not be requested yet.
func (c *Client) recent(id ID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.failed[id]; f != nil && c.now().Before(f.until) {
		return f.err
	}
	return nil
}

// fetch fetches a schema that is not in memory. It runs at most once per id at a time.
func (c *Client) fetch(id ID) (*Schema, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, &Error{Outcome: Retry, ID: id, URL: c.o.URLs[0], Cause: "the client was closed", err: http.ErrServerClosed}
	}
	c.running.Add(1)
	c.mu.Unlock()
	defer c.running.Done()

	began := time.Now()
	s, err := c.dir.read(id, c.o.MaxAnswerBytes)
	if err != nil {
		c.o.Hooks.Kept(KeptInfo{ID: id, Path: c.dir.path(id), Err: err})
	}
	info := FetchedInfo{ID: id, FromDir: s != nil}
	if s == nil {
		// A registry that answers many requests, each of them late, must not hold up a fetch forever.
		ctx, cancel := context.WithTimeout(c.ctx, fetchTimeouts*c.o.Timeout)
		defer cancel()
		if s, err = c.ask(ctx, id); err != nil {
			e := c.fail(ctx, id, err)
			info.Outcome, info.Err, info.Waited = e.Outcome, e, time.Since(began)
			c.o.Hooks.Fetched(info)
			return nil, e
		}
		c.keep(s)
	}
	c.mu.Lock()
	delete(c.failed, id)
	c.mu.Unlock()
	schemas, bytes, evicted := c.memory.put(s)
	info.Waited, info.Schema = time.Since(began), s
	c.o.Hooks.Fetched(info)
	c.o.Hooks.Cached(CachedInfo{Schemas: schemas, Bytes: bytes, Evicted: evicted})
	return s, nil
}

// fetchTimeouts is how many times Options.Timeout a schema with its references may take.
const fetchTimeouts = 4

// keep writes the schema to the cache. It reports a failed write, but the schema is returned all the same.
func (c *Client) keep(s *Schema) {
	if c.o.Cache != "" {
		c.o.Hooks.Kept(KeptInfo{ID: s.ID, Path: c.dir.path(s.ID), Written: true, Err: c.dir.write(s)})
	}
}
