package hbase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/pipeline"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"
	"brine/hbase/internal/zk"
)

// Client is a client of one HBase cluster. It is safe for concurrent use; one per process is enough.
type Client struct {
	opts    Options
	servers *rpc.Servers
	locator *locate.Locator
	writer  *pipeline.Writer
	auto    *Mutator // used by Client.Submit

	kerberos   *rpc.Kerberos          // nil: SIMPLE
	nonceGroup uint64                 // of this client's increments and appends
	masterAddr atomic.Pointer[string] // of the active master; nil: unknown

	ctx        context.Context // ends with Close, and ends everything else
	cancel     context.CancelCauseFunc
	goroutines rpc.Goroutines
	closed     sync.Once
}

// Open checks the options, finds hbase:meta, and returns a client. If it fails, the error says what was tried at which address. Open waits
// for a cluster that is starting until ctx is done or OperationTimeout has passed. It needs no master: see Client.Master.
func Open(ctx context.Context, opts Options) (*Client, error) {
	dial := opts.Dial
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	to, err := parseConnect(opts.Connect)
	if err != nil {
		return nil, err
	}
	calls, access := opts.rpc(), zk.Access{Dial: dial, Auth: opts.ZooKeeperAuth}
	if opts.TLS != nil {
		if calls.Dial, err = opts.encrypted(); err != nil {
			return nil, err
		}
		if calls.TLS = true; opts.TLS.ZooKeeper {
			access.Dial = calls.Dial
		}
	}
	c := &Client{opts: opts, nonceGroup: rand.Uint64() | 1} // 0 means no nonce
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	if calls.Kerberos, err = opts.login(); err != nil {
		return nil, err
	}
	c.kerberos = calls.Kerberos
	c.servers = rpc.New(c.ctx, calls, &c.goroutines)
	if to.zooKeeper {
		c.locator = locate.New(c.ctx, c.servers, opts.DialTimeout, zk.Open(to.addrs, to.znode, opts.DialTimeout, access), nil)
	} else {
		c.locator = locate.New(c.ctx, c.servers, opts.DialTimeout, nil, to.addrs)
	}
	c.writer = pipeline.New(c.env(), opts.pipeline(), opts.Hooks.pipeline())
	c.auto = c.newMutator(MutatorOptions{Autoflush: true, WriteBuffer: 1, Retries: opts.Retries, Pause: opts.Pause})
	if err := c.findCluster(ctx); err != nil {
		_ = c.Close() // report why Open failed, not what Close says
		return nil, fmt.Errorf("open %s: %w", opts.Connect, err)
	}
	c.warnOfVersion(ctx)
	return c, nil
}

// env returns what the write path needs from the client.
func (c *Client) env() pipeline.Env {
	return pipeline.Env{
		Ctx: c.ctx, Go: c.goroutines.Go,
		Send: func(ctx context.Context, server string, encode rpc.Encoder) (wire.Response, error) {
			return c.servers.RoundTrip(ctx, rpc.ClientService.At(server), "Multi", encode)
		},
		Find: c.locator.Find, FindAround: c.locator.FindAround, Read: c.locator.Read, Disabled: c.locator.Disabled,
		Correct: c.locator.Correct, Forget: c.locator.Forget, ForgetServer: c.locator.ForgetServer,
	}
}

// findCluster waits for a cluster that is starting. It fails at once if no server is reachable.
func (c *Client) findCluster(ctx context.Context) error {
	t := c.newTries("find", "the cluster")
	t.admin = true
	return t.run(ctx, func(ctx context.Context) (*Region, error) {
		_, err := c.locator.FindMeta(ctx)
		if remote.Diagnose(err).Remedy == remote.Reconnect {
			err = &remote.Permanent{Err: err}
		}
		return nil, err
	})
}

// Close fails the queued mutations, closes all connections and waits for the client's goroutines.
func (c *Client) Close() error {
	c.writer.Close() // first, so that queued mutations are not sent once the calls they wait for are cut off
	c.cancel(ErrClosed)
	c.servers.Close()
	c.goroutines.Wait()
	c.closed.Do(c.locator.Close)
	if c.kerberos != nil {
		c.kerberos.Login.Close()
	}
	return nil
}

// joined returns a context that ends with ctx or with the client, in the latter case with ErrClosed as its cause.
func (c *Client) joined(ctx context.Context) (context.Context, context.CancelFunc) {
	return remote.Join(ctx, c.ctx)
}

// Stats reads all lanes, which takes some microseconds per thousand lanes. Call it per scrape or status line, not per batch.
func (c *Client) Stats() Stats { return c.writer.Stats() }
