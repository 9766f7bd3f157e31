package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/config"
	"brine/event"
	"brine/ingest"
	"brine/ingest/control"
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
	h.opened, h.reads = time.Now(), reload.Reader{Meaning: reload.MeaningOf(config.Half{Pipeline: h.pipeline, Kind: h.kind})}
	h.opts.Pace = pace.New(unread(s.control.Name(), ""))
	s.obey(h)
	loop, err := ingest.New(h.opts)
	if err != nil {
		return fault.Misused(err)
	}
	h.loop = loop
	return nil
}

// admit is the half's ingest.Options.Admit. A partition that was read by a configuration newer than the half's waits until this process is
// reloaded too. One that was last read by another configuration gets its mark before the next record is read.
func (s *Service) admit(h *Half) func(context.Context, ingest.Taken) (string, error) {
	return func(ctx context.Context, t ingest.Taken) (string, error) {
		was, now := reload.ParseReader(t.Reader), h.reads
		if was.Meaning != now.Meaning && was.Since.After(h.opened) {
			t.Held(ingest.OtherConfiguration, fmt.Errorf("another member of the group was reloaded at %s and has read this partition by its "+
				"configuration up to offset %d; reload this process with the same configuration", was.Since.UTC().Format(time.RFC3339), t.Offset))
			<-ctx.Done()
			return "", ctx.Err()
		}
		if was.Meaning == now.Meaning && now.Since.IsZero() {
			now.Since = was.Since // after a restart it is still the configuration of the reload before
		}
		if was.Last() != now.Meaning {
			at := reload.Offset{Half: h.name, Topic: t.Topic, Partition: t.Partition, Offset: t.Offset}
			if err := s.recordTaken(ctx, h, at, was, t.Held); err != nil {
				return "", err
			}
		}
		return now.String(), nil
	}
}

// recordTaken records where a half begins to read a partition that was last read by another configuration. It tries again until that is
// durable, ctx ends, or brine may not write it.
func (s *Service) recordTaken(ctx context.Context, h *Half, at reload.Offset, was reload.Reader, held func(event.Reason, error)) error {
	for pauses := (backoff.Pauses{Base: 100 * time.Millisecond, Limit: h.opts.HaltPause}); ; {
		mark, kept, err := s.markOf(ctx, h, at, was)
		if err == nil && mark.Group == "" {
			return nil
		}
		if err == nil {
			err = s.record(ctx, mark, kept, []reload.Offset{at})
		}
		switch {
		case err == nil:
			s.log.Info("audit: a partition that was read by another configuration is read by this one", "from", at.String())
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ingest.ErrDenied):
			s.log.Warn("cannot record from where on a partition is read by this configuration", "from", at.String(), "error", err)
			return nil
		}
		held(ingest.OtherConfiguration, fmt.Errorf("cannot record from where on it is read by this configuration: %w", err))
		if err := pauses.Wait(ctx); err != nil {
			return err
		}
	}
}

// markOf returns the mark that a partition needs, and the earlier configuration, if the mark needs that too. A half that was not reloaded
// was started with another configuration, which leaves a mark only if a reload has begun to lead away from the earlier one: it announced
// that in the commit, or has kept the earlier configuration, before it was cut short.
func (s *Service) markOf(ctx context.Context, h *Half, at reload.Offset, was reload.Reader) (
	m control.Mark, kept control.Configuration, err error,
) {
	switch o := h.onward; {
	case o == nil && was.Last() == "": // nobody has read it, or nobody noted who: the topic is not read once for each partition to find that
		return m, kept, nil
	case o == nil:
		if was.Before == "" {
			_, all, err := s.marks.Marks(ctx)
			if _, known := all[was.Last()]; err != nil || !known {
				return m, kept, err
			}
		}
		m = control.Mark{Group: h.group, After: reload.Digest(h.cfg), Is: h.reads.Meaning, By: "a start", At: time.Now()}
	case slices.Contains(o.from, at):
		return m, kept, nil
	default:
		m = o.mark
		if was.Last() == o.kept.Name {
			kept = o.kept
		}
	}
	m.Was = was.Last()
	return m, kept, nil
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
