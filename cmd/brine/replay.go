package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/internal/term"
	"brine/service"
	"brine/service/replays"
)

type replayCmd struct {
	configFlag
	Pipeline     string   `placeholder:"NAME" help:"Pipeline to replay (default: the only one)."`
	Topic        string   `placeholder:"TOPIC" help:"Only this topic, of those that the pipeline reads."`
	Half         string   `enum:"rows,documents,both" default:"both" help:"Half of the pipeline: rows, documents or both (default)."`
	From         string   `required:"" placeholder:"WHERE" help:"Where to start: earliest, a time (2013-01-31T08:00:00Z, 2013-01-31, or an age such as 2h), or offsets (0:1200,1:900)."`
	To           string   `default:"latest" placeholder:"WHERE" help:"Where to stop, exclusive: latest (default), a time, or offsets."`
	Partitions   []int    `placeholder:"N" help:"Only these partitions (default: those whose offsets are given, else all)."`
	Key          []string `sep:"none" placeholder:"KEY" help:"Only records with this key; may be repeated. Write bytes that are not text as \\xNN."`
	Into         []string `placeholder:"TABLE" help:"Write the rows to this table instead; if missing, it is created like the pipeline's own. If the pipeline writes several tables, give OWN=OTHER for each."`
	Rate         int      `help:"Maximum records per second, for each half (default: the pipeline's read.rate)."`
	Name         string   `placeholder:"NAME" help:"Name to keep progress under (default: derived from the range)."`
	Again        bool     `help:"Start over, even if a replay with this name has been started or completed."`
	SkipMissing  bool     `help:"Continue even if the topic no longer has all requested records."`
	AsConfigured bool     `help:"Apply the current filters to all records (default: a filter that a reload changed applies only to records after that reload)."`
	DryRun       bool     `help:"Show what would be done, and exit."`
	Diff         int      `placeholder:"N" help:"Show what N records, spread over the range, would change in the stored rows, and exit."`
	JSON         bool     `help:"Print plan, progress and result as JSON lines."`
	Quiet        bool     `short:"q" help:"Print no progress."`
}

// Help returns the detailed help of the command.
func (replayCmd) Help() string {
	return `Reads a range of the pipeline's topic again and writes it as the live pipeline does. It overwrites nothing newer,
so it may run beside the live pipeline, whose offsets stay where they are. After any interruption, the same command
continues where it was. Times are those of the Kafka records.

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
	set, err := replays.New(cfg, p, replays.Asked{Topic: c.Topic, Half: kindOf(c.Half), From: c.From, To: c.To, Partitions: c.Partitions,
		Keys: c.Key, Into: c.Into, Rate: c.Rate, Name: c.Name, Again: c.Again, SkipMissing: c.SkipMissing, Diff: c.Diff,
		AsConfigured: c.AsConfigured}, time.Now())
	if err != nil {
		return err
	}
	shown := &replayScreen{Screen: term.NewScreen(e.stdout, c.JSON), json: c.JSON, quiet: c.Quiet}
	if err := set.Plan(e.ctx, shown.plan); err != nil {
		return err
	}
	if c.Diff > 0 {
		return diffReplay(e, cfg, set, shown)
	}
	if c.DryRun {
		return nil
	}
	left, err := set.Left()
	if err != nil || len(left) == 0 {
		return err
	}
	if len(c.Into) > 0 {
		if err := createShadows(e, cfg, set); err != nil {
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
	return runReplays(e.ctx, set, left, shown)
}

// runReplays runs the replays until all is settled or ctx is done, and shows progress and results.
func runReplays(ctx context.Context, set *replays.Set, left []*service.Replay, shown *replayScreen) error {
	shownCtx, stop := context.WithCancel(context.WithoutCancel(ctx)) // progress goes on while the replays drain
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		shown.follow(shownCtx, left)
	}()
	errs := set.Run(ctx, left)
	stop()
	<-drawn
	for i, r := range left {
		if errs[i] == nil {
			shown.result(r)
		}
	}
	return errors.Join(errs...)
}

// createShadows creates the missing tables of --into.
func createShadows(e *env, cfg *config.Config, set *replays.Set) error {
	return withHBase(e, cfg, func(cluster *hbase.Client) error {
		made, err := set.CreateShadows(e.ctx, cluster)
		for _, s := range made {
			fmt.Fprintf(e.stderr, "created table %s with %s\n", s.Table, term.Count(s.Regions, "region"))
		}
		return err
	})
}
