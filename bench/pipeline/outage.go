package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"brine/bench/measure"
)

// undisturbed and interrupted are runs of brine over the whole topic; in the second, HBase hangs once half of it is settled.
const undisturbed, interrupted = "undisturbed", "outage"

// patience lets an HBase in one process continue after it has hung for minutes. By default it ends: the pending sync of the log times out
// after five minutes, and its session with the ZooKeeper in the same process after ten seconds.
const patience = `hbase.regionserver.wal.sync.timeout 1800000
zookeeper.session.timeout.localHBaseCluster 1800000
hbase.zookeeper.property.maxSessionTimeout 1800000
`

// away is a run in which HBase hung for a time.
type away struct {
	Round    int     `json:"round"`
	Before   float64 `json:"resident_before_mib"`
	Resident float64 `json:"resident_mib"`    // brine's largest memory during the outage
	Used     float64 `json:"budget_used_mib"` // the loop's largest number of bytes during the outage
	Budget   float64 `json:"budget_mib"`      // the setting memory
	Again    float64 `json:"settled_again_s"` // from when HBase continues until a watermark moves
	Whole    float64 `json:"whole_rate"`      // events/s from when HBase continues to the last event, including what was held

	at int       // events settled when HBase continues
	on time.Time // when HBase continues
}

// interruptions runs outages on its own servers.
func (b *bench) interruptions(ctx context.Context, heap string) error {
	if err := os.Setenv(site, patience+os.Getenv(site)); err != nil {
		return err
	}
	return b.on(ctx, heap, b.outages)
}

// outages measures how brine handles a store that hangs while Kafka has more than can be written: its memory, and its rate afterwards in
// comparison with the same part of the same topic without an outage.
func (b *bench) outages(ctx context.Context) error {
	if err := b.pass(ctx, undisturbed, 0); err != nil { // warms the server
		return err
	}
	err := measure.Alternate(b.rounds, []string{undisturbed, interrupted, undisturbed + measure.Again},
		func(client string, round int) error { return b.pass(ctx, client, round) })
	if err != nil {
		return err
	}
	b.report.Detail = map[string]any{"outages": b.aways, "outage_s": b.outage.Seconds(), "events": b.events}
	b.judgeOutages()
	return b.report.Finish(b.outageText())
}

// pass runs brine over the whole topic, measures the last part of it, and counts the rows.
func (b *bench) pass(ctx context.Context, client string, round int) error {
	ctx, cancel := context.WithTimeout(ctx, b.outage+10*time.Minute)
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
	w := &watcher{ctx: ctx, brine: strconv.Itoa(cmd.Process.Pid), server: b.Server, url: "http://" + address}
	l := measure.Load{Client: client, Round: round, Columns: x.columns}
	if err := b.last(w, &l); err != nil {
		_ = cmd.Process.Kill() // it may have ended itself, which ended reports
		return errors.Join(err, ended())
	}
	if err := ended(); err != nil {
		return fmt.Errorf("brine run: %w", err)
	}
	if _, err := b.shapeOf(ctx); err != nil { // one row per event
		return err
	}
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d: %-11s: %6.0f events/s, %4.0f MiB\n", round, client, l.RowsPerSecond(), l.Peak())
	return nil
}

// last measures from when six tenths of the events are settled to the last one. By then, brine has written what it held in memory through
// an outage, and HBase what it had in its queues.
func (b *bench) last(w *watcher, l *measure.Load) error {
	var a away
	if l.Client == interrupted {
		a.Round = l.Round
		if err := w.bear(b.events/2, b.outage, &a); err != nil {
			return err
		}
	}
	at, err := w.reach(b.events * 6 / 10)
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := w.reach(b.events); err != nil && !errors.Is(err, errNoAnswer) { // brine ends when it has everything
		return err
	}
	l.Rows, l.Seconds, l.PeakMiB = b.events-at, time.Since(began).Seconds(), w.peak
	if l.Client == interrupted {
		a.Whole = float64(b.events-a.at) / time.Since(a.on).Seconds()
		b.aways = append(b.aways, a)
	}
	return nil
}

