package main

import (
	"context"
	"errors"
	"time"

	"brine/verify"
)

// follow verifies what the live groups have committed since the last round, until ctx is done.
func (v *verification) follow(ctx context.Context) error {
	stop, err := v.serve()
	if err != nil {
		return err
	}
	defer stop()
	f := verify.Follower{
		Options: v.Options, Every: v.cmd.Every, Committed: v.round, Work: v.work,
		Started: func() {
			v.metrics.Proved(time.Now(), v.Options.Sample < 1) // nothing has been committed since
			v.screen.Note("following: verifying new commits every %v", v.cmd.Every)
		},
		Verified: func(r *verify.Report) {
			if r != nil {
				v.screen.Report(r, v.cmd.Show)
			}
			v.metrics.Verified(time.Now())
		},
		Repaired: func(records int64, again *verify.Report) {
			v.screen.Repaired(records, nil)
			v.screen.Again(again, v.cmd.Show)
			v.metrics.Verified(time.Now())
		},
		Proved: func(through time.Time) {
			v.screen.Proved(through, v.Options.Sample < 1)
			v.metrics.Proved(through, v.Options.Sample < 1)
		},
		Failed: func(err error) {
			v.metrics.Failed()
			v.screen.Note("not verified; will retry in the next round: %v", err)
		},
	}
	if v.cmd.Repair {
		f.Writers = v.Writers
	}
	return f.Run(ctx)
}

// round is Round, and says if a group has come to be read by another configuration.
func (v *verification) round(ctx context.Context) (next, ends []map[int]int64, err error) {
	if next, ends, err = v.Round(ctx); err == nil {
		v.Say(v.screen.Note)
	}
	return next, ends, err
}

// serve serves metrics and health, if --listen is given, until stop is called.
func (v *verification) serve() (stop func(), err error) {
	if v.cmd.Listen == "" {
		return func() {}, nil
	}
	healthy := func() (any, error) {
		if !v.metrics.Healthy(time.Now(), 3*v.cmd.Every) {
			return nil, errors.New("nothing was verified for three times --every")
		}
		return "ok", nil
	}
	a, err := v.Service.Port(v.cmd.Listen, "--listen", healthy, healthy)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.Run(ctx) // it ends only when it is stopped
	}()
	v.screen.Note("metrics and health on %s", a.URL())
	return func() { cancel(); <-done }, nil
}
