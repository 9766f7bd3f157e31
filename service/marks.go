package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/ingest/control"
	"brine/internal/backoff"
	"brine/service/brokers"
	"brine/service/former"
	"brine/service/reload"
)

// marks are the marks of what changed, and the configurations that are or were in force.
type marks interface {
	former.Topic
	Keep(ctx context.Context, configurations []control.Configuration) error
	Mark(ctx context.Context, marks []control.Mark) error
}

// onward is how a reload changed what a half makes of records from its offsets on.
type onward struct {
	mark control.Mark          // without a place
	kept control.Configuration // by which the half read before
	from []reload.Offset       // where it stopped
	done bool                  // the reload itself has recorded these
}

// stopped returns where the half stopped in a partition.
func (o *onward) stopped(at reload.Offset) (from reload.Offset, known bool) {
	i := slices.IndexFunc(o.from, func(from reload.Offset) bool { return from.Compare(at) == 0 })
	if i < 0 {
		return from, false
	}
	return o.from[i], true
}

// admit is the half's ingest.Options.Admit. A partition that was read by a configuration newer than the half's waits until this process is
// reloaded too. One that was last read by another configuration gets its mark before the next record is read, and so does one whose offset
// was set back to before earlier marks.
func (s *Service) admit(h *Half) func(context.Context, ingest.Taken) (string, error) {
	return func(ctx context.Context, t ingest.Taken) (string, error) {
		was, now := reload.ParseReader(t.Reader).For(h.of()), h.reads
		if was.Meaning != now.Meaning && was.Since.After(h.opened) {
			t.Held(ingest.OtherConfiguration, fmt.Errorf("another member of the group was reloaded at %s and has read this partition by its "+
				"configuration up to offset %d; reload this process with the same configuration", was.Since.UTC().Format(time.RFC3339), t.Offset))
			<-ctx.Done()
			return "", ctx.Err()
		}
		if was.Meaning == now.Meaning && now.Since.IsZero() {
			now.Since = was.Since // after a restart it is still the configuration of the reload before
		}
		if due := was.Last() != now.Meaning; due || t.Moved {
			at := reload.Offset{Half: h.name, Topic: t.Topic, Partition: t.Partition, Offset: t.Offset}
			if due && t.Reach > t.Offset { // the other configuration may have written some of what comes now
				at.Until = t.Reach
			}
			if err := s.recordTaken(ctx, h, at, was, t); err != nil {
				return "", err
			}
		}
		return now.String(), nil
	}
}

// recordTaken records where a half begins to read a partition that was last read by another configuration, or that is read again. It tries
// again until that is durable, ctx ends, or brine may not write it.
func (s *Service) recordTaken(ctx context.Context, h *Half, at reload.Offset, was reload.Reader, t ingest.Taken) error {
	for pauses := (backoff.Pauses{Base: 100 * time.Millisecond, Limit: h.opts.HaltPause}); ; {
		marks, kept, err := s.marksOf(ctx, h, at, was, t.Moved)
		if err == nil && len(marks) == 0 {
			return nil
		}
		if err == nil {
			err = s.record(ctx, marks, kept)
		}
		switch {
		case err == nil:
			what := "audit: a partition that was read by another configuration is read by this one"
			if was.Last() == h.reads.Meaning {
				what = "audit: a partition whose offset was set is read by the same configuration as before"
			}
			s.log.Info(what, "from", at.String())
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ingest.ErrDenied):
			s.log.Warn("cannot record from where on a partition is read by this configuration", "from", at.String(), "error", err)
			return nil
		}
		t.Held(ingest.OtherConfiguration, fmt.Errorf("cannot record from where on it is read by this configuration: %w", err))
		if err := pauses.Wait(ctx); err != nil {
			return err
		}
	}
}

