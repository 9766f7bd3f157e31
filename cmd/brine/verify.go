package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/config"
	"brine/internal/term"
	"brine/metrics"
	"brine/service"
	"brine/service/brokers"
	"brine/service/verifications"
	"brine/verify"
	"brine/verify/display"
)

type verifyCmd struct {
	halvesFlags
	From         string        `default:"earliest" placeholder:"WHERE" help:"Where to start: earliest (default), a time (2013-01-31T08:00:00Z, 2013-01-31, or an age such as 2h), or offsets (0:1200,1:900)."`
	To           string        `default:"latest" placeholder:"WHERE" help:"Where to stop, exclusive: latest (default), a time, or offsets."`
	Partitions   []int         `placeholder:"N" help:"Only these partitions (default: those whose offsets are given, else all)."`
	Full         bool          `help:"Also read all rows and documents, to find those that no record accounts for."`
	Sample       string        `default:"100%" placeholder:"SHARE" help:"Share of the rows to verify, such as 1% (default 100%): the same rows each time."`
	Ahead        bool          `help:"Also expect records that the live consumer group has not committed yet."`
	AsConfigured bool          `help:"Apply the current filters to all records (default: a filter that a reload changed applies only to records after that reload)."`
	Repair       bool          `help:"Rewrite what is missing, stale or different, and verify it again."`
	DeleteExtra  bool          `help:"With --full: delete cells, and fields of documents, that no record accounts for."`
	Yes          bool          `short:"y" help:"Do not ask for confirmation."`
	Follow       bool          `help:"Keep running, and verify what the live consumer group commits."`
	Every        time.Duration `default:"1m" help:"With --follow: interval between rounds (default 1m)."`
	Listen       string        `placeholder:"HOST:PORT" help:"With --follow: serve metrics and health at this address."`
	Rate         int           `help:"Maximum records per second, for each topic (default: no limit)."`
	Show         int           `default:"20" help:"Maximum number of findings to print (default 20)."`
	Temp         string        `placeholder:"DIR" help:"Folder for temporary files (default: the system's)."`
	JSON         bool          `help:"Print progress, findings and result as JSON lines."`
	Quiet        bool          `short:"q" help:"Print no progress."`
}

// Help returns the detailed help of the command.
func (verifyCmd) Help() string {
	return `Reads a range of the topics, processes each record as the pipeline does, and compares the result with the tables and
indexes: what is missing, stale or different, which events share a row, and which records are neither stored nor among the
dead letters. Without --repair or --delete-extra it changes nothing, not even in Kafka. It may run beside the live pipeline:
only committed records are expected to be stored. Exits with 7 when something is found.

Examples:
  brine verify -c brine.yaml --full
  brine verify -c brine.yaml --pipeline scans --from 2013-01-05T00:00:00Z --to 2013-01-06T00:00:00Z --repair
  brine verify -c brine.yaml --sample 1% --json
  brine verify -c brine.yaml --follow --every 5m --listen :9108`
}

func (c *verifyCmd) Run(e *env) error {
	asked := verifications.Asked{From: c.From, To: c.To, Partitions: c.Partitions, Full: c.Full, Sample: c.Sample, Ahead: c.Ahead,
		Repair: c.Repair, DeleteExtra: c.DeleteExtra,
		AsConfigured: c.AsConfigured, Rate: c.Rate, Temp: c.Temp}
	if err := errors.Join(asked.Check(time.Now()), c.parse(&asked)); err != nil {
		return usage(err)
	}
	v, err := c.open(e, asked)
	if err != nil {
		return err
	}
	defer v.Service.Close()
	if c.Follow {
		return v.follow(e.ctx)
	}
	if err := v.Expect(e.ctx, v.screen.Note); err != nil {
		return err
	}
	report, err := v.Once(e.ctx, v.shown(e))
	if err != nil {
		return err
	}
	if report.Problems() > 0 {
		return errReported{exitDiffers}
	}
	return nil
}

// parse checks the flags against each other and against what is asked.
func (c *verifyCmd) parse(asked *verifications.Asked) error {
	switch {
	case c.Follow && (c.Full || !asked.Whole() || c.DeleteExtra || c.Ahead):
		return errors.New("--follow starts where the live group is; remove --full, --from, --to, --partitions, --ahead and --delete-extra")
	case c.Follow && c.Every < time.Second:
		return fmt.Errorf("--every %v: it must be at least 1s", c.Every)
	case c.Listen != "" && !c.Follow:
		return errors.New("--listen serves the metrics of --follow; remove it, or add --follow")
	case c.Show < 0:
		return errors.New("--show must be at least 0")
	}
	return nil
}

// verification is a verify command with its stores open.
type verification struct {
	*verifications.Verification
	cmd     *verifyCmd
	cfg     *config.Config
	metrics *metrics.Verify
	screen  *display.Screen
}

// open finds the selected groups, and opens the stores they write to.
func (c *verifyCmd) open(e *env, asked verifications.Asked) (*verification, error) {
	cfg, err := c.load(e)
	if err != nil {
		return nil, err
	}
	v := &verification{cmd: c, cfg: cfg, screen: display.NewScreen(e.stdout, c.JSON, c.Quiet, cfg.Mask())}
	client := brokers.Open(&cfg.Kafka) // shared by all rounds; each opens its own connections
	groups, err := c.groups(e.ctx, cfg, client)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if v.Verification, err = verifications.Open(e.ctx, cfg, asked, client, groups, serviceOptions(service.ToRead, log)); err != nil {
		return nil, err
	}
	e.guard(v.Service.Guard)
	v.metrics = metrics.NewVerify(v.Service.Registry())
	v.Options.Hooks = v.metrics.Hooks()
	v.Options.Hooks.Phase = v.screen.Phase
	return v, nil
}

// shown returns the functions that print findings.
func (v *verification) shown(e *env) *verifications.Shown {
	return &verifications.Shown{
		Note: v.screen.Note, Report: func(r *verify.Report) { v.screen.Report(r, v.cmd.Show) }, Repaired: v.screen.Repaired,
		Deleted: v.screen.Deleted, Again: func(r *verify.Report) { v.screen.Again(r, v.cmd.Show) }, During: v.work,
		Confirm: func(extra int64) error {
			return confirm(e, v.cmd.Yes, fmt.Sprintf("Delete what no record accounts for in %s rows and documents?", term.Thousands(extra)))
		},
	}
}

// work runs do with progress on the screen, and holds the heap near what it needs.
func (v *verification) work(do func()) {
	const sorting = 64 << 20 // twice the default of verify.Options.Memory
	ctx, stop := context.WithCancel(context.Background())
	held := make(chan struct{})
	go func() {
		defer close(held)
		service.Heap{Memory: int64(v.cfg.Memory) + sorting, Process: int64(v.cfg.ProcessMemory)}.Hold(ctx)
	}()
	v.screen.During(do, v.screen.Draw)
	stop()
	<-held
}
