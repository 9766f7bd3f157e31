package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"brine/ingest"
	"brine/ingest/pace"
	"brine/internal/backoff"
	"brine/internal/fault"
	"brine/metrics"
	"brine/schema"
	"brine/service/brokers"
	"brine/service/reload"
	"brine/service/stores"
)

// makeLoops creates the loop of each half.
func (s *Service) makeLoops() error {
	s.control = openControl(s.Config(), s.log)
	s.marks = s.control
	for _, h := range s.all() {
		if err := s.makeLoop(h); err != nil {
			return err
		}
		h.flow = s.observe(h)
	}
	return nil
}

// observe registers the half's metrics, replacing those of a half of the same name. The returned function reports how fast the half's
// partitions move.
func (s *Service) observe(h *Half) func() metrics.Flow {
	s.ingest.Undeclared(h.pipeline.Name, h.kind, h.undeclared.Counts)
	return s.ingest.Watch(h.pipeline.Name, h.kind, h.loop.Status, h.opts.Budget, &h.meter, func() (metrics.Left, bool) {
		return s.kept.left(h.loop.Status().Partitions, time.Now())
	})
}

// makeLoop creates a half's loop. The loop starts paused, until the control topic has been read.
func (s *Service) makeLoop(h *Half) error {
	h.opts.AwaitTopic = s.awaitTopic(h)
	h.opts.Admit = s.admit(h)
	h.opened, h.reads = time.Now(), reload.Reader{Meaning: reload.MeaningOf(h.of())}
	h.opts.Pace = pace.New(unread(s.control.Name(), ""))
	s.obey(h)
	loop, err := ingest.New(h.opts)
	if err != nil {
		return fault.Misused(err)
	}
	h.loop = loop
	return nil
}

// closeHalf closes what a half's loop leaves open.
func (s *Service) closeHalf(h *Half) {
	if h.docs != nil {
		stores.Close("the indexer", h.docs, s.log)
	}
}

// CreatesTopic is the fix for a missing topic.
const CreatesTopic = "create the topic, or correct pipelines.*.topic"

// awaitTopic returns a function that makes a half whose topic is missing look for it again, slowly, as long as another half has found its
// topic. Once the topic may exist, a pipeline that purges deletes is checked against the topic's retention, as at startup.
func (s *Service) awaitTopic(h *Half) func(context.Context, error) error {
	var once sync.Once
	return func(ctx context.Context, missing error) error {
		if !h.opts.Patient && !slices.ContainsFunc(s.all(), func(other *Half) bool { return !other.loop.Status().NoTopic }) {
			return missing
		}
		once.Do(func() {
			s.log.Error("topic of a pipeline is missing; will keep looking while other pipelines run",
				"pipeline", h.name, "error", missing, "fix", CreatesTopic)
		})
		if err := backoff.Wait(ctx, h.opts.HaltPause); err != nil {
			return err
		}
		return schema.CheckDeletes(ctx, h.cfg, h.pipeline, s.topics)
	}
}

// IngestError wraps an error of a loop or a replay in its fault kind.
func IngestError(err error) error {
	switch {
	case errors.Is(err, ingest.ErrNoTopic):
		return fault.New(fault.Missing, err, CreatesTopic)
	case errors.Is(err, ingest.ErrNoPartition):
		return fault.New(fault.Missing, err, "fix --partitions, or the partitions of --from and --to")
	case errors.Is(err, ingest.ErrOtherReplay):
		return fault.Misused(err)
	case errors.Is(err, ingest.ErrDenied):
		return fault.New(fault.Failed, err, brokers.Fix(err))
	case errors.Is(err, ingest.ErrUnreachable):
		return fault.New(fault.Unreachable, err, brokers.Fix(err))
	}
	return err
}
