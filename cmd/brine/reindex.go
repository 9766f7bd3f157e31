package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/config"
	"brine/indexer"
	"brine/reindex"
	"brine/reindex/display"
	"brine/schema"
	"brine/search"
	"brine/service"
)

type reindexCmd struct {
	configFlag
	Index       string `arg:"" help:"Index of the configuration to rebuild."`
	From        string `required:"" enum:"hbase,topic" placeholder:"WHAT" help:"Build it from the rows in hbase, or from the records in the topic."`
	Rate        int    `help:"Most rows, and then records, per second of each pipeline (default: no limit)."`
	Workers     int    `default:"4" help:"Ranges of the table that are read at the same time (default 4)."`
	DropOld     bool   `help:"Drop the old index once the new one has its place and is complete."`
	Again       bool   `help:"Begin again, whatever was begun."`
	SkipRefused bool   `help:"Take the old index's place though the new one refuses documents."`
	SkipMissing bool   `help:"Go on though the topic has forgotten some of what is asked of it."`
	DryRun      bool   `help:"Show the plan and stop."`
	JSON        bool   `help:"Print plan, progress and result as JSON lines."`
	Quiet       bool   `short:"q" help:"Print no progress."`
}

// Help is shown under the command's own help.
func (reindexCmd) Help() string {
	return `Builds the index beside the one that is in use, while that is read and the pipelines go on writing; then the new one takes its
place, at once, and holds what came meanwhile. The old one is kept unless --drop-old is given. Interrupted in any way, the same
command goes on where it was. For other types or fields, start the pipelines with the new configuration first.

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
		return usage(errors.New("--rate: give a number from 0 on; --workers: from 1 on"))
	}
	pipelines, err := c.pipelines(cfg)
	if err != nil {
		return usage(err)
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	s, err := c.open(e, cfg, pipelines, log)
	if err != nil {
		return err
	}
	defer s.Close()
	run, err := reindex.New(c.options(s, log))
	if err != nil {
		return reindexError(err)
	}
	screen := display.NewScreen(e.stdout, c.JSON, c.Quiet, c.Rate)
	plan, err := run.Plan(e.ctx)
	if err != nil {
		return reindexError(err)
	}
	screen.Plan(&plan)
	if c.DryRun {
		return nil
	}
	err = screen.Follow(run, plan.Documents, func() error { return run.Run(e.ctx) })
	switch {
	case err != nil && e.ctx.Err() != nil && !errors.Is(err, reindex.ErrTaken):
		return &exitError{exitFailed, fmt.Errorf("stopped while %s", run.Progress().Phase), "the same command goes on from there"}
	case err != nil:
		return reindexError(err)
	}
	screen.Result(run.Result())
	return nil
}

// pipelines are those that write the index.
func (c *reindexCmd) pipelines(cfg *config.Config) (out []*config.Pipeline, err error) {
	for _, p := range cfg.Pipelines {
		if slices.ContainsFunc(p.Documents, func(d config.Documents) bool { return d.Index == c.Index }) {
			if p.Several() {
				return nil, fmt.Errorf("pipeline %s, which writes the index %s, reads several topics (%s): reindex reads only one; "+
					"brine replay --half documents writes the index again", p.Name, c.Index, p.TopicText())
			}
			out = append(out, p)
		}
	}
	if out != nil {
		return out, nil
	}
	var names []string
	for _, x := range cfg.Indexes {
		names = append(names, x.Name)
	}
	return nil, fmt.Errorf("no pipeline of the configuration writes an index %s; its indexes are %s", c.Index, strings.Join(names, ", "))
}

// open opens what is read and written, and no more.
func (c *reindexCmd) open(e *env, cfg *config.Config, pipelines []*config.Pipeline, log *slog.Logger) (*service.Service, error) {
	var halves []string
	for _, p := range pipelines {
		halves = append(halves, config.Half{Pipeline: p, Kind: service.Documents}.Name())
		if c.From == string(reindex.FromHBase) {
			halves = append(halves, config.Half{Pipeline: p, Kind: service.Rows}.Name())
		}
	}
	s, err := openService(e, cfg, service.ToRead, log, halves...)
	if err != nil {
		return nil, err
	}
	if _, err := s.Engine().Mapping(e.ctx, c.Index); err != nil && !errors.Is(err, search.ErrNoIndex) {
		s.Close()
		return nil, schema.SearchError(err)
	}
	return s, nil
}

func (c *reindexCmd) options(s *service.Service, log *slog.Logger) reindex.Options {
	o := reindex.Options{Index: c.Index, From: reindex.From(c.From), Engine: s.Engine(), Rate: float64(c.Rate), Workers: c.Workers,
		Again: c.Again, SkipRefused: c.SkipRefused, SkipMissing: c.SkipMissing, DropOld: c.DropOld, Logger: log, Client: s.Client()}
	for _, p := range s.Config().Pipelines {
		o.Sources = append(o.Sources, s.ReindexSource(p, c.Index))
	}
	return o
}

// reindexError gives an error its exit code, and says what fixes it.
func reindexError(err error) error {
	for _, known := range []struct {
		is   error
		code int
		hint string
	}{
		{reindex.ErrTaken, exitFailed, "wait until it is done, or stop it: the same command then goes on from there"},
		{reindex.ErrBegun, exitUsage, "go on with the same command as then, or give --again to begin again"},
		{reindex.ErrRefused, exitFailed,
			"fix the index's fields in the configuration and begin --again; or --skip-refused takes its place without them, as dead letters of " +
				"mapping_refused are left out of the old one"},
		{reindex.ErrMissing, exitFailed,
			"build it --from hbase, which holds what the topic has forgotten; or --skip-missing builds it of what is there"},
		{reindex.ErrNotOf, exitUsage, "--from topic"},
		{reindex.ErrNoRoom, exitFailed, "make room, or drop indexes that are not used"},
		{reindex.ErrInTheWay, exitFailed, "drop it, or give --again, which does"},
		{search.ErrNoIndex, exitMissing,
			"brine tables apply -c FILE makes an index that is missing; of one that was being built, --again begins again"},
	} {
		if errors.Is(err, known.is) {
			return &exitError{known.code, err, known.hint}
		}
	}
	var refused *indexer.RequestError
	if errors.As(err, &refused) {
		return schema.SearchError(err)
	}
	return service.IngestError(err)
}
