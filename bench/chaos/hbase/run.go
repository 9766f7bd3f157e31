package hbase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"brine/bench/chaos/fault"
	"brine/hbase"
)

const (
	bound    = 16 << 20        // bytes of mutations in the client's memory
	patience = 4 * time.Minute // for one fault, until cluster and load have recovered
	reading  = 2 * time.Minute // of the run's time, reserved for the table: no fault begins later
	rest     = time.Second     // between two faults
)

// run is a whole run, with its findings.
type run struct {
	Seed     uint64
	Rate     int
	Began    time.Time
	Faults   []*Fault
	Findings *Findings
	Seconds  float64
	Highest  int64 // bytes of mutations in the client's memory
	Left     int   // goroutines of the client left at its end
	Java     string
	Stuck    string // the fault from which cluster or load did not recover; it was the last
	Reads    Reads
	Cut      int `json:",omitempty"` // cut connections of the load, if they are cut
	Logins   int `json:",omitempty"` // tickets that the KDC issued to brine, if it uses any
	Upgraded int `json:",omitempty"` // processes of the new release at the end

	setting
	limit  time.Duration
	order  []string // of faults
	procs  fault.Processes
	admin  *hbase.Client
	load   *load
	loaded time.Duration // how long the load ran
	cuts   cutter
}

// Reads is the result of reading rows that were being written.
type Reads struct {
	All, Failed int64
	Lacking     int64 // mutations missing from an answer although they were acknowledged before the read began
}

// Fault is one fault, with its result.
type Fault struct {
	fault.Fault
	Cluster  float64          // s until the last region was open on a live server, by hbase:meta
	Stall    float64          // s, longest time without an acknowledgement in one slot
	Together float64          // s, longest time without an acknowledgement in all slots together
	Reading  float64          // s, longest time without an answer to a read in one slot
	Beyond   float64          // s for which a slot stalled after its own regions were open again
	Refused  int              // mutations given up with an error
	Retried  map[string]int64 // mutations sent again, by reason
}

// all starts the cluster, breaks it, and counts.
func (r *run) all(ctx context.Context) error {
	r.Began = time.Now()
	cluster, err := r.start(ctx)
	if err != nil {
		return err
	}
	defer cluster.Close()
	connect, err := cluster.Address("BRINE_REAL_HBASE")
	if err != nil {
		return err
	}
	before := runtime.NumGoroutine()
	now := time.Now()
	r.load = &load{model: new(model), stalls: newStalls(now), reads: &reads{stalls: newStalls(now)}, rate: r.Rate, seed: r.Seed}
	if err := r.open(ctx, connect); err != nil {
		return err
	}
	err = r.play(ctx)
	err = errors.Join(err, r.load.client.Close(), r.admin.Close())
	until, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	for r.Left = runtime.NumGoroutine() - before; r.Left > 0 &&
		fault.Pause(until, fault.Poll) == nil; r.Left = runtime.NumGoroutine() - before {
	}
	r.Seconds = time.Since(r.Began).Seconds()
	return err
}

// open opens the load's client, whose connections may be cut, and the watch's client.
func (r *run) open(ctx context.Context, connect string) (err error) {
	o := r.client(connect)
	o.Pause, o.RPCTimeout = 20*time.Millisecond, 20*time.Second
	if r.admin, err = hbase.Open(ctx, o); err != nil {
		return err
	}
	o = r.client(connect)
	o.MaxBufferedBytes, o.Hooks, o.Dial = bound, r.load.hooks(), r.cuts.dial
	if r.load.client, err = hbase.Open(ctx, o); err != nil {
		return errors.Join(err, r.admin.Close())
	}
	return nil
}

