package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/config"
	"brine/ingest"
	"brine/internal/term"
	"brine/rowkey"
	"brine/service"
	"brine/service/brokers"
)

type replayCmd struct {
	configFlag
	Pipeline    string   `placeholder:"NAME" help:"Pipeline to replay; may be left out when there is only one."`
	Topic       string   `placeholder:"TOPIC" help:"Only this one of the topics that the pipeline reads."`
	Half        string   `enum:"rows,documents,both" default:"both" help:"What to write: rows, documents or both (default)."`
	From        string   `required:"" placeholder:"WHERE" help:"earliest, a time (2013-01-31T08:00:00Z, 2013-01-31, or 2h ago as 2h), or offsets (0:1200,1:900)."`
	To          string   `default:"latest" placeholder:"WHERE" help:"Up to, and without: latest (default), a time, or offsets."`
	Partitions  []int    `placeholder:"N" help:"Only these partitions (default: those of the offsets, else all)."`
	Key         []string `sep:"none" placeholder:"KEY" help:"Only records of this key; may be given several times. Bytes that are no text as \\xNN."`
	Into        []string `placeholder:"TABLE" help:"Write the rows into this table instead, made like the pipeline's own if it is missing; where the pipeline writes several, OWN=OTHER for each."`
	Rate        int      `help:"Most records per second of each half (default: the pipeline's read.rate)."`
	Name        string   `placeholder:"NAME" help:"Progress is kept under this name (default: made of the range)."`
	Again       bool     `help:"Begin again, though a replay of this name is done or has been begun."`
	SkipMissing bool     `help:"Replay what is there, though part of the range is missing."`
	DryRun      bool     `help:"Show the plan and stop."`
	Diff        int      `placeholder:"N" help:"Show what N records, from all over the range, would change of the rows that are there, and stop."`
	JSON        bool     `help:"Print plan, progress and result as JSON lines."`
	Quiet       bool     `short:"q" help:"Print no progress."`
}

// Help is shown under the command's own help.
func (replayCmd) Help() string {
	return `Reads a range of the pipeline's topic again and writes it as the live pipeline does. That changes nothing that is there and
newer, so it may run beside the live pipeline, whose offsets stay where they are. Interrupted in any way, the same command
goes on where it was. A time is that of the Kafka record.

Examples:
  brine replay -c brine.yaml --pipeline scans --from 2013-01-05T00:00:00Z --to 2013-01-06T00:00:00Z --dry-run
  brine replay -c brine.yaml --pipeline scans --from 0:1200,1:900 --to 0:5000,1:5000 --rate 20000
  brine replay -c brine.yaml --pipeline scans --from 2h --dry-run
  brine replay -c brine.yaml --pipeline orders --half documents --from earliest
  brine replay -c brine.yaml --pipeline scans --from 2013-01-01 --key UA-1545-20130101-EWR
  brine replay -c brine.yaml --pipeline scans --from earliest --diff 2000
  brine replay -c brine.yaml --pipeline scans --from earliest --into logistics:scans_new`
}

func (c *replayCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	p, err := pipeline(cfg, c.Pipeline)
	if err != nil {
		return err
	}
	if err := c.redirect(cfg, p); err != nil {
		return usage(err)
	}
	shown := &replayScreen{Screen: term.NewScreen(e.stdout, c.JSON), json: c.JSON, quiet: c.Quiet}
	replays, err := c.plan(e.ctx, cfg, p, shown)
	if err != nil {
		return err
	}
	if c.Diff > 0 {
		return c.diff(e, cfg, p, replays, shown)
	}
	if c.DryRun {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(replays), func(r *service.Replay) bool { return r.Plan.Left() == 0 })
	if err := c.whole(replays); err != nil || len(left) == 0 {
		return err
	}
	if len(c.Into) > 0 {
		if err := createShadows(e, cfg, p); err != nil {
			return err
		}
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := service.OpenReplays(e.ctx, cfg, serviceOptions(service.ToWrite, log), left)
	if err != nil {
		return err
	}
	defer s.Close()
	e.guard(s.Guard)
	return c.run(e.ctx, left, shown)
}

// plan makes and shows the plan of each half that the command line asks for.
func (c *replayCmd) plan(ctx context.Context, cfg *config.Config, p *config.Pipeline,
	shown *replayScreen) (out []*service.Replay, err error) {
	span, err := parseSpan(c.From, c.To, c.Partitions)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for _, text := range c.Key {
		key, err := rowkey.ParseBinary(text)
		if err != nil {
			return nil, usage(fmt.Errorf("--key: %w", err))
		}
		keys = append(keys, key)
	}
	halves := slices.DeleteFunc(p.Halves(), func(h config.Half) bool { return c.Half != "both" && c.Half != h.Kind })
	if len(halves) == 0 {
		return nil, usage(fmt.Errorf("--half %s: the pipeline %s writes no %s", c.Half, p.Name, c.Half))
	}
	if halves, err = (brokers.Topics{Config: cfg}).EachHalf(ctx, halves, c.Topic); err != nil {
		return nil, err
	}
	if c.Diff > 0 || span.Partitions != nil {
		if err := brokers.OfOneTopic(halves, "--diff, --from, --to, --partitions"); err != nil {
			return nil, err
		}
	}
	for _, h := range halves {
		r, err := service.PlanReplay(ctx, h.Name(), c.options(span, keys, cfg.Ingest(h.Pipeline, h.Group())))
		if err != nil {
			return nil, err
		}
		shown.plan(r)
		out = append(out, r)
	}
	return out, nil
}

func (c *replayCmd) options(span ingest.Span, keys [][]byte, half ingest.Options) ingest.ReplayOptions {
	o := ingest.ReplayOptions{Options: half, From: span.From, To: span.To, Partitions: span.Partitions, Keys: keys,
		Into: strings.Join(c.Into, ","), Again: c.Again}
	o.Name = cmp.Or(c.Name, o.RangeName())
	o.OutOfRange = ingest.FromEarliest // what leaves the topic meanwhile is counted and reported
	if c.Rate > 0 {
		o.RecordsPerSecond = float64(c.Rate)
		o.MaxBatchRecords = max(1, min(o.MaxBatchRecords, c.Rate/10)) // so that a low rate does not come in bursts
	}
	return o
}

// whole fails when part of a range is missing, unless that was allowed.
func (c *replayCmd) whole(replays []*service.Replay) error {
	for _, r := range replays {
		if len(r.Plan.Missing()) > 0 && !c.SkipMissing {
			return &exitError{exitFailed, fmt.Errorf("%s: part of the range is missing, as said above; nothing was replayed", r.Name),
				"--skip-missing replays what is there"}
		}
	}
	return nil
}

// run replays until all is settled, or ctx ends, and shows progress and results.
func (c *replayCmd) run(ctx context.Context, replays []*service.Replay, shown *replayScreen) error {
	shownCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // progress is shown while the replays drain
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		shown.follow(shownCtx, replays)
	}()
	errs := service.RunReplays(ctx, replays)
	stop()
	<-drawn
	for i, r := range replays {
		if errs[i] = c.outcome(ctx, r, errs[i]); errs[i] == nil {
			shown.result(r)
		}
	}
	return errors.Join(errs...)
}
