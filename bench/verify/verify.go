// Package verify measures what `brine verify` costs per row, in processor time of its own process: of a whole table, of a window of the
// topic, and beside a pipeline at full rate, where it also measures how far the time up to which everything is proved stays behind. The
// servers are an embedded Kafka and HBase in another process. `make bench-verify` runs it.
package verify

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"brine/bench/measure"
	"brine/bench/servers"
	"brine/verify"
)

const (
	configuration = "examples/dev.yaml"
	columns       = 3 // of a row

	whole  = "whole table"
	window = "window"
	write  = "the pipeline"

	patience = 10 * time.Minute // until everything is written, or proved
)

// Command is the command line.
type Command struct {
	Events int `default:"500000" help:"Number of events that are verified in each round."`
	Rounds int `default:"5" help:"Number of measured rounds."`
}

// Run measures.
func (c *Command) Run(ctx context.Context) error {
	b := bench{Command: *c, report: measure.NewReport("verify")}
	return measure.Make("bench-verify", func() error { return b.run(ctx) })
}

type bench struct {
	Command
	report *measure.Report
	dev    *servers.Dev
	brine  string
	detail detail
}

// detail is what was measured beside the running pipeline.
type detail struct {
	RunSeconds    float64 `json:"run_s"`        // from the first published event until all are written
	BehindSeconds float64 `json:"behind_s"`     // from then until all are proved
	FollowCPU     float64 `json:"follow_cpu_s"` // of verify
}

func (b *bench) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "brine-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is a temporary folder
	if b.brine, err = measure.Build(ctx, dir, "./cmd/brine"); err != nil {
		return err
	}
	if b.dev, err = servers.Start(ctx); err != nil {
		return err
	}
	defer b.dev.Close()
	if err := b.dev.Fill(ctx, b.Events); err != nil {
		return err
	}
	if err := b.load(ctx, write, 1, "run", "--until-end"); err != nil {
		return err
	}
	verifies := func(mode string, round int) error {
		args := []string{"verify", "--json", "--half", "rows"}
		if mode == whole {
			args = append(args, "--full")
		}
		return b.load(ctx, mode, round, args...)
	}
	if err := verifies(whole, 0); err != nil {
		return err
	}
	if err := measure.Alternate(b.Rounds, []string{whole, window}, verifies); err != nil {
		return err
	}
	if err := b.follow(ctx); err != nil {
		return fmt.Errorf("beside the pipeline: %w", err)
	}
	b.report.Detail = &b.detail
	cost := func(mode string) measure.Estimate {
		return measure.RepeatedLoads(b.of(mode), measure.Load.ClientMicros)
	}
	b.report.Targets = []measure.Target{
		measure.AtMost("verify.whole_cpu_us", cost(whole), 3),
		measure.AtMost("verify.window_cpu_us", cost(window), 3),
		measure.AtMost("verify.follow_behind_s", measure.Exactly(b.detail.BehindSeconds), 300),
	}
	return b.report.Finish(b.text())
}

func (b *bench) of(mode string) []measure.Load { return measure.Counted(b.report.Loads, mode, columns) }

// text returns the section of the page.
func (b *bench) text() string {
	s := b.report.Heading() + fmt.Sprintf(" %d scan events as rows of three cells, on an embedded Kafka and HBase in another process, "+
		"%d rounds in turns; medians of the processor time of brine from its start to its end. The window is the whole topic: each row is read "+
		"by its key, as each round of `--follow` does.\n\n| | CPU per row | rows/s |\n|---|---|---|\n", b.Events, b.Rounds)
	for _, of := range [][2]string{{whole, "`brine verify --full`"}, {window, "`brine verify`"},
		{write, "`brine run`, which wrote them, once"}} {
		loads := b.of(of[0])
		s += fmt.Sprintf("| %s | %.2f µs | %.0f |\n", of[1], measure.Median(loads, measure.Load.ClientMicros),
			measure.Median(loads, measure.Load.RowsPerSecond))
	}
	d := &b.detail
	return s + fmt.Sprintf("\nAs many events again were published at once: with `brine verify --follow` beside it, `brine run` had written "+
		"all of them after %.1f s, and %.1f s later all of them were proved. That took verify %.2f µs of processor time per row.\n\n",
		d.RunSeconds, d.BehindSeconds, d.FollowCPU/float64(b.Events)*1e6) + measure.TargetTable(b.report.Targets)
}

