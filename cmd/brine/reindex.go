package main

import (
	"errors"
	"fmt"
	"log/slog"

	"brine/reindex"
	"brine/reindex/display"
	"brine/service"
)

type reindexCmd struct {
	configFlag
	Index       string `arg:"" help:"Index of the configuration to rebuild."`
	From        string `required:"" enum:"hbase,topic" placeholder:"WHAT" help:"Source to build from: hbase (the stored rows) or topic (the records)."`
	Rate        int    `help:"Maximum rows or records per second, for each pipeline (default: no limit)."`
	Workers     int    `default:"4" help:"Number of table ranges to read concurrently (default 4)."`
	DropOld     bool   `help:"Drop the old index once the new one is complete and in use."`
	Again       bool   `help:"Start over, even if a rebuild has already been started."`
	SkipRefused bool   `help:"Replace the old index even if the new one refused documents."`
	SkipMissing bool   `help:"Continue even if the topic no longer has all requested records."`
	DryRun      bool   `help:"Show what would be done, and exit."`
	JSON        bool   `help:"Print plan, progress and result as JSON lines."`
	Quiet       bool   `short:"q" help:"Print no progress."`
}

// Help returns the detailed help of the command.
func (reindexCmd) Help() string {
	return `Builds a new index beside the one in use, which stays readable while the pipelines go on writing; then the new one replaces it
atomically, and holds what arrived in the meantime. The old one is kept unless --drop-old is given. After any interruption, the same
command continues where it was. For other types or fields, start the pipelines with the new configuration first.

Examples:
  brine reindex orders -c brine.yaml --from hbase --dry-run
  brine reindex orders -c brine.yaml --from hbase --rate 20000 --drop-old
  brine reindex orders -c brine.yaml --from topic --json`
}

func (c *reindexCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	if c.Rate < 0 || c.Workers < 1 {
		return usage(errors.New("--rate must be at least 0, --workers at least 1"))
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	s, run, err := service.OpenReindex(e.ctx, cfg, serviceOptions(service.ToRead, log), reindex.Options{Index: c.Index,
		From: reindex.From(c.From), Rate: float64(c.Rate), Workers: c.Workers, Again: c.Again, SkipRefused: c.SkipRefused,
		SkipMissing: c.SkipMissing, DropOld: c.DropOld})
	if err != nil {
		return err
	}
	defer s.Close()
	e.guard(s.Guard)
	screen := display.NewScreen(e.stdout, c.JSON, c.Quiet, c.Rate)
	plan, err := run.Plan(e.ctx)
	if err != nil {
		return service.ReindexError(err)
	}
	screen.Plan(&plan)
	if c.DryRun {
		return nil
	}
	err = screen.Follow(run, plan.Documents, func() error { return run.Run(e.ctx) })
	switch {
	case err != nil && e.ctx.Err() != nil && !errors.Is(err, reindex.ErrTaken):
		return &exitError{exitFailed, fmt.Errorf("stopped while %s", run.Progress().Phase), "the same command continues from there"}
	case err != nil:
		return service.ReindexError(err)
	}
	screen.Result(run.Result())
	return nil
}
