package main

import (
	"log/slog"

	"brine/internal/term"
	"brine/service"
)

type explainCmd struct {
	configFlag
	timeoutFlag
	Topic     string `arg:"" help:"Topic of the record."`
	Partition int    `arg:"" help:"Partition of the record."`
	Offset    int64  `arg:"" help:"Offset of the record."`
	Pipeline  string `placeholder:"NAME" help:"Only this pipeline (default: all that read the topic)."`
	JSON      bool   `help:"Print JSON."`
}

// Help returns the detailed help of the command.
func (explainCmd) Help() string {
	return `Shows what each pipeline makes of the record: its fields, its version, why it is left out, the rows and documents that it
becomes next to the stored ones, its dead letter, and whether its offset is committed. It writes nothing and joins no group.

Example:
  brine explain -c brine.yaml courier.scans 3 1041
  brine explain -c brine.yaml courier.scans 3 1041 --json`
}

func (c *explainCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	halves, err := service.Reading(cfg, c.Topic, c.Pipeline)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := openService(e, cfg, service.ToRead, log, halves...)
	if err != nil {
		return err
	}
	defer s.Close()
	report, err := s.Explain(e.ctx, c.Topic, c.Partition, c.Offset)
	if err != nil {
		return err
	}
	if c.JSON {
		screen := term.NewScreen(e.stdout, true)
		screen.JSON(report)
		return nil
	}
	report.Print(e.stdout)
	return nil
}
