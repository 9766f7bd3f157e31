package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/config"
	"brine/event"
	"brine/ingest"
	"brine/ingest/control"
	"brine/internal/backoff"
	"brine/service/former"
	"brine/service/reload"
)

// reader is the configuration by which a half reads. Commits note it (ingest.Taken), so that members that have not been reloaded yet leave
// alone what others already read by the new configuration.
type reader struct {
	meaning string    // see reload.MeaningOf
	since   time.Time // when a reload brought it; zero: it is that of a start
}

// String returns the note: the meaning, and the time in milliseconds.
func (r reader) String() string {
	if r.since.IsZero() {
		return r.meaning
	}
	return r.meaning + "@" + strconv.FormatInt(r.since.UnixMilli(), 10)
}

// parseReader parses a note. What is no note is a meaning that no half has.
func parseReader(text string) reader {
	meaning, at, reloaded := strings.Cut(text, "@")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !reloaded || err != nil {
		return reader{meaning: text}
	}
	return reader{meaning, time.UnixMilli(ms)}
}

// onward is how a reload changed what a half makes of records from its offsets on.
type onward struct {
	mark          control.Mark // without a place
	before, after *config.Pipeline
	was           *config.Config
	earlier       reader          // how the half read before
	from          []reload.Offset // where it stopped; the reload itself records these
}

// admit is the half's ingest.Options.Admit. A partition that was read by a configuration newer than the half's waits until this process is
// reloaded too. One that a reloaded half gets from a member that read it by another configuration gets its mark before the next record is
// read.
func (s *Service) admit(h *Half) func(context.Context, ingest.Taken) (string, error) {
	return func(ctx context.Context, t ingest.Taken) (string, error) {
		was := parseReader(t.Reader)
		if was.meaning != h.reads.meaning && was.since.After(h.opened) {
			t.Held(ingest.OtherConfiguration, fmt.Errorf("another member of the group was reloaded at %s and has read this partition by its "+
				"configuration up to offset %d; reload this process with the same configuration", was.since.UTC().Format(time.RFC3339), t.Offset))
			<-ctx.Done()
			return "", ctx.Err()
		}
		if was.meaning == h.reads.meaning && h.reads.since.IsZero() {
			return t.Reader, nil // after a restart it is still the configuration of the reload before
		}
		at := reload.Offset{Half: h.name, Topic: t.Topic, Partition: t.Partition, Offset: t.Offset}
		if was.meaning != h.reads.meaning && h.onward != nil && !slices.Contains(h.onward.from, at) {
			if err := s.recordTaken(ctx, h, at, was, t.Held); err != nil {
				return "", err
			}
		}
		return h.reads.String(), nil
	}
}

// recordTaken records where a reloaded half begins to read a partition of another member. It tries again until that is durable, ctx ends,
// or brine may not write it.
func (s *Service) recordTaken(ctx context.Context, h *Half, at reload.Offset, was reader, held func(event.Reason, error)) error {
	o := *h.onward
	if was.meaning != o.earlier.meaning {
		o.before = nil // it is not known what was in force
	}
	for pauses := (backoff.Pauses{Base: 100 * time.Millisecond, Limit: h.opts.HaltPause}); ; {
		err := s.record(ctx, &o, []reload.Offset{at})
		switch {
		case err == nil:
			s.log.Info("audit: a partition that another member had is read by the reloaded configuration", "from", at.String())
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ingest.ErrDenied):
			s.log.Warn("cannot record from where on a partition is read by the reloaded configuration", "from", at.String(), "error", err)
			return nil
		}
		held(ingest.OtherConfiguration, fmt.Errorf("cannot record from where on it is read by the reloaded configuration: %w", err))
		if err := pauses.Wait(ctx); err != nil {
			return err
		}
	}
}

// record stores in the control topic from which offsets on a half writes differently, and how it was configured before.
func (s *Service) record(ctx context.Context, o *onward, from []reload.Offset) error {
	if len(from) == 0 {
		return nil
	}
	marks := make([]control.Mark, len(from))
	for i, at := range from {
		marks[i] = o.mark
		marks[i].Topic, marks[i].Partition, marks[i].Offset = at.Topic, at.Partition, at.Offset
	}
	kept, err := former.Note(marks, o.before, o.after, o.was)
	within := func(do func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, recordTime)
		defer cancel()
		return do(ctx)
	}
	if err == nil && kept.Name != "" {
		err = within(func(ctx context.Context) error { return s.control.Keep(ctx, []control.Configuration{kept}) })
	}
	// Mark even if the configuration could not be kept: what is unknown is not judged, but without a mark it would be judged by the new
	// configuration.
	marked := within(func(ctx context.Context) error { return s.control.Mark(ctx, marks) })
	if err := errors.Join(err, marked); err != nil {
		return controlError(err, s.control.Name())
	}
	return nil
}
