package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/bench/measure"
)

// undisturbed and interrupted are brine run over the whole topic; in the second, HBase stands still once half of it is settled.
const undisturbed, interrupted = "undisturbed", "outage"

// longSessions let HBase go on after it has stood still: ZooKeeper, in the same process, would end its session.
const longSessions = "zookeeper.session.timeout 1800000\nhbase.zookeeper.property.maxSessionTimeout 1800000"

// away is a run of which HBase stood still for a time.
type away struct {
	Round   int     `json:"round"`
	Settled float64 `json:"settled_again_s"` // from when HBase goes on until a watermark moves
	Budget  float64 `json:"budget_used"`     // most of the loop's bytes, of what it may hold
}

// outages measures how brine bears a store that stands still while Kafka holds more than can be written: the memory that it takes, and how
// fast it writes from the moment on at which the store goes on, beside the same half of the same topic without that.
func (b *bench) outages(ctx context.Context, long time.Duration) error {
	if err := b.half(ctx, undisturbed, 0, 0); err != nil { // warms the server
		return err
	}
	err := measure.Alternate(b.rounds, []string{undisturbed, interrupted}, func(client string, round int) error { return b.half(ctx, client, round, long) })
	if err != nil {
		return err
	}
	b.report.Detail = map[string]any{"outages": b.aways, "outage_s": long.Seconds()}
	b.judgeOutages()
	return b.report.Finish(b.outageText(long))
}

// half runs brine over the whole topic, and measures the second half of it.
func (b *bench) half(ctx context.Context, client string, round int, long time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, long+10*time.Minute)
	defer cancel()
	x := examples[ours]
	if err := b.renew(ctx, x); err != nil {
		return err
	}
	cmd := b.command(ctx, x.file, fmt.Sprintf("bench-%s-%d", client, round), "run", "--until-end", "--quiet")
	address, ended, err := measure.StartBrine(cmd)
	if err != nil {
		return err
	}
	l := measure.Load{Client: client, Round: round, Columns: x.columns}
	err = errors.Join(b.secondHalf(ctx, cmd, address, &l, long), ended())
	if err != nil {
		return fmt.Errorf("brine run: %w", err)
	}
	if _, err := b.shapeOf(ctx); err != nil { // a row for each event
		return err
	}
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-11s: %6.0f events/s, %4.0f MiB\n", round, client, l.RowsPerSecond(), l.Peak())
	return nil
}

func (b *bench) secondHalf(ctx context.Context, cmd *exec.Cmd, address string, l *measure.Load, long time.Duration) error {
	w := watcher{ctx: ctx, pid: strconv.Itoa(cmd.Process.Pid), health: "http://" + address + "/healthz"}
	at, err := w.reach(b.events / 2)
	if err != nil {
		return err
	}
	began := time.Now()
	if l.Client == interrupted {
		a := away{Round: l.Round}
		if a.Budget, err = b.standStill(ctx, "http://"+address+"/metrics", long); err != nil {
			return err
		}
		began = time.Now()
		if at, err = w.reach(0); err != nil {
			return err
		}
		if _, err = w.reach(at + 1); err != nil {
			return err
		}
		a.Settled = time.Since(began).Seconds()
		b.aways = append(b.aways, a)
	}
	if _, err := w.reach(b.events); err != nil && !errors.Is(err, syscall.ECONNREFUSED) { // it ends when it has all
		return err
	}
	l.Rows, l.Seconds, l.PeakMiB = b.events-at, time.Since(began).Seconds(), w.peak
	return nil
}

// watcher follows a process brine.
type watcher struct {
	ctx         context.Context
	pid, health string
	peak        float64 // MiB
}

// reach waits until so many events are settled, and gives how many are.
func (w *watcher) reach(least int) (int, error) {
	client := &http.Client{Timeout: 5 * time.Second}
	for {
		n, _, err := settled(client, w.health)
		if err = errors.Join(err, w.ctx.Err()); err != nil {
			return n, err
		}
		if peak, err := measure.PeakMiB(w.pid); err == nil { // it may have ended just now
			w.peak = peak
		}
		if n >= least {
			return n, nil
		}
		time.Sleep(poll)
	}
}

// standStill stops HBase for a time, and gives how much of its budget brine used at most.
func (b *bench) standStill(ctx context.Context, metrics string, long time.Duration) (most float64, err error) {
	if err := syscall.Kill(b.Server, syscall.SIGSTOP); err != nil {
		return 0, err
	}
	for until := time.Now().Add(long); time.Now().Before(until) && err == nil; time.Sleep(time.Second) {
		used, err1 := measure.Metric(metrics, "brine_ingest_budget_used_bytes")
		size, err2 := measure.Metric(metrics, "brine_ingest_budget_bytes")
		most = max(most, used/size)
		err = errors.Join(err1, err2, ctx.Err())
	}
	return most, errors.Join(err, syscall.Kill(b.Server, syscall.SIGCONT))
}

func (b *bench) judgeOutages() {
	calm, after := b.counted(undisturbed), b.counted(interrupted)
	budget := 0.0
	for _, a := range b.aways {
		budget = max(budget, a.Budget)
	}
	b.report.Targets = []measure.Target{
		{Name: "outage.rate_of_undisturbed", Value: measure.Ratio(after, calm, measure.Load.RowsPerSecond), Bound: 0.95, Least: true},
		{Name: "outage.peak_mib", Value: measure.Median(after, measure.Load.Peak), Bound: 128},
		{Name: "outage.budget_used", Value: budget, Bound: 1},
	}
}

func (b *bench) outageText(long time.Duration) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s HBase stood still for %v once half of %d events was settled. The rates are those of the other half: from when it went on, or from when the half was reached.\n\n",
		b.report.Heading(), long, b.events)
	s.WriteString("| round | undisturbed, events/s | after the outage, events/s | first settled after, s | budget used | peak MiB |\n|---|---|---|---|---|---|\n")
	calm, after := b.counted(undisturbed), b.counted(interrupted)
	for i, a := range b.aways {
		fmt.Fprintf(&s, "| %d | %.0f | %.0f | %.1f | %.2f | %.0f |\n", a.Round, calm[i].RowsPerSecond(), after[i].RowsPerSecond(), a.Settled, a.Budget, after[i].Peak())
	}
	s.WriteString("\n" + measure.TargetTable(b.report.Targets))
	return s.String()
}
