package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/ingest"
	"brine/ingest/control"
	"brine/internal/memnet"
)

// World is one run of one plan. It lives in a bubble.
type World struct {
	plan   *Plan
	bug    Bug
	log    *slog.Logger
	net    *memnet.Network
	ledger *Ledger
	kafka  *brokers
	store  *store

	registry *registryFake // nil: records name no schemas

	operator *hbase.Client // no fault affects its network
	lives    sync.WaitGroup
	slots    []*slot
	began    time.Time // in the bubble's time

	asking chan struct{} // held by whoever changes the requests
	asked  control.Entry

	mu         sync.Mutex
	guests     []*slot                    // of rebalance storms
	claimed    map[*embedded.Node]bool    // ended by a fault
	collisions map[string]map[string]bool // by the tables' suffix: rows that a sink reported as shared by two events
	counts     Counts
}

// Counts are what happened in runs, to check that their faults had an effect.
type Counts struct {
	Records, Letters, Commits, Lives int
	Tombstones                       int // records that are deletes
	Submitted                        int // records, including repetitions
	Retried                          int // events, by the loop
	Assignments, CommitsFailed       int
	Halted, Abandoned                int // partitions, flights
	Reloads, Refused, Paused         int // of processes
	Marks, Unknown                   int // of filters, and records of which they do not say by which one they were written
	Shared, Reported                 int // rows that two different events share, and those that the undisturbed run reported
}

// Add adds o to the counts.
func (c *Counts) Add(o Counts) {
	into, from := reflect.ValueOf(c).Elem(), reflect.ValueOf(o)
	for i := range into.NumField() {
		into.Field(i).SetInt(into.Field(i).Int() + from.Field(i).Int())
	}
}

// Report is the result of a run.
type Report struct {
	Plan      *Plan
	Findings  []string // each begins with its invariant's number; none: all is well
	Simulated time.Duration
	CaughtUp  time.Duration // from the end of the faults until the lag was 0
	Counts
}

// catchUp is the bound of invariant 8: the time from the end of the faults until nothing lags.
const catchUp = 4 * time.Minute

