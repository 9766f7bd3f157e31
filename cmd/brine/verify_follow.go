package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"brine/ingest"
	"brine/internal/backoff"
	"brine/verify"
)

// shown does a part of the work with progress on the screen, and with the heap held near what it needs.
func (v *verification) shown(ctx context.Context, do func() (*verify.Report, error)) (*verify.Report, error) {
	const sorting = 64 << 20 // what verify.Options.Memory is at most, twice
	ctx, stop := context.WithCancel(ctx)
	drawn, held := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(drawn)
		v.screen.follow(ctx)
	}()
	go func() {
		defer close(held)
		holdHeap(ctx, int64(v.cfg.Memory)+sorting)
	}()
	r, err := do()
	stop()
	<-drawn
	<-held
	return r, err
}

func (v *verification) hooks() verify.Hooks {
	h := v.metrics.Hooks()
	h.Phase = v.screen.phase
	return h
}

// follow verifies what the live groups have committed since the last time, until ctx ends.
func (v *verification) follow(ctx context.Context) error {
	stop, err := v.serve()
	if err != nil {
		return err
	}
	defer stop()
	at, err := v.positions(ctx)
	if err != nil {
		return err
	}
	v.screen.said("following: what is committed from now on is verified every %v", v.cmd.Every)
	for backoff.Wait(ctx, v.cmd.Every) == nil {
		next, err := v.round(ctx, at)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			v.metrics.Failed()
			v.screen.said("not verified, and tried again with the next: %v", err)
		default:
			at = next
		}
	}
	return nil
}

// positions are what the groups have committed, by group and partition.
func (v *verification) positions(ctx context.Context) (map[string]map[int]int64, error) {
	at := map[string]map[int]int64{}
	for _, g := range v.groups {
		if err := g.ask(ctx, v.kafka); err != nil {
			return nil, kafkaError(fmt.Errorf("%s: %w", g.name, err))
		}
		at[g.group] = map[int]int64{}
		for partition := range g.ends {
			at[g.group][partition], _ = g.at(partition)
		}
	}
	return at, nil
}

// round verifies what was committed between at and now, and gives where now is.
func (v *verification) round(ctx context.Context, at map[string]map[int]int64) (map[string]map[int]int64, error) {
	next, err := v.positions(ctx)
	if err != nil {
		return nil, err
	}
	o := verify.Options{Sample: v.cmd.share, Dir: v.cmd.Temp, Hooks: v.hooks(), Tables: v.tables}
	for _, g := range v.groups {
		if maps.Equal(at[g.group], next[g.group]) {
			continue
		}
		s := v.source(g)
		s.From, s.To, s.Settled = ingest.Offsets(at[g.group]), ingest.Offsets(next[g.group]), nil
		o.Sources = append(o.Sources, s)
	}
	if len(o.Sources) == 0 {
		v.metrics.Verified(time.Now())
		return next, nil
	}
	return next, v.verified(ctx, o)
}

func (v *verification) verified(ctx context.Context, o verify.Options) error {
	check, err := verify.New(o)
	if err != nil {
		return err
	}
	defer check.Close()
	r, err := v.shown(ctx, func() (*verify.Report, error) { return check.Run(ctx) })
	if err != nil {
		return err
	}
	v.screen.report(r, v.cmd.Show)
	v.metrics.Verified(time.Now())
	if damaged, _ := repairable(r); v.cmd.Repair && damaged > 0 {
		return v.repair(ctx, check, o)
	}
	return nil
}

func (v *verification) repair(ctx context.Context, check *verify.Check, o verify.Options) error {
	all, err := v.writers(ctx)
	if err != nil {
		return err
	}
	var writers []ingest.Writer
	for _, s := range o.Sources {
		for i, g := range v.groups {
			if g.name == s.Name {
				writers = append(writers, all[i])
			}
		}
	}
	n, err := check.Repair(ctx, writers)
	if err != nil {
		return err
	}
	v.screen.said("written again: %s records", thousands(n))
	r, err := check.Again(ctx)
	if err != nil {
		return err
	}
	v.screen.again(r, v.cmd.Show)
	v.metrics.Verified(time.Now())
	return nil
}

// serve answers for metrics and health, if that was asked for, until the function that it gives is called.
func (v *verification) serve() (stop func(), err error) {
	if v.cmd.Listen == "" {
		return func() {}, nil
	}
	healthy := func() (any, error) {
		if !v.metrics.Healthy(time.Now(), 3*v.cmd.Every) {
			return nil, errors.New("nothing was verified for three times as long as --every")
		}
		return "ok", nil
	}
	a, err := openAdmin(v.cmd.Listen, &v.service.cfg.HTTP, v.service.reg, healthy, healthy, v.service.log)
	if err != nil {
		return nil, err
	}
	serveSkew(a, v.service.tables)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.Run(ctx) // what stops it is the end
	}()
	v.screen.said("metrics and health on http://%s", a.Addr())
	return func() { cancel(); <-done }, nil
}
