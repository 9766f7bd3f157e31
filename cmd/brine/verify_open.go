package main

import (
	"context"
	"log/slog"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/ingest/offsets"
	"brine/metrics"
	"brine/service"
	"brine/service/brokers"
	"brine/verify"
	"brine/verify/display"
)

// verification is a verify command with its stores open.
type verification struct {
	cmd     *verifyCmd
	cfg     *config.Config
	brokers *offsets.Client // one for all rounds: each has connections of its own
	halves  []verifiedHalf
	service *service.Service
	log     *slog.Logger
	metrics *metrics.Verify
	screen  *display.Screen
	options verify.Options
}

// verifiedHalf is one half of a pipeline, and the group whose commits say what is expected of it.
type verifiedHalf struct {
	*brokers.Group
	pipeline *config.Pipeline
}

// open finds out what is meant, and opens the stores of that.
func (c *verifyCmd) open(e *env) (*verification, error) {
	cfg, err := c.load(e)
	if err != nil {
		return nil, err
	}
	v := &verification{cmd: c, cfg: cfg, brokers: brokers.Open(&cfg.Kafka), screen: display.NewScreen(e.stdout, c.JSON, c.Quiet, cfg.Mask())}
	v.log = slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	groups, err := c.groups(e.ctx, cfg, v.brokers)
	if err != nil {
		return nil, err
	}
	if c.span.Partitions != nil {
		if err := brokers.OfOneTopic(brokers.HalvesOf(groups), "--from, --to, --partitions"); err != nil {
			return nil, err
		}
	}
	for _, g := range groups {
		v.halves = append(v.halves, verifiedHalf{g, g.Half.Pipeline})
	}
	if err := v.openStores(e); err != nil {
		return nil, err
	}
	return v, nil
}

// openStores opens what the halves write to, and no other, and makes the options of the verification.
func (v *verification) openStores(e *env) (err error) {
	v.options = verify.Options{Full: v.cmd.Full, Sample: v.cmd.share, Dir: v.cmd.Temp}
	var halves []string
	for _, h := range v.halves {
		v.options.Sources = append(v.options.Sources, v.source(h.Half))
		halves = append(halves, h.Half.Name())
	}
	if v.cmd.Full {
		if err := service.VerifiesWhole(v.cfg, v.options.Sources); err != nil {
			return usage(err)
		}
	}
	if v.service, err = openService(e, v.cfg, service.ToRead, v.log, halves...); err != nil {
		return err
	}
	v.metrics = metrics.NewVerify(v.service.Registry())
	v.options.Hooks = v.metrics.Hooks()
	v.options.Hooks.Phase = v.screen.Phase
	v.options.Tables = verify.Tables(v.options.Sources, v.service.Client(), v.service.Engine())
	return nil
}

// source is one half of a pipeline, of which all of the range is expected.
func (v *verification) source(h config.Half) verify.Source {
	s := service.VerifySource(v.cfg, h, v.log, func() *hbase.Client { return v.service.Client() })
	s.From, s.To, s.Partitions = v.cmd.span.From, v.cmd.span.To, v.cmd.span.Partitions
	s.Cause = func() string { return v.service.CauseOf(v.service.Half(s.Name)) }
	s.Ingest.RecordsPerSecond = float64(v.cmd.Rate)
	return s
}

// expect has only what the groups have committed by now be expected to be there.
func (v *verification) expect(ctx context.Context) error {
	committed, err := v.committed(ctx)
	if err != nil || v.cmd.Ahead {
		return err
	}
	for i, h := range v.halves {
		if len(h.Committed) == 0 {
			v.screen.Note("%s: the group %s has committed nothing, so all of the range is expected to be there", h.Half.Name(), h.Group.Group.Group)
			continue
		}
		v.options.Sources[i].Settled = committed[i]
	}
	return nil
}

// committed asks where the groups go on, by half and partition.
func (v *verification) committed(ctx context.Context) ([]map[int]int64, error) {
	out := make([]map[int]int64, len(v.halves))
	for i, h := range v.halves {
		if err := h.LookUp(ctx, v.brokers); err != nil {
			return nil, err
		}
		out[i] = map[int]int64{}
		for partition := range h.Ends {
			out[i][partition], _ = h.Next(partition)
		}
	}
	return out, nil
}

// writers are what a repair writes with, by half.
func (v *verification) writers(ctx context.Context) ([]event.Writer, error) {
	if err := v.service.OpenWriters(ctx); err != nil {
		return nil, err
	}
	var out []event.Writer
	for _, h := range v.halves {
		out = append(out, v.service.Half(h.Half.Name()).Writer())
	}
	return out, ctx.Err()
}