// marksOf returns the marks that a partition needs, and the earlier configuration, if they need that too. If the offset was moved, it may
// lie before earlier marks, and if nobody has noted who read up to it, any configuration that is stored may have.
func (s *Service) marksOf(ctx context.Context, h *Half, at reload.Offset, was reload.Reader, moved bool) (
	marks []control.Mark, kept control.Configuration, err error,
) {
	m, kept, err := s.markOf(ctx, h, at, was, moved)
	if err != nil || m.Group == "" {
		return nil, kept, err
	}
	marks = marksAt(m, at)
	if !moved {
		return marks, kept, nil
	}
	notes, err := former.Read(ctx, shared{s}, h.cfg)
	if err != nil {
		return nil, kept, err
	}
	if m.Was == "" && !notes.Otherwise(h.of()) {
		marks[0].Was = m.Is
	}
	return notes.Over(marks[0]), kept, nil
}

// markOf returns the mark that a partition needs, as far as the half knows, without a place. A half that was not reloaded was started with
// another configuration. What earlier versions read is marked only if they have stored the configuration: otherwise it would no longer be
// judged at all after an upgrade that adds a setting.
func (s *Service) markOf(ctx context.Context, h *Half, at reload.Offset, was reload.Reader, moved bool) (
	m control.Mark, kept control.Configuration, err error,
) {
	switch o := h.onward; {
	case o == nil && was.Last() == "" && !moved: // nobody has read it
		return m, kept, nil
	case o == nil:
		if was.Before == "" && was.Last() != "" && !reload.Stored(was.Last()) {
			if known, err := s.stored(ctx, was.Last()); err != nil || !known {
				return m, kept, err
			}
		}
		m = control.Mark{Group: h.group, After: reload.Digest(h.cfg), Is: h.reads.Meaning, By: "a start", At: time.Now()}
	default:
		from, known := o.stopped(at)
		if known && o.done && !moved && from.Offset == at.Offset && from.Until >= at.Until {
			return m, kept, nil
		}
		if m = o.mark; was.Last() == o.kept.Name {
			kept = o.kept
		}
	}
	m.Was = was.Last()
	return m, kept, nil
}

// stored reports whether a configuration is stored under a name.
func (s *Service) stored(ctx context.Context, name string) (bool, error) {
	_, all, err := shared{s}.Marks(ctx)
	return slices.ContainsFunc(all, func(c control.Configuration) bool { return c.Name == name }), err
}

// shared reads the control topic for partitions: those that ask at the same time share what is read.
type shared struct{ *Service }

// Marks implements former.Topic.
func (s shared) Marks(ctx context.Context) ([]control.Mark, []control.Configuration, error) {
	type read struct {
		marks []control.Mark
		kept  []control.Configuration
	}
	reading := s.storedReads.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
		defer cancel()
		marks, kept, err := s.marks.Marks(ctx)
		return read{marks, kept}, err
	})
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case r := <-reading:
		all, _ := r.Val.(read)
		return all.marks, all.kept, r.Err
	}
}

// storeAtStart stores how each half is configured, so that what it has read can be judged by that when the next start has another
// configuration. The halves need not wait for it: until then, what they read counts as read by an unknown configuration.
func (s *Service) storeAtStart(ctx context.Context) {
	for pauses := (backoff.Pauses{Base: time.Second, Limit: time.Minute}); ; {
		err := s.store(ctx, func() (halves []*Half) {
			return slices.DeleteFunc(slices.Clone(s.all()), func(h *Half) bool { return h.stored.Load() })
		})
		if err == nil || ctx.Err() != nil {
			return
		}
		s.log.Warn("cannot record how the pipelines are configured; until it is recorded, brine verify will not know their filters after a "+
			"restart with others", "error", controlError(err, s.control.Name()))
		if pauses.Wait(ctx) != nil {
			return
		}
	}
}

