package simulate

import (
	"context"
	"strings"
	"sync"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/ingest/control"
	"brine/internal/memnet"
	"brine/registry"
	"brine/sink"
)

// Bug is a deliberate fault of a test in every process, to check that it is found.
type Bug struct {
	Writer   func(event.Writer) event.Writer         // wraps the sink
	Hooks    func(*World, *Process, *ingest.Options) // changes the loop's options
	Reloaded func(*ingest.Options)                   // changes the options of a loop that follows another one
	Mark     func(*control.Mark)                     // changes what is recorded of a changed filter
}

// Process is one life of one brine: it starts, and retries if it cannot begin, until it is stopped or killed.
type Process struct {
	Name   string
	world  *World
	place  *memnet.Place
	opts   ingest.Options
	memory *ingest.Memory  // of its loops, one after another
	tail   string          // suffix of the names of the tables to which it writes
	file   func() settings // its present configuration
	marks  *control.Topic

	stop context.CancelFunc
	done chan struct{}
	look chan struct{} // look at the file for changes

	mu        sync.Mutex
	submitted map[int]int64 // by partition, the offset after the last submitted record
	did       Counts
	loops     int   // number of loops begun
	now       *loop // nil: none has begun
	obeys     obedience
	failed    error // error of the last attempt to begin
}

const (
	commitEvery = time.Second
	budget      = 512 << 10
	buffered    = 256 << 10
	stopWithin  = 30 * time.Second

	haltAfterRejects = 8 // in a row: far more than poison causes among what is written
	sessionTime      = 12 * time.Second

	rebalanceTime = 2 * sessionTime
	requestTime   = 10 * time.Second
)

// start begins a life.
func (w *World) start(name, group, tail string, file func() settings) *Process {
	p := &Process{Name: name, world: w, place: w.net.NewPlace(name), tail: tail, file: file, done: make(chan struct{}),
		look: make(chan struct{}, 1), submitted: map[int]int64{}, memory: ingest.NewMemory(budget)}
	p.opts = ingest.Options{
		Kafka: ingest.Kafka{Brokers: w.kafka.ListenAddrs(), Dial: p.place.Dial},
		Topic: topic, Group: group,
		SessionTimeout: sessionTime, RebalanceTimeout: rebalanceTime, RequestTimeout: requestTime, CommitInterval: commitEvery,
		StopTimeout:   stopWithin,
		MaxFetchBytes: budget / 8, HaltAfterRejects: haltAfterRejects, Logger: w.log.With("process", name),
	}
	p.marks = w.controlOf(ingest.Kafka{Dial: p.place.Dial})
	if slot, _, numbered := strings.Cut(name, "."); w.plan.Static && numbered && (w.plan.Protocol == "" || !strings.HasPrefix(slot, guest)) {
		p.opts.InstanceID = slot
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	if w.plan.Asks && group != reference {
		w.lives.Go(func() { p.follow(ctx) })
	}
	w.lives.Go(func() {
		defer close(p.done)
		defer p.marks.Close()
		for ctx.Err() == nil {
			if err := p.live(ctx); err != nil && ctx.Err() == nil {
				p.mu.Lock()
				p.now, p.failed = nil, err
				p.mu.Unlock()
				_ = sleepUntil(ctx, time.Now().Add(2*time.Second))
			}
		}
	})
	return p
}

// live is one attempt: it ends when ctx is done, or with the error that kept it from beginning.
func (p *Process) live(ctx context.Context) error {
	file := p.file()
	c, err := hbase.Open(ctx, hbase.Options{
		Connect: "rpc://" + p.world.store.Addr(), User: "brine", Dial: p.place.Dial, RPCTimeout: p.world.plan.RPCTimeout,
		Retries:          file.retries,
		OperationTimeout: 5 * time.Minute, MaxBufferedBytes: buffered, Hooks: hbase.Hooks{Buffered: p.buffered, Retry: p.retried},
	})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what it could not send is not settled
	var names *registry.Client
	if p.world.registry != nil {
		if names, err = p.world.registry.client(); err != nil {
			return err
		}
		defer names.Close()
	}
	with := stores{c, names}
	l, err := p.newLoop(with, file)
	if err != nil {
		return err
	}
	for l.start(ctx); ; {
		select {
		case <-l.ended:
			return l.failed
		case <-p.look:
			l = p.reload(ctx, l, with)
		}
	}
}

// Stop ends the life as an operator would, and waits for its end.
func (p *Process) Stop() {
	p.stop()
	<-p.done
}

// Kill ends the life as kill -9 would: nothing that it still does reaches anyone.
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

// hooks count the loop's events.
func (p *Process) hooks(l *loop) (h ingest.Hooks) {
	count := func(n *int, by int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		*n += by
	}
	h.Flight = l.flight
	h.Assigned = func(i ingest.AssignedInfo) {
		count(&p.did.Assignments, 1)
		p.world.ledger.assigned(l.client, i.Partitions)
	}
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

// collision counts a row that the sink reports as shared by two events, which it must be.
func (p *Process) collision(i sink.CollisionInfo) {
	if strings.TrimSuffix(i.Table, p.tail) == tables[0].name {
		p.world.collided(p, string(i.Row))
	}
}
