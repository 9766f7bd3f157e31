package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/bench/chaos/fault"
	"brine/bench/measure"
)

const (
	server  = "elasticsearch"
	longest = 10 * time.Minute // for brine to catch up at the end
	ending  = 2 * time.Minute  // for brine, which drains for at most half a minute
)

// run is a whole run, with its findings.
type run struct {
	Began      time.Time
	Faults     int
	Rate       int
	Kills      []float64 // s for which the index was gone, including its start
	Freezes    []float64
	There      Span
	Away       Span
	MostBehind int64   // records by which documents lagged
	CatchUp    float64 // s from the last event until everything was settled
	PeakMiB    float64 // of brine
	Ended      string  // how brine ended, if by itself
	Events     int64
	Verify     fault.Verdict
	Beside     []float64 // rows/s of a backlog, by round, while the index is up
	Frozen     []float64 // while it hangs
	Alone      []float64 // without documents

	away, there time.Duration
	binary      string
	env         []string // for brine
	procs       fault.Processes
	progress    *progress
}

// all starts the servers, breaks the index while brine runs, and checks the result.
func (r *run) all(ctx context.Context) error {
	cluster, err := measure.StartCluster(ctx, "768m", "kafka", "hbase", server)
	if err != nil {
		return err
	}
	defer cluster.Close()
	r.procs = fault.Processes{Cluster: cluster}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.disturbed(ctx); err != nil {
		return err
	}
	r.There, r.Away, r.MostBehind = r.progress.totals()
	fmt.Println("verifying")
	if r.Verify, err = fault.Verify(r.brine(ctx, "verify", "--full", "--json", "--quiet")); err != nil {
		return err
	}
	return r.backlog(ctx)
}

func (r *run) prepare(ctx context.Context) (err error) {
	if r.binary, err = r.procs.Build(ctx, "./cmd/brine"); err != nil {
		return err
	}
	text, err := os.ReadFile("bench/chaos/index/index.yaml")
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.procs.Path("index.yaml"), text, 0o644); err != nil {
		return err
	}
	set, err := r.procs.Settings("KAFKA", "HBASE_ZK", "ELASTICSEARCH")
	if err != nil {
		return err
	}
	r.env = set.Environ()
	if out, err := r.brine(ctx, "tables", "apply").CombinedOutput(); err != nil {
		return fmt.Errorf("brine tables apply: %w\n%s", err, out)
	}
	broker, _ := set.Lookup("BRINE_KAFKA_BROKERS")
	r.progress = &progress{client: fault.Brokers(broker)}
	return nil
}

// brine returns a brine process on this run's servers.
func (r *run) brine(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.binary, append(args, "-c", r.procs.Path("index.yaml"))...)
	cmd.Env = r.env
	return cmd
}

// disturbed runs brine while events arrive and the index is broken, until everything is settled.
func (r *run) disturbed(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	publishing, enough := context.WithCancel(ctx)
	var beside, publishers sync.WaitGroup
	defer beside.Wait()
	defer enough()
	for pipeline, key := range keys {
		publishers.Go(func() { r.publish(publishing, cancel, pipeline, key) })
	}
	watching, seen := context.WithCancel(ctx)
	defer seen()
	beside.Go(func() { r.progress.run(watching) })
	if err := fault.Until(ctx, func() bool { return r.progress.now().published > 0 }); err != nil { // the topics exist
		return err
	}
	brine := r.brine(context.Background(), "run", "--quiet") // SIGTERM ends it
	brine.Stderr = os.Stderr
	if err := brine.Start(); err != nil {
		return err
	}
	running, over := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { // ends with brine
		ended <- brine.Wait()
		over()
	}()
	beside.Go(func() { r.measure(watching, brine.Process.Pid) })
	err := r.breakIndex(ctx, running)
	enough()
	publishers.Wait()
	if err == nil {
		r.settled(running)
	}
	if r.end(brine, ended); errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return nil // brine ended by itself, which is reported; verify reports what is missing
	}
	return cmp.Or(err, context.Cause(ctx))
}

// end stops brine, and records if it ended by itself, or does not end.
func (r *run) end(brine *exec.Cmd, ended chan error) {
	select {
	case err := <-ended:
		r.Ended = fmt.Sprint("by itself: ", err)
		return
	default:
	}
	_ = brine.Process.Signal(syscall.SIGTERM) // it may just have ended, which is reported as well
	late := time.AfterFunc(ending, func() { _ = brine.Process.Kill() })
	defer late.Stop()
	if err := <-ended; err != nil {
		r.Ended = err.Error()
	}
}

// publish publishes the events of a topic at a constant rate until there are enough.
func (r *run) publish(ctx context.Context, cancel context.CancelCauseFunc, pipeline, key string) {
	cmd := r.brine(ctx, "publish", "data/"+pipeline+".jsonl.gz", "--topic", topics[pipeline], "--key", key, "--rate", strconv.Itoa(r.Rate))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil: // there were enough
	case err == nil:
		cancel(fmt.Errorf("all of data/%s.jsonl.gz was published before the last fault: lower --rate or --faults", pipeline))
	default:
		cancel(fmt.Errorf("publish to %s: %w\n%s", topics[pipeline], err, strings.TrimSpace(string(out))))
	}
}

// measure samples brine's memory until ctx is done.
func (r *run) measure(ctx context.Context, pid int) {
	for fault.Pause(ctx, time.Second) == nil {
		if mib, err := measure.PeakMiB(strconv.Itoa(pid)); err == nil {
			r.PeakMiB = max(r.PeakMiB, mib)
		}
	}
}

// breakIndex kills and freezes the index in turn, and lets it be up in between, until running is done. The index is up at the end.
func (r *run) breakIndex(ctx, running context.Context) error {
	if err := fault.Until(running, func() bool { return r.progress.now().documents > 0 }); err != nil {
		return err
	}
	r.progress.count(true)
	defer r.progress.count(false)
	for n := range r.Faults {
		if err := fault.Pause(running, r.there); err != nil {
			return err
		}
		r.progress.become(gone)
		began, what := time.Now(), "killed"
		var err error
		if n%2 == 0 {
			err = r.procs.KillFor(ctx, server, r.away)
		} else {
			what, err = "frozen", r.procs.FreezeFor(ctx, server, r.away)
		}
		if err != nil {
			return err
		}
		took := time.Since(began).Seconds()
		r.progress.become(there)
		if n%2 == 0 {
			r.Kills = append(r.Kills, took)
		} else {
			r.Freezes = append(r.Freezes, took)
		}
		now := r.progress.now()
		fmt.Printf("%2d %s for %5.1f s; %d published, %d rows and %d documents settled\n", n+1, what, took, now.published,
			now.rows, now.documents)
	}
	return fault.Pause(running, r.there)
}

// settled waits until both halves have settled everything. If that takes too long, a target is short, and verify reports what is missing.
func (r *run) settled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	stopped := time.Now()
	err := fault.Until(ctx, func() bool {
		now := r.progress.now()
		return now.at.After(stopped) && now.published == now.rows && now.published == now.documents
	})
	now := r.progress.now()
	if err != nil {
		fmt.Printf("brine did not catch up: of %d published %d rows and %d documents are settled after %v\n", now.published, now.rows,
			now.documents, time.Since(stopped))
	}
	r.CatchUp, r.Events = time.Since(stopped).Seconds(), now.published
}
