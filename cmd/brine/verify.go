package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"brine/ingest"
	"brine/internal/term"
	"brine/service"
	"brine/verify"
)

type verifyCmd struct {
	halvesFlags
	From        string        `default:"earliest" placeholder:"WHERE" help:"earliest (default), a time (2013-01-31T08:00:00Z, 2013-01-31, or 2h ago as 2h), or offsets (0:1200,1:900)."`
	To          string        `default:"latest" placeholder:"WHERE" help:"Up to, and without: latest (default), a time, or offsets."`
	Partitions  []int         `placeholder:"N" help:"Only these partitions (default: those of the offsets, else all)."`
	Full        bool          `help:"Read all of the tables and indexes too, and find what no record accounts for."`
	Sample      string        `default:"100%" placeholder:"SHARE" help:"Share of the rows to verify, always the same ones, as 1% (default 100%)."`
	Ahead       bool          `help:"Expect also what the live group has not committed yet."`
	Repair      bool          `help:"Write what is missing, stale or different again, and look once more."`
	DeleteExtra bool          `help:"With --full: delete the cells, and fields of documents, that no record accounts for."`
	Yes         bool          `short:"y" help:"Do not ask."`
	Follow      bool          `help:"Go on: verify what the live group has committed since, again and again."`
	Every       time.Duration `default:"1m" help:"With --follow: how often (default 1m)."`
	Listen      string        `placeholder:"HOST:PORT" help:"With --follow: serve metrics and health there."`
	Rate        int           `help:"Most records per second that are read from each topic (default: no limit)."`
	Show        int           `default:"20" help:"Maximum number of findings to print (default 20)."`
	Temp        string        `placeholder:"DIR" help:"Folder for the temporary file (default: the system's)."`
	JSON        bool          `help:"Print progress, findings and result as JSON lines."`
	Quiet       bool          `short:"q" help:"Print no progress."`

	span  ingest.Span
	share float64
}

// Help is shown under the command's own help.
func (verifyCmd) Help() string {
	return `Reads a range of the topics, makes of each record what the pipeline makes of it, and compares that with what is in the tables and
indexes: what is missing, stale or different, which events share a row, and which records are neither there nor among the
dead letters. Nothing is changed, not even in Kafka, without --repair or --delete-extra. It may run beside the live pipeline:
only what that has committed is expected to be there. Exits with 7 when something is found.

Examples:
  brine verify -c brine.yaml --full
  brine verify -c brine.yaml --pipeline scans --from 2013-01-05T00:00:00Z --to 2013-01-06T00:00:00Z --repair
  brine verify -c brine.yaml --sample 1% --json
  brine verify -c brine.yaml --follow --every 5m --listen :9108`
}

func (c *verifyCmd) Run(e *env) error {
	if err := c.parse(); err != nil {
		return usage(err)
	}
	v, err := c.open(e)
	if err != nil {
		return err
	}
	defer v.service.Close()
	if c.Follow {
		return v.follow(e.ctx)
	}
	if err := v.expect(e.ctx); err != nil {
		return err
	}
	return v.once(e)
}

