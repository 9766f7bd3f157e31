package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"brine/config"
	"brine/service"
	"brine/service/fixes"
	"brine/service/letters"
)

// fix returns the fix that --let describes, or nil if the flag is not given.
func (c *deadlettersReplayCmd) fix(e *env, cfg *config.Config) (*fixes.Fix, error) {
	if len(c.Let) == 0 {
		return nil, nil
	}
	p, err := pipeline(cfg, c.Pipeline)
	if err != nil {
		return nil, err
	}
	c.Pipeline = p.Name // the fix applies to this pipeline only
	fix, err := letters.Fixed(p, c.Let, c.AlterIdentity)
	if err == nil && len(fix.Moves) > 0 {
		fmt.Fprintf(e.stderr, "brine: --let alters %s: the result is no longer ordered as the records say\n", strings.Join(fix.Moves, ", "))
	}
	return fix, err
}

// preview prints what a replay would do, and changes nothing.
func (c *deadlettersReplayCmd) preview(e *env, cfg *config.Config, replay *letters.Replay) error {
	var s *service.Service
	if c.Preview > 0 {
		log := slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		var err error
		if s, err = openService(e, cfg, service.ToRead, log, replay.Names()...); err != nil {
			return err
		}
		defer s.Close()
	}
	var previews *letters.Previews
	err := withProgress(e, replay.Scan, c.Quiet, func() (err error) {
		previews, err = replay.Preview(e.ctx, s, c.Preview, cfg.Mask(), func(effect *letters.Effect) error {
			return effect.Print(e.stdout, c.JSON)
		})
		return err
	})
	if previews != nil {
		err = errors.Join(err, previews.Print(e.stdout, c.JSON))
	}
	return err
}
