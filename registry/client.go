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
	own    *sr.Client // Apicurio's own API, nil where the URLs are not those of its ccompat
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

// failure is what is known of an id that could not be had.
type failure struct {
	err     *Error
	until   time.Time // before then it is not asked for again
	missing time.Time // when it was not found first, since anything else was answered; zero if the last answer was another
	tries   int       // in a row
}

// maxFailures bounds how many ids are remembered that could not be had.
const maxFailures = 10_000

// New returns a client. It asks the registry nothing, and makes the folder of the cache.
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

// Close ends what is being fetched and waits for it. Lookup goes on to answer.
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

// Framing is how records name their schemas, as the options say.
func (c *Client) Framing() Framing { return c.o.Framing }

// Lookup returns the schema if it is in memory. It asks nobody and allocates nothing.
func (c *Client) Lookup(id ID) (*Schema, bool) { return c.memory.get(id) }

// Resolve has all of the ids in memory when it returns nil. Its error is the gravest *Error of all ids, or that of ctx; if it is Unknown,
// every other id is in memory, and Schema returns for each unknown one its own error without asking.
//
// It asks the registry once for each id that is neither in memory nor in the cache, however many callers ask for it; it does not wait and
// try again: the caller does, whose pauses its operators know. Soon after a failure the same error is returned without asking.
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
	// One that must be waited for ends the asking: the others of a registry that is away would wait as long.
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
				return nil // the time of each begins when it is asked for first
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

// Schema returns the schema of an id, from memory, the cache or the registry. Its error is an *Error or that of ctx.
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
	// The fetch is for everybody who asks, so it does not end when the first caller gives up.
	answer := c.flights.DoChan(id.String(), func() (any, error) {
		if s, ok := c.memory.get(id); ok { // by a fetch that has ended meanwhile
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

// Check asks the registry whether it is there and lets us in.
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

// Newest returns the newest schema of a subject; nil where the registry knows no such subject. It is asked each time, and its answer is not
// kept. The error is an *Error, or that of ctx.
func (c *Client) Newest(ctx context.Context, subject string) (*Schema, error) {
	s, err := c.at(ctx, ID{}, "/subjects/"+url.PathEscape(subject)+"/versions/latest")
	if err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	e := c.explain(ID{}, err)
	if e.Code/100 == http.StatusNotFound { // 40401: a registry's own
		return nil, nil //nolint:nilnil // as documented
	}
	return nil, e
}

// recent returns the error of an id that is not to be asked for yet.
func (c *Client) recent(id ID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.failed[id]; f != nil && c.now().Before(f.until) {
		return f.err
	}
	return nil
}

// fetch finds a schema that is not in memory. It runs once for each id at a time.
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
		// A registry that answers each of many requests late must not hold a fetch forever.
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

// fetchTimeouts is how many times Options.Timeout a schema may take with its references.
const fetchTimeouts = 4

// keep writes the schema into the cache. That it cannot be written is reported, and no reason to have no schema.
func (c *Client) keep(s *Schema) {
	if c.o.Cache != "" {
		c.o.Hooks.Kept(KeptInfo{ID: s.ID, Path: c.dir.path(s.ID), Written: true, Err: c.dir.write(s)})
	}
}