// parse checks the command line.
func (c *verifyCmd) parse() (err error) {
	if c.span, err = parseSpan(c.From, c.To, c.Partitions); err != nil {
		return err
	}
	text, percent := strings.CutSuffix(strings.TrimSpace(c.Sample), "%")
	c.share, err = strconv.ParseFloat(text, 64)
	if percent {
		c.share /= 100
	}
	whole := c.From == "earliest" && c.To == "latest" && c.Partitions == nil
	switch {
	case err != nil || c.share <= 0 || c.share > 1:
		return fmt.Errorf("--sample %q: give a share of the rows, such as 1%%", c.Sample)
	case c.Full && !whole:
		return errors.New("--full is of all that is in the topics; leave --from, --to and --partitions out")
	case c.DeleteExtra && !c.Full:
		return errors.New("--delete-extra: what is extra is known with --full only")
	case c.DeleteExtra && c.share < 1:
		return errors.New("--delete-extra: look at all rows before some are deleted; leave --sample out")
	case c.Follow && (c.Full || !whole || c.DeleteExtra || c.Ahead):
		return errors.New("--follow begins where the live group is; leave --full, --from, --to, --partitions, --ahead and --delete-extra out")
	case c.Follow && c.Every < time.Second:
		return fmt.Errorf("--every %v: give 1s or more", c.Every)
	case c.Listen != "" && !c.Follow:
		return errors.New("--listen serves the metrics of --follow; leave it out, or add that")
	case c.Rate < 0 || c.Show < 0:
		return errors.New("--rate and --show: give numbers from 0 on")
	}
	if c.Temp != "" {
		if _, err := os.Stat(c.Temp); err != nil {
			return fmt.Errorf("--temp: %w", err)
		}
	}
	return nil
}

// once verifies, repairs if that is asked for, and fails when something is left.
func (v *verification) once(e *env) error {
	check, err := verify.New(v.options)
	if err != nil {
		return usage(err)
	}
	defer check.Close()
	var report *verify.Report
	v.work(func() { report, err = check.Run(e.ctx) })
	if err != nil {
		return v.failure(e.ctx, err)
	}
	v.screen.Report(report, v.cmd.Show)
	if report, err = v.fix(e, check, report); err != nil {
		return v.failure(e.ctx, err)
	}
	if report.Problems() > 0 {
		return errReported{exitDiffers}
	}
	return nil
}

// fix repairs what is damaged and removes what is extra, as far as was asked for, and looks again.
func (v *verification) fix(e *env, check *verify.Check, report *verify.Report) (*verify.Report, error) {
	fixed := false
	if v.cmd.Repair && report.Fixable(verify.ByRepair) > 0 {
		writers, err := v.writers(e.ctx)
		if err != nil {
			return report, err
		}
		records := int64(0)
		v.work(func() { records, err = check.Repair(e.ctx, writers) })
		if v.screen.Repaired(records, err); err != nil {
			return report, err
		}
		fixed = true
	}
	if extra := report.Fixable(verify.ByDeleteExtra); v.cmd.DeleteExtra && extra > 0 {
		if err := confirm(e, v.cmd.Yes, fmt.Sprintf("Delete what no record accounts for in %s rows and documents?",
			term.Thousands(extra))); err != nil {
			return report, err
		}
		rows, err := check.DeleteExtra(e.ctx)
		if v.screen.Deleted(rows, err); err != nil {
			return report, err
		}
		fixed = true
	}
	if !fixed {
		return report, nil
	}
	var again *verify.Report
	var err error
	v.work(func() { again, err = check.Again(e.ctx) })
	if err == nil {
		v.screen.Again(again, v.cmd.Show)
	}
	return again, err
}

// work does a part of the work with progress on the screen, and with the heap held near what it needs.
func (v *verification) work(do func()) {
	const sorting = 64 << 20 // what verify.Options.Memory is at most, twice
	ctx, stop := context.WithCancel(context.Background())
	held := make(chan struct{})
	go func() {
		defer close(held)
		service.HoldHeap(ctx, int64(v.cfg.Memory)+sorting, int64(v.cfg.ProcessMemory))
	}()
	v.screen.During(do, v.screen.Draw)
	stop()
	<-held
}

// failure gives the error of a verification its exit code.
func (v *verification) failure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFailed, errors.New("stopped before it was done"), ""}
	case errors.Is(err, verify.ErrIncomplete):
		return &exitError{exitFailed, err, "verify a window that is in the topic: --from a time or offsets"}
	case errors.Is(err, ingest.ErrNoPartition):
		return &exitError{exitMissing, err, "fix --partitions, or the partitions of --from and --to"}
	}
	return service.IngestError(err)
}
