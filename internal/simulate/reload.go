package simulate

import (
	"context"
	"fmt"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/ingest"
	"brine/ingest/pace"
	"brine/registry"
	"brine/service/reload"
	"brine/sink"
)

// loop is what works in a process from one reload to the next.
type loop struct {
	process *Process
	client  string // its name to the brokers, which is unique
	file    settings
	cfg     *config.Config
	writer  *sink.Sink
	loop    *ingest.Loop
	pace    *pace.Pace
	reads   reload.Reader // what its commits note
	opened  time.Time     // when it got its filter, if by a start or a reload
	held    int64         // bytes of records that are submitted and not durable; guarded by process.mu

	stop   context.CancelFunc
	ended  chan struct{}
	failed error // set once it has ended
}

// stores are what all loops of a process share.
type stores struct {
	hbase *hbase.Client
	names *registry.Client // nil: records name no schemas
}

// newLoop returns a loop with this configuration, and its writer. Nothing works yet.
func (p *Process) newLoop(with stores, file settings) (*loop, error) {
	cfg, err := file.config()
	if err != nil {
		return nil, err
	}
	l := &loop{process: p, client: p.Name, file: file, cfg: cfg, pace: new(pace.Pace), ended: make(chan struct{}),
		reads: reload.Reader{Meaning: file.filter.meaning()}, opened: time.Now()}
	if p.world.plan.Asks && p.opts.Group != reference {
		l.pace = pace.New(pace.Order{Paused: true, Unread: true}) // until the requests are known
	}
	p.mu.Lock()
	p.loops++
	follows := p.loops > 1
	if follows {
		l.client = fmt.Sprintf("%s.%d", p.Name, p.loops)
	}
	p.mu.Unlock()
	of := cfg.Pipeline(pipeline)
	schema, err := p.world.plan.schema(file.filter)
	if err != nil {
		return nil, err
	}
	writes := of.Mutator()
	m, err := with.hbase.Mutator(hbase.MutatorOptions{Autoflush: writes.Autoflush, Linger: writes.Linger})
	if err != nil {
		return nil, err
	}
	targets, err := rows(p.world.plan, schema, p.tail)
	if err != nil {
		return nil, err
	}
	l.writer, err = sink.New(sink.HBase(m), sink.Options{Schema: schema, Rows: targets, MaxCellBytes: maxCell,
		Hooks: sink.Hooks{Collision: p.collision}})
	if err != nil {
		return nil, err
	}
	if with.names != nil {
		schema.Format = p.world.plan.registeredFormat(with.names)
	}
	configured := cfg.Ingest(of, p.opts.Group)
	o := p.opts
	o.Window, o.MaxBatchRecords, o.GroupProtocol = configured.Window, configured.MaxBatchRecords, configured.GroupProtocol
	o.Kafka.ClientID, o.Schema, o.Writer, o.Budget, o.Hooks = l.client, schema, &watched{l.writer, l}, p.memory.Budget(budget), p.hooks(l)
	o.Patient, o.Pace = follows, l.pace
	if p.opts.Group == group {
		o.Admit = l.admit
	}
	p.spoil(&o)
	l.loop, err = ingest.New(o)
	return l, err
}

// spoil applies the deliberate fault to a loop.
func (p *Process) spoil(o *ingest.Options) {
	bug := p.world.bug
	if bug.Writer != nil {
		o.Writer = bug.Writer(o.Writer)
	}
	if bug.Hooks != nil {
		bug.Hooks(p.world, p, o)
	}
	if bug.Reloaded != nil && o.Patient {
		bug.Reloaded(o)
	}
}

// start runs the loop until ctx is done or it is stopped.
func (l *loop) start(ctx context.Context) {
	p := l.process
	p.mu.Lock()
	p.now = l
	p.obeyLocked()
	p.mu.Unlock()
	p.world.ledger.begin(l.client, l.file.filter)
	ctx, l.stop = context.WithCancel(ctx)
	p.world.lives.Go(func() {
		defer close(l.ended)
		defer l.stop()
		l.failed = l.loop.Run(ctx)
	})
}

// client returns the name to the brokers of what now works in the process.
func (p *Process) client() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return p.Name
	}
	return p.now.client
}

const graceTime = 30 * time.Second // beyond stopWithin: for commits, and for leaving the group

// reload applies the present file to a process, as the service does. A configuration that cannot change changes nothing, nor does anything
// change before the next loop is made. A loop that has to change settles, commits, and hands its place in the group over to the next one.
func (p *Process) reload(ctx context.Context, l *loop, with stores) *loop {
	file := p.file()
	if file == l.file {
		return l
	}
	cfg, err := file.config()
	if err != nil {
		p.world.ledger.find("0: %s: %v", p.Name, err)
		return l
	}
	plan := reload.New(l.cfg, cfg)
	log := p.world.log.With("process", p.Name, "halves", plan.Halves)
	if err := plan.Err(); err != nil {
		log.Debug("a reload is refused", "error", err)
		p.count(func(did *Counts) { did.Refused++ })
		return l
	}
	p.count(func(did *Counts) { did.Reloads++ })
	log.Debug("a reload")
	if plan.Halves[0].Does == reload.Stays {
		l.file, l.cfg = file, cfg
		return l
	}
	next, err := p.newLoop(with, file)
	if err != nil {
		p.world.ledger.find("0: %s: making a loop of %+v: %v", p.Name, file, err)
		return l
	}
	reader := ""
	if next.file.filter == l.file.filter {
		next.reads, next.opened = l.reads, l.opened
	} else {
		next.reads.Since = time.Now()
		announced := next.reads
		announced.Before = l.reads.Meaning
		reader = announced.String()
	}
	l.loop.HandOver(next.loop, ctx, reader)
	l.stop()
	left := time.NewTimer(stopWithin + graceTime)
	defer left.Stop()
	select {
	case <-l.ended:
	case <-left.C:
		p.world.ledger.find("9: %s: a loop has not ended %v after it was stopped for a reload", p.Name, stopWithin+graceTime)
	}
	next.start(ctx)
	return next
}

func (p *Process) count(by func(*Counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	by(&p.did)
}

// refuses checks that a process refuses a configuration that it cannot read, or that asks for what cannot change while it runs.
func (w *World) refuses(from, to settings) {
	before, err := from.config()
	if err != nil {
		w.ledger.find("0: %v", err)
		return
	}
	after, err := to.config()
	if err == nil && reload.New(before, after).Err() == nil {
		w.ledger.find("11: a reload from %+v to %+v is not refused", from, to)
	}
}
