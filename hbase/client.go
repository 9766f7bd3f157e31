package hbase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Hooks are told what the client does. A nil hook is not called. They are called from the client's own goroutines, must be
// safe for concurrent use, and must not block.
type Hooks struct {
	Call     func(CallInfo)     // after every RPC
	Send     func(SendInfo)     // before every call of mutations
	Sent     func(*SentInfo)    // after every call of mutations
	Retry    func(RetryInfo)    // before every wait and resend
	Applied  func(*AppliedInfo) // per region and answered Multi: how much was acknowledged
	Flush    func(FlushInfo)    // whenever a Mutator lets mutations go
	Buffered func(bytes int)    // bytes of mutations in memory, whenever it changes by a batch
	Dial     func(addr string, err error)
	Untested func(version string) // once, within Open: the master's release is none that this client is tested with
}

// CallInfo is one finished RPC.
type CallInfo struct {
	Server   string
	Method   string
	Duration time.Duration
	Sent     int // bytes of the frame
	Err      error
}

// SendInfo is one call of mutations that leaves.
type SendInfo struct {
	Server  string
	Regions int
	Rows    int
	Bytes   int           // of their cells
	Waited  time.Duration // since the Submit of the one that waited longest
	Out     int           // calls of mutations that are out to the server, with this one
}

// SentInfo is one finished call of mutations. It is valid while the hook runs.
type SentInfo struct {
	Server   string
	Regions  int
	Rows     int
	Left     time.Time     // when it was sent
	Duration time.Duration // from then to its answer
	Again    int           // mutations that are sent once more
	Err      error         // of the call as a whole

	parts []*part
}

// Contexts returns the contexts of the Submits whose mutations the call carried, one for each flight and region.
func (s *SentInfo) Contexts(yield func(context.Context) bool) {
	for _, p := range s.parts {
		var last *Flight
		for _, e := range p.entries {
			if e.flight != last {
				if last = e.flight; !yield(last.ctx) {
					return
				}
			}
		}
	}
}

// RetryInfo is one retry of one region's mutations, or of a read.
type RetryInfo struct {
	Table, Region, Server string
	Class                 string // exception class (NoServerForRegionException: hbase:meta has the region on no server), or "timeout", "connection", "invalid response"; see Reason
	Remedy                string // wait, relocate, reconnect, split, isolate, reopen
	Pause                 time.Duration
	Mutations             int
	Failures              int   // in a row, of the region or the read
	Err                   error // of the last; it names the server
}

// AppliedInfo is what one region acknowledged in one call. It is valid while the hook runs.
type AppliedInfo struct {
	Table    string
	Region   *Region
	Rows     int
	Bytes    int
	Duration time.Duration // from sending the call to its answer

	applied []entry
}

// Row is the row key of the mutation at i, less than Rows; nil in an AppliedInfo that is not the client's.
func (a *AppliedInfo) Row(i int) []byte {
	if a.applied == nil {
		return nil
	}
	return a.applied[i].row()
}

// Client is a client of one HBase cluster. It is safe for concurrent use; one per process is enough.
type Client struct {
	opts     Options
	servers  *servers
	registry registry
	locator  *locator
	writer   *writer
	auto     *Mutator // behind Submit

	nonceGroup uint64                 // of this client's increments and appends
	masterAddr atomic.Pointer[string] // of the active master; nil: to be asked

	ctx    context.Context // ends with Close, and everything with it
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // every goroutine of the client's
	closed sync.Once
}

// Open checks the options, finds hbase:meta, and returns a client, or an error that says what was tried at which address. It waits
// for a cluster that says it is starting, for as long as ctx and OperationTimeout allow. It needs no master: see Master.
func Open(ctx context.Context, opts Options) (*Client, error) {
	dial := opts.Dial
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("hbase options: %w", err)
	}
	to, err := parseConnect(opts.Connect)
	if err != nil {
		return nil, err
	}
	c := &Client{opts: opts, nonceGroup: rand.Uint64() | 1} // 0 is none
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.servers = newServers(c.ctx, &c.opts, &c.wg)
	c.locator = &locator{servers: c.servers}
	c.registry = &rpcRegistry{addrs: to.addrs, servers: c.servers, known: c.locator.known}
	if to.zooKeeper {
		c.registry = &zkRegistry{quorum: joinQuorum(to.addrs, dial), parent: to.znode, patience: opts.DialTimeout}
	}
	c.locator.registry = c.registry
	c.writer = newWriter(c)
	c.auto = c.newMutator(MutatorOptions{Autoflush: true, WriteBuffer: 1, Retries: opts.Retries, Pause: opts.Pause})
	if err := c.findCluster(ctx); err != nil {
		_ = c.Close() // the error to tell is why it did not open
		return nil, fmt.Errorf("open %s: %w", opts.Connect, err)
	}
	c.warnOfVersion(ctx)
	return c, nil
}

// findCluster waits out a cluster that is starting; one of which no server can be reached is an error at once.
func (c *Client) findCluster(ctx context.Context) error {
	t := c.newTries("find", "the cluster")
	t.admin = true
	return t.run(ctx, func(ctx context.Context) (*Region, error) {
		_, err := c.locator.findMeta(ctx)
		if diagnose(err).remedy == reconnect {
			err = &final{err}
		}
		return nil, err
	})
}

// final is an error that is not to be remedied, whatever it is: diagnose gives it up.
type final struct{ err error }

func (f *final) Error() string { return f.err.Error() }
func (f *final) Unwrap() error { return f.err }

// Close fails what is still queued, closes all connections and waits for the client's goroutines.
func (c *Client) Close() error {
	c.writer.close() // first: what is queued must not go out when the calls that it waits for are cut off
	c.cancel(ErrClosed)
	c.servers.close()
	c.wg.Wait()
	c.closed.Do(c.registry.close)
	return nil
}

// joined is ctx that ends with the client as well, then with ErrClosed as its cause.
func (c *Client) joined(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