// Run runs a plan in a bubble. It returns when everything in it has ended.
func Run(plan *Plan, bug Bug, log *slog.Logger) *Report {
	w := &World{asking: make(chan struct{}, 1), plan: plan, bug: bug, log: log, net: memnet.New(plan.Seed), ledger: newLedger(plan.Partitions),
		began: time.Now(), registry: newRegistryFake(plan), claimed: map[*embedded.Node]bool{},
		collisions: map[string]map[string]bool{"": {}, suffixes[1]: {}}}
	r := &Report{Plan: plan}
	defer func() {
		r.Findings, r.Simulated, r.Counts = w.ledger.Findings(), time.Since(w.began), w.counts
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer w.end()
	if err := w.setUp(ctx); err != nil {
		w.ledger.find("0: set-up: %v", err)
		return r
	}
	r.CaughtUp = w.course(ctx)
	return r
}

func (w *World) setUp(ctx context.Context) error {
	if err := w.startKafka(); err != nil {
		return err
	}
	return w.startStore(ctx)
}

func (w *World) end() {
	for _, s := range slices.Concat(w.slots, w.guests) {
		s.kill()
	}
	w.lives.Wait()
	if w.operator != nil {
		if err := w.operator.Close(); err != nil {
			w.ledger.find("0: closing the operator's client: %v", err)
		}
	}
	if w.store != nil {
		if err := w.store.Close(); err != nil {
			w.ledger.find("0: closing the store: %v", err)
		}
	}
	if w.kafka != nil {
		if w.kafka.producer != nil {
			w.kafka.producer.Close()
		}
		w.kafka.Close()
	}
}

// course is a run from its start: trouble, healing, the ends of processes, and finally the outcome.
func (w *World) course(ctx context.Context) (caughtUp time.Duration) {
	rng := rand.New(rand.NewPCG(w.plan.Seed, 2))
	var watch sync.WaitGroup
	defer watch.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch.Go(func() { w.watchGroup(ctx) })
	for i := range w.plan.Processes {
		s := &slot{world: w, name: fmt.Sprintf("brine%d", i), file: w.plan.settings()}
		w.slots = append(w.slots, s)
		s.start()
	}
	w.trouble(ctx, input(rng, w.plan, w.began, Trouble-time.Second))
	w.heal()
	w.log.Debug("all is well")
	healed := time.Now()
	if !w.settles(ctx, group, catchUp) {
		return time.Since(healed)
	}
	caughtUp = time.Since(healed)
	time.Sleep(w.plan.RPCTimeout + 20*time.Second) // calls that were never answered, of flights that others have since written, are over
	if !w.stopInTheMiddle(ctx, rng) || !w.killInTheMiddle(ctx, rng) {
		return caughtUp
	}
	for _, s := range w.slots {
		s.stop()
	}
	w.lives.Wait()
	w.undisturbed(ctx)
	w.check(ctx)
	return caughtUp
}

// trouble lets the input arrive and the faults go on until both have ended.
func (w *World) trouble(ctx context.Context, records []record) {
	var all sync.WaitGroup
	all.Go(func() { w.produce(ctx, records, w.began) })
	for _, f := range w.plan.Faults {
		all.Go(func() {
			_ = sleepUntil(ctx, w.began.Add(f.At))
			w.log.Debug("fault", "kind", f.Kind, "for", f.For)
			faults[f.Kind](&trouble{World: w, rng: rand.New(rand.NewPCG(f.Seed, 3)), length: f.For})
			w.log.Debug("fault ends", "kind", f.Kind)
		})
	}
	all.Wait()
	_ = sleepUntil(ctx, w.began.Add(Trouble))
}

func (w *World) produce(ctx context.Context, records []record, start time.Time) {
	if err := w.kafka.produce(ctx, records, start); err != nil {
		w.ledger.find("0: %v", err)
	}
}

// heal ends what is left of the faults.
func (w *World) heal() {
	for _, p := range w.kafka.places {
		p.Heal()
	}
	for _, p := range w.store.places {
		p.Heal()
	}
	for _, s := range w.slots {
		s.heal()
	}
	w.agree()
	w.regroup()
}

// regroup makes a member join the group and leave it if the others are static members by the consumer protocol. What a member gives back
// while a static one is away, kfake gives to nobody until the group changes once more; a real broker gives it to the static one.
func (w *World) regroup() {
	file := w.slots[0].reads()
	if !w.plan.Static || file.protocol != ingest.Consumer {
		return
	}
	s := w.invite(file)
	time.Sleep(20 * time.Second)
	s.stop()
}

// watchGroup checks that what the broker holds for the group does not go back.
func (w *World) watchGroup(ctx context.Context) {
	for ctx.Err() == nil {
		for p, offset := range w.kafka.committed(group, w.plan.Partitions) {
			w.ledger.accept(p, offset)
		}
		w.kafka.members.Expire(ctx)
		_ = sleepUntil(ctx, time.Now().Add(500*time.Millisecond))
	}
}

// settles waits until a group has committed all records: invariant 8.
func (w *World) settles(ctx context.Context, group string, within time.Duration) bool {
	until := time.Now().Add(within)
	for {
		committed, ends := w.kafka.committed(group, w.plan.Partitions), w.ledger.ends()
		if slices.Equal(committed, ends) {
			return true
		}
		if time.Now().After(until) {
			w.ledger.find("8: group %s: %v after all is well, committed %v, ends %v: %s", group, within, committed, ends, w.states())
			return false
		}
		_ = sleepUntil(ctx, time.Now().Add(500*time.Millisecond))
	}
}

// undisturbed runs one more process, which reads everything into its own tables while nothing is wrong: they hold what the others must
// hold.
func (w *World) undisturbed(ctx context.Context) {
	p := w.start("undisturbed", reference, suffixes[1], w.plan.settings)
	w.settles(ctx, reference, catchUp)
	p.Stop()
}

// collided records a row that a process's sink reported as shared by two events.
func (w *World) collided(p *Process, row string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.collisions[p.tail][row] = true
}
