package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/ingest/control"
	"brine/ingest/pace"
	"brine/internal/fault"
	"brine/schema"
	"brine/service/brokers"
	"brine/service/former"
)

// What people can ask of running pipelines.
const (
	Pause  = "pause"
	Resume = "resume"
	Limit  = "limit" // records per second for the whole group; 0 removes the limit
)

const mostLimit = 1e9

// Ask is a request to pause, resume or limit a pipeline.
type Ask struct {
	What     string // Pause, Resume or Limit
	Pipeline string
	Half     string // Rows, Documents, or empty for every half of the pipeline
	Limit    float64
	By       string // who asks
}

// Asked is the current order for one half.
type Asked struct {
	Half   string    `json:"pipeline"` // pipeline.half
	Paused bool      `json:"paused"`
	Limit  float64   `json:"limit,omitempty"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// Control sends orders to running pipelines, in whatever process they run: all members read the same topic. It is safe for concurrent use.
type Control struct {
	config func() *config.Config
	topic  *control.Topic
	log    *slog.Logger
}

// NewControl returns a Control for the pipelines of a configuration. It does not connect yet.
func NewControl(cfg *config.Config, log *slog.Logger) *Control {
	return &Control{func() *config.Config { return cfg }, openControl(cfg, log), log}
}

func openControl(cfg *config.Config, log *slog.Logger) *control.Topic {
	k := &cfg.Kafka
	return control.Open(control.Options{Kafka: k.Options(), RequestTimeout: k.RequestTimeout, Topic: k.Control(), Logger: log})
}

// Former returns how the halves were configured before, as recorded by reloads and starts. For the given halves, each of a single topic, it
// also asks by which configuration their groups read. It returns nil if brine is not allowed to read those notes.
func Former(ctx context.Context, cfg *config.Config, log *slog.Logger, halves ...config.Half) (*former.Notes, error) {
	topic := openControl(cfg, log)
	defer topic.Close()
	notes, err := former.Read(ctx, topic, cfg)
	switch {
	case errors.Is(err, ingest.ErrDenied):
		log.Warn("cannot find out which records were written with another filter; assuming this configuration for all",
			"topic", topic.Name(), "error", err)
		return nil, nil
	case err != nil:
		return nil, controlError(err, topic.Name())
	}
	if len(halves) == 0 {
		return notes, nil
	}
	client := brokers.Open(&cfg.Kafka)
	defer client.Close()
	for _, h := range halves {
		committed, err := client.LastOf(ctx, h.Group(), h.Pipeline.Topic)
		if err != nil {
			return nil, brokers.Error(err)
		}
		for partition, c := range committed {
			notes.Committed(h, partition, former.Commit(c))
		}
	}
	return notes, nil
}

// Close cancels all requests.
func (c *Control) Close() { c.topic.Close() }

// Control returns the service's own Control, which the service closes. If the service was not opened ToRun, the first call creates it; that
// call is not safe for concurrent use.
func (s *Service) Control() *Control {
	if s.control == nil {
		s.control = openControl(s.Config(), s.log)
	}
	return &Control{s.Config, s.control, s.log}
}

// Asked returns the current orders by name of half. A half without an order is absent.
func (c *Control) Asked(ctx context.Context) (map[string]Asked, error) {
	state, err := c.topic.Read(ctx)
	if err != nil {
		return nil, controlError(err, c.topic.Name())
	}
	out := map[string]Asked{}
	for _, h := range c.config().Halves() {
		if e, ok := state[h.Group()]; ok {
			out[h.Name()] = Asked{h.Name(), e.Paused, e.Limit, e.By, e.At}
		}
	}
	return out, nil
}

// Members returns what members have reported about their processes, by member id, as of the last Asked or, of a running service, as of the
// last second. It includes members that were killed since: the brokers know which of them are still in their groups.
func (c *Control) Members() map[string]control.Member {
	by := map[string]control.Member{}
	for _, m := range c.topic.Members() {
		by[m.ID] = m
	}
	return by
}

// Ask sends an order to a pipeline's halves and returns their orders as they are now. When Ask returns, the order is durable, and all
// members follow it within seconds. A half keeps its limit while it is paused.
func (c *Control) Ask(ctx context.Context, a Ask) ([]Asked, error) {
	halves, err := askedHalves(c.config(), a.Pipeline, a.Half)
	if err != nil {
		return nil, err
	}
	if a.Limit != 0 && !(a.Limit >= 1 && a.Limit <= mostLimit) { // also rejects NaN
		return nil, fault.Misused(fmt.Errorf("the limit is %g; it must be from 1 to %g records a second, or 0 for none", a.Limit, mostLimit))
	}
	state, err := c.topic.Read(ctx)
	if err != nil {
		return nil, controlError(err, c.topic.Name())
	}
	var out []Asked
	for _, h := range halves {
		before := state[h.Group()]
		e, put := before, c.topic.Put
		switch a.What {
		case Pause:
			e.Paused = true
		case Resume:
			e.Paused = false
		case Limit:
			e.Limit, put = a.Limit, c.topic.PutLimit
		default:
			return out, fault.Misused(fmt.Errorf("%q is not %s, %s or %s", a.What, Pause, Resume, Limit))
		}
		if e.Paused != before.Paused || e.Limit != before.Limit {
			e.By, e.At = a.By, time.Now().Truncate(time.Millisecond)
			if err := put(ctx, h.Group(), e); err != nil {
				return out, controlError(err, c.topic.Name())
			}
			c.log.Info("pipeline command: "+a.What, "pipeline", h.Name(), "by", a.By,
				"paused", e.Paused, "limit", e.Limit, "paused_before", before.Paused, "limit_before", before.Limit)
		}
		out = append(out, Asked{h.Name(), e.Paused, e.Limit, e.By, e.At})
	}
	return out, nil
}

// controlError wraps an error of the control topic in its fault kind.
func controlError(err error, topic string) error {
	if errors.Is(err, ingest.ErrDenied) {
		return fault.New(fault.Failed, fmt.Errorf("control topic: %w", err),
			"allow the user to describe, read, write and create topic "+topic+" (kafka.control_topic)")
	}
	return brokers.Error(err)
}

// askedHalves returns the halves that an Ask selects.
func askedHalves(cfg *config.Config, pipeline, half string) ([]config.Half, error) {
	p := cfg.Pipeline(pipeline)
	if p == nil {
		var names []string
		for _, p := range cfg.Pipelines {
			names = append(names, p.Name)
		}
		return nil, fault.New(fault.Missing, fmt.Errorf("no pipeline %q; there are %s", pipeline, strings.Join(names, ", ")), "name one of them")
	}
	var halves []config.Half
	for _, h := range p.Halves() {
		if half == "" || h.Kind == half {
			halves = append(halves, h)
		}
	}
	if len(halves) == 0 {
		return nil, fault.Misused(fmt.Errorf("pipeline %s has no half %q; --half is rows or documents", pipeline, half))
	}
	return halves, nil
}

// order is the last order read for a running half.
type order struct{ entry atomic.Pointer[control.Entry] }

// unread returns the order of a half until the control topic has been read.
func unread(topic, why string) pace.Order {
	return pace.Order{Paused: true, Unread: true, Why: "it may be paused: topic " + topic + " has not been read yet" + why}
}

// followControl applies orders to the halves until ctx is done.
func (s *Service) followControl(ctx context.Context) {
	name := s.control.Name()
	s.control.Follow(ctx, func(asked map[string]control.Entry) {
		s.asked.Store(&asked)
		for _, h := range s.all() {
			s.obey(h)
		}
	}, func(err error) {
		s.log.Warn("cannot read pauses and limits of pipelines", "topic", name, "error", controlError(err, name))
		for _, h := range s.all() {
			if h.opts.Pace.Order().Unread {
				h.opts.Pace.Set(unread(name, ": "+err.Error()))
			}
		}
	})
}

// checkControl logs an error if the control topic deletes old records. It runs beside followControl, because nothing else runs until
// that has read the topic.
func (s *Service) checkControl(ctx context.Context) {
	if message, fix, err := schema.ControlForgets(ctx, s.Config(), s.topics); err == nil && message != "" {
		s.log.Error("the control topic forgets", "problem", message, "fix", fix)
	}
}

// obey applies the latest order to a half, if the control topic has been read.
func (s *Service) obey(h *Half) {
	s.obeying.Lock() // the latest order wins
	defer s.obeying.Unlock()
	asked := s.asked.Load()
	if asked == nil {
		return
	}
	e := (*asked)[h.group]
	before := h.opts.Pace.Order()
	if now := (pace.Order{Paused: e.Paused, Limit: e.Limit}); before != now {
		h.opts.Pace.Set(now)
		if !before.Unread || now.Paused || now.Limit > 0 {
			s.log.Info("pipeline pace changed", "pipeline", h.name, "paused", e.Paused, "limit", e.Limit, "by", e.By)
		}
	}
	h.order.entry.Store(&e)
}
