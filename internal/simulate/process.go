package simulate

import (
	"context"
	"strings"
	"sync"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/internal/memnet"
	"brine/sink"
)

// Bug is what a test has wrong on purpose in every process, to see that it is found.
type Bug struct {
	Writer func(event.Writer) event.Writer         // stands before the sink
	Hooks  func(*World, *Process, *ingest.Options) // changes what the loop is given
}

// Process is one life of one brine: it starts, and starts again when it cannot begin, until it is stopped or killed.
type Process struct {
	Name  string
	world *World
	place *memnet.Place
	opts  ingest.Options
	tail  string // of the names of the tables that it writes to

	stop context.CancelFunc
	done chan struct{}

	mu        sync.Mutex
	submitted map[int]int64 // by partition, the offset after the last record that was submitted
	held      int64         // bytes of records that are submitted and not durable
	did       Counts
	loop      *ingest.Loop // nil: it has not begun
	failed    error        // what the last attempt to begin ended with
}

const (
	commitEvery = time.Second
	budget      = 512 << 10
	buffered    = 256 << 10
	stopWithin  = 30 * time.Second

	haltAfterRejects = 8 // in a row: far more than poison makes of what is written
	sessionTime      = 12 * time.Second

	rebalanceTime = 2 * sessionTime
	requestTime   = 10 * time.Second
)

// start begins a life.
func (w *World) start(name, group, tail string) *Process {
	p := &Process{Name: name, world: w, place: w.net.NewPlace(name), tail: tail, done: make(chan struct{}),
		submitted: map[int]int64{}}
	p.opts = ingest.Options{
		Kafka: ingest.Kafka{Brokers: w.kafka.ListenAddrs(), Dial: p.place.Dial, ClientID: name},
		Topic: topic, Group: group, Window: w.plan.Window, MaxBatchRecords: w.plan.MaxBatch,
		SessionTimeout: sessionTime, RebalanceTimeout: rebalanceTime, RequestTimeout: requestTime, CommitInterval: commitEvery,
		StopTimeout:   stopWithin,
		MaxFetchBytes: budget / 8, HaltAfterRejects: haltAfterRejects, Logger: w.log.With("process", name),
	}
	if slot, _, numbered := strings.Cut(name, "."); w.plan.Static && numbered {
		p.opts.InstanceID = slot
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	w.lives.Go(func() {
		defer close(p.done)
		for ctx.Err() == nil {
			if err := p.live(ctx); err != nil && ctx.Err() == nil {
				p.mu.Lock()
				p.loop, p.failed = nil, err
				p.mu.Unlock()
				_ = sleepUntil(ctx, time.Now().Add(2*time.Second))
			}
		}
	})
	return p
}

// live is one attempt: it ends when ctx does, or with the error that it could not begin with.
func (p *Process) live(ctx context.Context) error {
	c, err := hbase.Open(ctx, hbase.Options{
		Connect: "rpc://" + p.world.store.Addr(), User: "brine", Dial: p.place.Dial, RPCTimeout: p.world.plan.RPCTimeout,
		Retries:          p.world.plan.Retries,
		OperationTimeout: 5 * time.Minute, MaxBufferedBytes: buffered, Hooks: hbase.Hooks{Buffered: p.buffered, Retry: p.retried},
	})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what it could not send is not settled
	m, err := c.Mutator(hbase.MutatorOptions{Autoflush: p.world.plan.Autoflush, Linger: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	schema := p.world.schema
	targets, err := rows(p.world.plan, schema, p.tail)
	if err != nil {
		return err
	}
	s, err := sink.New(sink.HBase(m), sink.Options{Schema: schema, Rows: targets, MaxCellBytes: maxCell,
		Hooks: sink.Hooks{Collision: p.collision}})
	if err != nil {
		return err
	}
	o := p.opts
	if p.world.registry != nil {
		names, err := p.world.registry.client()
		if err != nil {
			return err
		}
		defer names.Close()
		schema.Format = p.world.plan.registeredFormat(names)
	}
	o.Schema = schema
	o.Writer = &watched{Sink: s, process: p}
	o.Budget = ingest.NewBudget(budget)
	o.Hooks = p.hooks()
	if bug := p.world.bug; bug.Writer != nil {
		o.Writer = bug.Writer(o.Writer)
	}
	if bug := p.world.bug; bug.Hooks != nil {
		bug.Hooks(p.world, p, &o)
	}
	l, err := ingest.New(o)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.loop = l
	p.mu.Unlock()
	return l.Run(ctx)
}

// Stop ends the life as an operator does, and waits for that.
func (p *Process) Stop() {
	p.stop()
	<-p.done
}

// Kill ends it as kill -9 does: nothing that it still does reaches anyone.
func (p *Process) Kill() {
	p.place.Down()
	p.stop()
}

func (p *Process) buffered(i hbase.BufferedInfo) {
	if i.Bytes > buffered {
		p.world.ledger.find("7: %s: the HBase client buffers %d bytes of %d", p.Name, i.Bytes, buffered)
	}
}

func (p *Process) retried(r hbase.RetryInfo) {
	p.world.log.Debug("hbase retries", "process", p.Name, "class", r.Class, "remedy", r.Remedy, "region", r.Region, "server", r.Server,
		"mutations", r.Mutations, "pause", r.Pause)
}

// hooks count what the loop meets.
func (p *Process) hooks() (h ingest.Hooks) {
	count := func(n *int, by int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		*n += by
	}
	h.Flight = p.flight
	h.Assigned = func(ingest.AssignedInfo) { count(&p.did.Assignments, 1) }
	h.Retried = func(i ingest.RetriedInfo) { count(&p.did.Retried, i.Events) }
	h.Halted = func(ingest.HaltedInfo) { count(&p.did.Halted, 1) }
	h.CommitFailed = func(ingest.CommitFailedInfo) {
		count(&p.did.CommitsFailed, 1)
		p.world.ledger.doubt(p.Name)
	}
	h.Revoked = func(i ingest.RevokedInfo) {
		count(&p.did.Abandoned, i.Abandoned)
		p.world.log.Debug("revoked", "process", p.Name, "generation", i.Generation, "partitions", i.Partitions,
			"abandoned", i.Abandoned)
	}
	return h
}

// collision counts what the sink takes for two events on one row, which must be that.
func (p *Process) collision(i sink.CollisionInfo) {
	if strings.TrimSuffix(i.Table, p.tail) == tables[0].name {
		p.world.collided(p, string(i.Row))
	}
}
