package pipeline

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
	"brine/hbase"
)

const (
	patience = 7 * time.Minute  // for one fault
	upheaval = 10 * time.Second // then the next fault of its track hits, even if not everything has recovered
	rest     = time.Second      // between two faults of a track
	longest  = 5 * time.Minute  // for brine to catch up at the end
	ending   = 2 * time.Minute  // for one process of brine, which drains for at most ten seconds
)

// run is a whole run, with its findings.
type run struct {
	Seed        uint64
	Members     int
	Began       time.Time
	Inputs      []*input
	Faults      []*fault.Fault
	Minutes     float64 // from the first event to the last commit
	CatchUp     float64 // s from the end of the last fault until everything was committed
	Drained     float64 // s, the longest of the final stops
	Starts      int     // of brine's processes
	Away        int     // of these, starts that found no server and ended with 3
	Odd         []string
	Republished int     // restarts of publishing
	PeakMiB     float64 // largest of any process
	Stands      float64 // s, longest time without a commit although there was something to commit
	Commits     *Commits
	Findings

	publishing time.Duration
	events     int // most events per topic
	logs       string
	tracks     [tracks]track
	joined     int // processes that joined for a while
	binary     string
	env        []string // for brine
	procs      fault.Processes
	admin      *hbase.Client
	watch      *fault.Watch
	members    *members
	groups     *groups

	mu sync.Mutex // guards Faults and Republished
}

// track is a list of faults that come one after another, starting over after the last.
type track struct {
	kinds fault.Kinds
	plan  []string
}

// all starts the cluster, breaks it, and checks the result.
func (r *run) all(ctx context.Context) error {
	cluster, err := measure.StartCluster(ctx, "768m", "kafka", "hbase-cluster")
	if err != nil {
		return err
	}
	defer cluster.Close()
	r.procs = fault.Processes{Cluster: cluster}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	defer func() { _ = r.admin.Close() }() // nothing is left to fail
	if err := r.disturbed(ctx); err != nil {
		return err
	}
	return r.judge(ctx)
}

func (r *run) prepare(ctx context.Context) (err error) {
	if r.Inputs, err = writeInputs(r.procs.Path, r.events); err != nil {
		return err
	}
	if r.binary, err = r.procs.Build(ctx, "./cmd/brine"); err != nil {
		return err
	}
	set, err := r.procs.Settings("KAFKA", "HBASE_ZK") // read only once: the env file lacks a server whose start failed
	if err != nil {
		return err
	}
	r.env = set.Environ()
	if r.logs == "" {
		r.logs = r.procs.Path("logs")
	}
	if err := os.MkdirAll(r.logs, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile("bench/chaos/pipeline/chaos.yaml")
	if err != nil {
		return err
	}
	for _, name := range []string{"chaos", "calm"} {
		if err := os.WriteFile(r.configuration(name), []byte(strings.ReplaceAll(string(text), "chaos", name)), 0o644); err != nil {
			return err
		}
		if out, err := r.brine(ctx, name, "tables", "apply").CombinedOutput(); err != nil {
			return fmt.Errorf("brine tables apply: %w\n%s", err, out)
		}
	}
	connect, err := r.procs.Address("BRINE_REAL_HBASE")
	if err != nil {
		return err
	}
	r.admin, err = hbase.Open(ctx, hbase.Options{Connect: connect, Pause: 20 * time.Millisecond, RPCTimeout: 20 * time.Second})
	return err
}

func (r *run) configuration(name string) string { return r.procs.Path(name + ".yaml") }

// brine returns a brine process with a configuration, on this run's servers.
func (r *run) brine(ctx context.Context, configuration string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.binary, append(args, "-c", r.configuration(configuration))...)
	cmd.Env = r.env
	return cmd
}

// disturbed runs brine while the events are published and everything is broken, until everything is committed.
func (r *run) disturbed(ctx context.Context) error {
	watching, enough := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer enough()
	broker, err := r.procs.Address("BRINE_REAL_KAFKA")
	if err != nil {
		return err
	}
	r.groups = &groups{broker: broker, client: fault.Brokers(broker), inputs: r.Inputs}
	r.watch = fault.StartWatch(ctx, r.admin, []fault.Slot{{Table: "chaos:orders"}, {Table: "chaos:scans"}})
	defer r.watch.Stop()
	// kill ends them
	r.members = &members{logs: r.logs, ending: ending,
		command: func() *exec.Cmd { return r.brine(context.Background(), "chaos", "run", "--quiet") }}
	defer r.members.kill()
	beside.Go(func() { r.groups.run(watching) })
	beside.Go(func() {
		for fault.Pause(watching, time.Second) == nil {
			r.members.measure()
		}
	})
	began := time.Now()
	if err := r.breakAll(ctx, began); err != nil {
		return err
	}
	if err := r.heal(ctx); err != nil {
		return err
	}
	healed := time.Now()
	waiting, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	// otherwise a target is short, and verify reports what is missing
	if fault.Until(waiting, func() bool { return r.groups.caughtUp(healed, r.Inputs) }) != nil {
		now, _ := r.groups.now()
		fmt.Printf("brine did not catch up in %v: %v\n", longest, now)
	}
	r.CatchUp, r.Minutes = time.Since(healed).Seconds(), time.Since(began).Minutes()
	r.Drained = r.members.end(ctx).Seconds()
	r.Stands = r.groups.standing().Seconds()
	ms := r.members
	ms.mu.Lock()
	defer ms.mu.Unlock()
	r.Starts, r.Away, r.Odd, r.PeakMiB = ms.starts, ms.away, ms.odd, ms.peakMiB
	return context.Cause(ctx)
}