// watcher observes a process of brine, and HBase's.
type watcher struct {
	ctx    context.Context
	brine  string
	server int
	url    string
	peak   float64 // MiB
}

var errNoAnswer = errors.New("brine does not answer")

// reach waits until the number of settled events reaches least, and returns the number.
func (w *watcher) reach(least int) (int, error) {
	client := &http.Client{Timeout: 5 * time.Second}
	for {
		n, _, err := measure.Settled(client, w.url, "")
		if err != nil {
			return n, errors.Join(errNoAnswer, err, w.ctx.Err())
		}
		if err := w.ctx.Err(); err != nil {
			return n, err
		}
		if _, err := measure.CPU(w.server); err != nil {
			return n, fmt.Errorf("HBase exited by itself: %w", err)
		}
		if peak, err := measure.PeakMiB(w.brine); err == nil { // it may just have ended
			w.peak = peak
		}
		if n >= least {
			return n, nil
		}
		time.Sleep(poll)
	}
}

// bear stops HBase for a time once after events are settled, and waits until something is settled afterwards.
func (w *watcher) bear(after int, long time.Duration, a *away) (err error) {
	if a.at, err = w.reach(after); err != nil {
		return err
	}
	if a.Before, err = measure.ResidentMiB(w.brine); err != nil {
		return err
	}
	if err := syscall.Kill(w.server, syscall.SIGSTOP); err != nil {
		return err
	}
	for until := time.Now().Add(long); time.Now().Before(until) && err == nil; time.Sleep(time.Second) {
		err = errors.Join(w.look(a), w.ctx.Err())
	}
	if err == nil {
		a.at, err = w.reach(a.at)
	}
	a.on = time.Now()
	if err := errors.Join(err, syscall.Kill(w.server, syscall.SIGCONT)); err != nil {
		return err
	}
	_, err = w.reach(a.at + 1)
	a.Again = time.Since(a.on).Seconds()
	return err
}

// look records what brine uses now.
func (w *watcher) look(a *away) error {
	resident, err1 := measure.ResidentMiB(w.brine)
	used, err2 := measure.Metric(w.url+"/metrics", "brine_ingest_budget_used_bytes")
	budget, err3 := measure.Metric(w.url+"/metrics", "brine_ingest_budget_bytes")
	a.Resident, a.Used, a.Budget = max(a.Resident, resident), max(a.Used, used/(1<<20)), budget/(1<<20)
	return errors.Join(err1, err2, err3)
}

func (b *bench) judgeOutages() {
	calm, after := b.counted(undisturbed), b.counted(interrupted)
	var used, again float64
	for _, a := range b.aways {
		used, again = max(used, a.Used/a.Budget), max(again, a.Again)
	}
	b.report.Targets = []measure.Target{
		measure.AtLeast("outage.rate_of_undisturbed", measure.Compared(after, calm, calm, b.counted(undisturbed+measure.Again),
			measure.Load.RowsPerSecond), 0.95),
		{Name: "outage.budget_used", Value: used, Bound: 1},
		{Name: "outage.settled_again_s", Value: again, Bound: 15}, // the default of read.max_pause
	}
}

func (b *bench) outageText() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s HBase stood still for %v once half of %d events was settled. After each run there was a row for each event.\n\n",
		b.report.Heading(), b.outage, b.events)
	s.WriteString("| round | undisturbed, events/s | after the outage, events/s | from when HBase went on, events/s | first settled after, " +
		"s | bytes of the loop, MiB | of, MiB | resident before, MiB | during | until the end |\n" +
		"|---|---|---|---|---|---|---|---|---|---|\n")
	calm, after := b.counted(undisturbed), b.counted(interrupted)
	for i, a := range b.aways {
		fmt.Fprintf(&s, "| %d | %.0f | %.0f | %.0f | %.1f | %.1f | %.0f | %.0f | %.0f | %.0f |\n", a.Round, calm[i].RowsPerSecond(),
			after[i].RowsPerSecond(), a.Whole,
			a.Again, a.Used, a.Budget, a.Before, a.Resident, after[i].Peak())
	}
	s.WriteString("\n" + measure.TargetTable(b.report.Targets))
	return s.String()
}