// play runs the load and the faults side by side, and then reads the table.
func (r *run) play(ctx context.Context) error {
	if err := r.create(ctx); err != nil {
		return err
	}
	writing, enough := context.WithCancel(ctx)
	landing, giveUp := context.WithCancel(ctx)
	defer giveUp()
	var loading sync.WaitGroup
	began := time.Now()
	loading.Go(func() { r.load.run(writing, landing) })
	if r.secured() {
		loading.Go(func() { r.cuts.every(writing, cutEvery) })
	}
	err := r.breakAll(ctx)
	r.loaded = time.Since(began)
	enough()
	late := time.AfterFunc(patience, giveUp)
	loading.Wait()
	if !late.Stop() {
		r.stuck("the load did not end within %v", patience)
	}
	if err = errors.Join(err, r.sum()); ctx.Err() != nil {
		return cmp.Or(err, context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, reading)
	defer cancel()
	return errors.Join(err, r.read(ctx))
}

// sum records the final state of the load and the cluster's processes.
func (r *run) sum() (err error) {
	l := r.load
	r.Highest = l.highest.Load()
	r.Reads = Reads{l.reads.all.Load(), l.reads.failed.Load(), l.reads.lacking.Load()}
	if r.secured() {
		r.Cut = r.cuts.cuts()
		r.Logins, err = r.logins()
	}
	if r.from != "" {
		r.Upgraded = r.upgradedProcesses()
	}
	return err
}

// read compares the table with the model, and with the count of HBase's own client.
func (r *run) read(ctx context.Context) (err error) {
	if r.Findings, err = r.load.model.verify(ctx, r.admin); err != nil {
		return fmt.Errorf("reading the table: %w", err)
	}
	r.Java, err = r.procs.Digest(ctx, table)
	return err
}

func (r *run) create(ctx context.Context) error {
	var splits [][]byte
	for slot := 1; slot < slots; slot++ {
		splits = append(splits, []byte{byte('0' + slot)})
	}
	f := hbase.Family{Name: string(family), Values: map[string]string{"VERSIONS": "2147483647"}}
	if err := r.admin.CreateTable(ctx, hbase.Table{Name: aside, Families: []hbase.Family{{Name: string(family)}}}, nil); err != nil {
		return err
	}
	return r.admin.CreateTable(ctx, hbase.Table{Name: table, Families: []hbase.Family{f}}, splits)
}

func (r *run) breakAll(ctx context.Context) error {
	w := fault.StartWatch(ctx, r.admin, watched())
	defer w.Stop()
	random := rand.New(rand.NewPCG(r.Seed, 2))
	start := time.Now()
	if err := r.settled(&fault.Scene{Ctx: ctx, Procs: r.procs, Watch: w}, start); err != nil {
		return fmt.Errorf("before the first fault: %w", err)
	}
	for i, name := range r.order {
		if time.Since(r.Began) > r.limit-reading {
			fmt.Printf("no time left for %d faults\n", len(r.order)-i)
			return nil
		}
		if err := fault.Pause(ctx, rest); err != nil {
			return err
		}
		f := &Fault{Fault: fault.Fault{Kind: name, At: time.Since(start).Seconds(), Began: time.Now()}}
		r.Faults = append(r.Faults, f)
		if err := r.breakOnce(ctx, w, f, random); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("fault %d, %s, %s: %w", i+1, name, f.Hits, err)
			}
			f.Failed = "not recovered"
			r.stuck("fault %d, %s, %s: %v", i+1, name, f.Hits, err)
			return nil
		}
		fmt.Printf("%3d %5.0f s  %-15s %-45s cluster %5.1f s, stall %5.1f s, beyond %4.1f s, refused %d, again %v %s\n",
			i+1, f.At, f.Kind, f.Hits, f.Cluster, f.Stall, f.Beyond, f.Refused, f.Retried, f.Failed)
	}
	return nil
}

// stuck records that something did not recover. The run ends, and the contents of the table are reported all the same.
func (r *run) stuck(format string, args ...any) {
	r.Stuck = strings.TrimPrefix(r.Stuck+"; "+fmt.Sprintf(format, args...), "; ")
	fmt.Println(r.Stuck)
}

// breakOnce plays a fault and waits until everything has recovered.
func (r *run) breakOnce(ctx context.Context, w *fault.Watch, f *Fault, random *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	refused, again := r.load.model.refusals(), r.load.retries()
	s := &fault.Scene{Ctx: ctx, Random: random, Procs: r.procs, Admin: r.admin, Watch: w, Fault: &f.Fault, Middle: middle, Client: r.client}
	s.Play(r.kinds[f.Kind])
	done := time.Now()
	if err := r.settled(s, done); err != nil {
		return fmt.Errorf("not recovered after %v: %w; %s", time.Since(f.Began), err, f.Failed)
	}
	since, _ := w.Recovered(done)
	now := time.Now()
	for slot, t := range since {
		if t.After(f.Began) {
			f.Cluster = max(f.Cluster, t.Sub(f.Began).Seconds())
			f.Beyond = max(f.Beyond, r.load.stalls.beyond(slot, t).Seconds())
		}
	}
	f.Took = now.Sub(f.Began).Seconds()
	f.Stall = r.load.stalls.longest(f.Began, now, false).Seconds()
	f.Together = r.load.stalls.longest(f.Began, now, true).Seconds()
	f.Reading = r.load.reads.stalls.longest(f.Began, now, false).Seconds()
	f.Refused = r.load.model.refusals() - refused
	f.Retried = r.load.retries()
	maps.DeleteFunc(f.Retried, func(reason string, n int64) bool {
		f.Retried[reason] = n - again[reason]
		return n == again[reason]
	})
	return nil
}

// settled waits until hbase:meta shows every region open and something was acknowledged in every slot, both after a time.
func (r *run) settled(s *fault.Scene, after time.Time) error {
	if err := s.Settled(after); err != nil {
		return fmt.Errorf("waiting for the cluster: %w", err)
	}
	if err := fault.Until(s.Ctx, func() bool { return r.load.stalls.since(time.Now().Add(-shortest)) }); err != nil {
		return fmt.Errorf("waiting for the load: %w", err)
	}
	return nil
}