func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.brine, append(args, "--pipeline", servers.Pipeline, "-c", configuration)...)
	cmd.Env = append(b.dev.Environ(), "BRINE_HTTP_LISTEN=127.0.0.1:0")
	return cmd
}

// load runs brine to its end, and measures it.
func (b *bench) load(ctx context.Context, mode string, round int, args ...string) error {
	cmd := b.command(ctx, append(args, "--quiet")...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("brine %s: %w: %s", args[0], err, out)
	}
	l := measure.Load{Client: mode, Round: round, Columns: columns, Rows: b.Events, Seconds: time.Since(began).Seconds(),
		ClientCPU: measure.SpentCPU(cmd.ProcessState)}
	b.report.Loads = append(b.report.Loads, l)
	fmt.Fprintf(os.Stderr, "round %d, %s: %.2f µs CPU/row, %.0f rows/s\n", round, mode, l.ClientMicros(), l.RowsPerSecond())
	if mode == write {
		return nil
	}
	var report verify.ReportLine
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("brine verify: %w: %s", err, out)
	}
	if report.Result != "equal" || report.Tables[0].Compared != int64(b.Events) {
		return fmt.Errorf("brine verify compared %d rows of %d: %s", report.Tables[0].Compared, b.Events, out)
	}
	return nil
}

// follow publishes as many events again, which brine writes at full rate while another brine verifies them.
func (b *bench) follow(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	verifies := b.command(ctx, "verify", "--json", "--half", "rows", "--follow", "--every", "1s", "--quiet")
	verifies.Stderr = os.Stderr
	out, err := verifies.StdoutPipe()
	if err != nil {
		return err
	}
	if err := verifies.Start(); err != nil {
		return err
	}
	run := b.command(ctx, "run", "--quiet")
	address, ended, err := measure.StartBrine(run)
	if err == nil {
		err = b.beside(ctx, "http://"+address, bufio.NewScanner(out))
		err = errors.Join(err, run.Process.Signal(syscall.SIGTERM), ended())
	}
	err = errors.Join(err, verifies.Process.Signal(syscall.SIGTERM), verifies.Wait())
	b.detail.FollowCPU = measure.SpentCPU(verifies.ProcessState)
	return err
}

// line is what interests us in a line of brine verify --follow.
type line struct {
	Note   string    `json:"note"`
	Result string    `json:"result"`
	Proved time.Time `json:"proved_through"`
}

// beside measures a running brine at url, while the verification that prints lines follows it.
func (b *bench) beside(ctx context.Context, url string, lines *bufio.Scanner) error {
	until := func(is func(line) bool) error {
		for lines.Scan() {
			var l line
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.Result == "differs" {
				return fmt.Errorf("brine verify --follow printed %q", lines.Bytes())
			}
			if is(l) {
				return nil
			}
		}
		return errors.Join(errors.New("brine verify --follow ended"), lines.Err())
	}
	if err := until(func(l line) bool { return strings.HasPrefix(l.Note, "following") }); err != nil {
		return err
	}
	began := time.Now()
	if err := b.dev.Publish(ctx, b.Events); err != nil {
		return err
	}
	published := time.Now()
	client := &http.Client{Timeout: 5 * time.Second}
	for {
		n, _, err := measure.Settled(client, url, "")
		if err != nil {
			return err
		}
		if n >= 2*b.Events {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	written := time.Now()
	b.detail.RunSeconds = written.Sub(began).Seconds()
	err := until(func(l line) bool { return l.Proved.After(published) })
	b.detail.BehindSeconds = time.Since(written).Seconds()
	return err
}
