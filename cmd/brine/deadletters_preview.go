package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"brine/config"
	"brine/ingest/deadletter"
	"brine/service"
	"brine/service/brokers"
	"brine/service/fixes"
	"brine/service/letters"
)

// fix is what --let says; nil where it says nothing.
func (c *deadlettersReplayCmd) fix(e *env, cfg *config.Config) (*fixes.Fix, error) {
	if len(c.Let) == 0 {
		return nil, nil
	}
	p, err := pipeline(cfg, c.Pipeline)
	if err != nil {
		return nil, err
	}
	c.Pipeline = p.Name // what it fixes is no other's
	fix, err := fixes.New(p, c.Let)
	if err != nil {
		return nil, usage(err)
	}
	moves := strings.Join(fix.Moves, ", ")
	switch {
	case moves != "" && !c.AlterIdentity:
		return nil, usage(fmt.Errorf("--let would alter %s; then another row, or another version of it, is written than the record says; "+
			"look at --preview, and give --alter-identity if that is meant", moves))
	case moves != "":
		fmt.Fprintf(e.stderr, "brine: --let alters %s: what is written is no longer ordered as the records say\n", moves)
	}
	return fix, nil
}

// preview says what a replay would do, and does nothing of it.
func (c *deadlettersReplayCmd) preview(e *env, cfg *config.Config, scan *brokers.DeadLetters, halves []config.Half,
	fix *fixes.Fix) error {
	var s *service.Service
	if c.Preview > 0 {
		var names []string
		for _, h := range halves {
			names = append(names, h.Name())
		}
		log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		var err error
		if s, err = openService(e, cfg, service.ToRead, log, names...); err != nil {
			return err
		}
		defer s.Close()
	}
	previews, err := letters.NewPreviews(halves, fix, s)
	if err != nil {
		return err
	}
	err = withProgress(e, scan, c.Quiet, func() error {
		return previews.Judge(e.ctx, scan.Letters(e.ctx, deadletter.Place{}), c.Preview, cfg.Mask(), func(effect *letters.Effect) error {
			return effect.Print(e.stdout, c.JSON)
		})
	})
	return service.IngestError(errors.Join(err, previews.Print(e.stdout, c.JSON)))
}
