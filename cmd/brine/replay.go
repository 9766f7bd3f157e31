package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/internal/when"
)

type replayCmd struct {
	configFlag
	Pipeline    string   `placeholder:"NAME" help:"Pipeline to replay; may be left out when there is only one."`
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

// replay is the replay of one half of a pipeline.
type replay struct {
	name string // pipeline.rows or pipeline.documents
	opts ingest.ReplayOptions
	plan ingest.Plan

	half *half // nil until the stores are open
	run  *ingest.Replay
	took time.Duration
	gone atomic.Int64 // offsets that have left the topic since the plan
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
	replays, err := c.replays(cfg, p)
	if err != nil {
		return err
	}
	shown := &replayScreen{screen: newScreen(e.stdout, c.JSON), json: c.JSON, quiet: c.Quiet}
	for _, r := range replays {
		if err := r.makePlan(e.ctx); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		shown.plan(r)
	}
	if c.Diff > 0 {
		return c.diff(e, cfg, p, replays, shown)
	}
	if c.DryRun {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(replays), func(r *replay) bool { return r.plan.Left() == 0 })
	if err := c.whole(replays); err != nil || len(left) == 0 {
		return err
	}
	if len(c.Into) > 0 {
		if err := createShadows(e, cfg, p); err != nil {
			return err
		}
	}
	s, err := openReplays(e.ctx, cfg, p, left, slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	defer s.close()
	return c.run(e.ctx, left, shown)
}

// pipeline finds a pipeline of the configuration; an empty name means the only one.
func pipeline(cfg *config.Config, name string) (*config.Pipeline, error) {
	if name == "" && len(cfg.Pipelines) == 1 {
		return cfg.Pipelines[0], nil
	}
	if p := cfg.Pipeline(name); p != nil {
		return p, nil
	}
	var names []string
	for _, p := range cfg.Pipelines {
		names = append(names, p.Name)
	}
	if name == "" {
		return nil, usage(fmt.Errorf("say which pipeline with --pipeline: %s", strings.Join(names, ", ")))
	}
	return nil, usage(fmt.Errorf("--pipeline: no pipeline %q in the configuration; it has %s", name, strings.Join(names, ", ")))
}

// replays are what the command line asks for, by half.
func (c *replayCmd) replays(cfg *config.Config, p *config.Pipeline) ([]*replay, error) {
	span, err := parseSpan(c.From, c.To, c.Partitions)
	if err != nil {
		return nil, err
	}
	for _, text := range c.Key {
		key, err := unescape(text)
		if err != nil {
			return nil, usage(fmt.Errorf("--key: %w", err))
		}
		span.keys = append(span.keys, key)
	}
	span.into = strings.Join(c.Into, ",")
	var out []*replay
	add := func(kind, group string) {
		o := ingest.ReplayOptions{Options: cfg.Ingest(p, group), Name: c.Name, From: span.from, To: span.to, Partitions: span.partitions,
			Keys: span.keys, Into: span.into, Again: c.Again}
		o.OutOfRange = ingest.FromEarliest // what leaves the topic meanwhile is counted and said
		if c.Rate > 0 {
			o.RecordsPerSecond = float64(c.Rate)
			o.MaxBatchRecords = max(1, min(o.MaxBatchRecords, c.Rate/10)) // so that a low rate does not come in bursts
		}
		if o.Name == "" {
			o.Name = span.name()
		}
		out = append(out, &replay{name: p.Name + "." + kind, opts: o})
	}
	if len(p.Rows) > 0 && c.Half != "documents" {
		add("rows", p.RowsGroup())
	}
	if len(p.Documents) > 0 && c.Half != "rows" {
		add("documents", p.DocumentsGroup())
	}
	if len(out) == 0 {
		return nil, usage(fmt.Errorf("--half %s: the pipeline %s writes no %s", c.Half, p.Name, c.Half))
	}
	return out, nil
}

func (r *replay) makePlan(ctx context.Context) error {
	planned, err := ingest.NewReplay(r.opts)
	if err != nil {
		return usage(err)
	}
	r.plan, err = planned.Plan(ctx)
	switch {
	case errors.Is(err, ingest.ErrNoPartition):
		return &exitError{exitMissing, err, "fix --partitions, or the partitions of --from and --to"}
	case errors.Is(err, ingest.ErrOtherReplay):
		return usage(err)
	}
	return loopError(err)
}

// whole fails when part of a range is missing, unless that was allowed.
func (c *replayCmd) whole(replays []*replay) error {
	for _, r := range replays {
		if len(r.plan.Missing()) > 0 && !c.SkipMissing {
			return &exitError{exitFailed, fmt.Errorf("%s: part of the range is missing, as said above; nothing was replayed", r.name), "--skip-missing replays what is there"}
		}
	}
	return nil
}

// run replays until all is settled, or ctx ends. The halves do not wait for each other, nor does one end the other.
func (c *replayCmd) run(ctx context.Context, replays []*replay, shown *replayScreen) error {
	shownCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // progress is shown while the replays drain
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		shown.follow(shownCtx, replays)
	}()
	errs := make([]error, len(replays))
	var running sync.WaitGroup
	for i, r := range replays {
		running.Go(func() {
			began := time.Now()
			errs[i] = c.outcome(ctx, r, r.run.Run(ctx, r.plan))
			r.took = time.Since(began)
		})
	}
	running.Wait()
	stop()
	<-drawn
	for i, r := range replays {
		if errs[i] == nil {
			shown.result(r)
		}
	}
	return errors.Join(errs...)
}

// resume says how to go on. A time of so long ago is another one by then.
func (c *replayCmd) resume(r *replay) string {
	var fixed []string
	for _, end := range []struct {
		flag, text string
		at         ingest.Position
	}{{"--from", c.From, r.opts.From}, {"--to", c.To, r.opts.To}} {
		if when.Ago(strings.TrimSpace(end.text)) {
			fixed = append(fixed, end.flag+" "+end.at.String())
		}
	}
	if len(fixed) == 0 {
		return "the same command goes on from there"
	}
	return "the same command with " + strings.Join(fixed, " ") + " goes on from there"
}

// outcome words how a replay has ended.
func (c *replayCmd) outcome(ctx context.Context, r *replay, err error) error {
	switch gone := r.gone.Load(); {
	case err != nil && ctx.Err() != nil:
		left := r.plan.Left()
		for _, p := range r.run.Progress().Partitions {
			left -= p.Done
		}
		return &exitError{exitFailed, fmt.Errorf("%s: stopped with %s offsets left", r.name, thousands(left)), c.resume(r)}
	case err != nil:
		return fmt.Errorf("%s: %w", r.name, loopError(err))
	case gone > 0 && !c.SkipMissing:
		return fmt.Errorf("%s: %s offsets left the topic before they were replayed; the rest is done", r.name, thousands(gone))
	}
	return nil
}