// store stores how halves are configured, unless brine may not.
func (s *Service) store(ctx context.Context, which func() []*Half) error {
	s.storing.Lock() // or a start could overwrite what a reload has stored since
	defer s.storing.Unlock()
	halves := which()
	all := make([]control.Configuration, len(halves))
	for i, h := range halves {
		var err error
		if all[i], err = former.Configuration(h.of(), h.cfg); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if err := s.marks.Keep(ctx, all); err != nil && !errors.Is(err, ingest.ErrDenied) {
		return err
	}
	for _, h := range halves {
		h.stored.Store(true)
	}
	return nil
}

// keepFormer stores by which configuration halves have read that are about to read differently, elsewhere or no more, and by which they and
// new ones are about to read, before anything stops: however the reload goes on, their records can be judged by it then. If brine may not,
// nothing is recorded: see recordTaken.
func (s *Service) keepFormer(ctx context.Context, r *reload.Result, fresh map[string]*Half) error {
	var all []*Half
	for i := range r.Halves {
		h := &r.Halves[i]
		before, after := s.Half(h.Name), fresh[h.Name]
		switch {
		case h.Onward:
			kept, err := former.Configuration(before.of(), before.cfg)
			if err != nil {
				return err
			}
			after.onward = &onward{kept: kept, mark: control.Mark{Group: after.group, Settings: r.LinesOf(after.name),
				Before: r.Before, After: r.After, Was: before.reads.Meaning, Is: after.reads.Meaning, By: r.By, At: r.At}}
			all = append(all, before, after)
		case h.Does == reload.Changes && former.Moved(before.of(), after.of()):
			all = append(all, before, after)
		case h.Does == reload.Starts:
			all = append(all, after)
		case h.Does == reload.Stops && !before.stored.Load(): // the start is still trying, and will not see it any more
			all = append(all, before)
		}
	}
	if err := s.store(ctx, func() []*Half { return all }); err != nil {
		return controlError(fmt.Errorf("cannot record what was in force so far: %w", err), s.control.Name())
	}
	return nil
}

// changeMeaning records from which offsets on a half writes differently. The audit log has them too.
func (s *Service) changeMeaning(after *Half, from []reload.Offset) error {
	err := s.record(context.Background(), marksAt(after.onward.mark, from...), after.onward.kept)
	after.onward.from, after.onward.done = from, err == nil
	return err
}

// marksAt returns a mark at each of these places.
func marksAt(mark control.Mark, from ...reload.Offset) []control.Mark {
	marks := make([]control.Mark, len(from))
	for i, at := range from {
		marks[i] = mark
		marks[i].Topic, marks[i].Partition, marks[i].Offset, marks[i].Until = at.Topic, at.Partition, at.Offset, at.Until
	}
	return marks
}

// record stores in the control topic from which offsets on a half writes differently, and, unless kept is empty, how it was configured
// before.
func (s *Service) record(ctx context.Context, marks []control.Mark, kept control.Configuration) error {
	if len(marks) == 0 {
		return nil
	}
	within := func(do func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, recordTime)
		defer cancel()
		return do(ctx)
	}
	var err error
	if kept.Name != "" {
		err = within(func(ctx context.Context) error { return s.marks.Keep(ctx, []control.Configuration{kept}) })
	}
	// Mark even if the configuration could not be kept: what is unknown is not judged, but without a mark it would be judged by the new
	// configuration.
	marked := within(func(ctx context.Context) error { return s.marks.Mark(ctx, marks) })
	if err := errors.Join(err, marked); err != nil {
		return controlError(err, s.control.Name())
	}
	return nil
}

// checkReturning refuses halves, tables and indexes that come back, after a reload has removed them, with other keys or versions, or with
// another meaning of what is already written. A reload from the one configuration to the other would be refused, and so are two.
func (s *Service) checkReturning(ctx context.Context, next *config.Config, r *reload.Result) error {
	starts, comes := r.Names(reload.Starts), r.Comes()
	if len(starts) == 0 && len(comes) == 0 {
		return nil
	}
	notes, err := former.Read(ctx, s.marks, next)
	if errors.Is(err, ingest.ErrDenied) {
		return nil // brine may not record anything either
	}
	if err != nil {
		return controlError(err, s.control.Name())
	}
	groups := brokers.Open(&next.Kafka)
	defer groups.Close()
	for _, h := range next.Halves() {
		if !slices.Contains(starts, h.Name()) {
			continue
		}
		noted, err := groups.Notes(ctx, h.Group())
		if err != nil {
			return brokers.Error(err)
		}
		for i := range noted {
			noted[i] = ingest.NotedReader(noted[i])
		}
		for _, name := range former.OtherMeanings(h, noted) {
			r.Returns(h, notes.Configured(name, h.Pipeline.Name), next)
		}
	}
	for _, store := range comes {
		if was := notes.Last(store); was != nil {
			r.ReturnsStore(store, was, next)
		}
	}
	return r.Err()
}
