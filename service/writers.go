package service

import (
	"context"
	"slices"
	"sync"

	"brine/config"
	"brine/event"
	"brine/indexer"
	"brine/ingest/eras"
	"brine/internal/fault"
	"brine/lookup"
	"brine/mask"
	"brine/metrics"
	"brine/rowkey"
	"brine/schema"
	"brine/service/former"
	"brine/sink"
)

// OpenWriters creates the writers of a service that was opened ToRead, which then can write like one opened ToWrite. It refuses a pipeline
// that purges deletes while its topic still holds what they deleted. Writers that are already open are kept.
func (s *Service) OpenWriters(ctx context.Context) error {
	var checked []*config.Pipeline
	for _, h := range s.all() {
		if !slices.Contains(checked, h.pipeline) {
			checked = append(checked, h.pipeline)
			if err := schema.CheckDeletes(ctx, h.cfg, h.pipeline, s.topics); err != nil {
				return err
			}
		}
		if h.opts.Writer != nil {
			continue
		}
		if err := s.openWriter(h); err != nil {
			return fault.Misused(err)
		}
	}
	return nil
}

// openWriter creates the writer of a half: the store's writer, wrapped in one that looks keys up if the pipeline does.
func (s *Service) openWriter(h *Half) (err error) {
	var w event.Writer
	if h.kind == Rows {
		w, err = s.rowsWriter(h)
	} else {
		w, err = s.documentsWriter(h)
	}
	if err != nil {
		return err
	}
	if opts, ok := h.pipeline.Lookup(); ok {
		if w, err = lookup.New(s.hbase.Client, w, opts); err != nil {
			return err
		}
	}
	h.opts.Writer = mask.Writer(w, h.pipeline.Schema())
	h.opts.Hooks = h.count(s.ingest.Hooks(h.pipeline.Name, h.kind, h.opts.Conditions...))
	if s.tracer != nil {
		h.opts.Hooks.Flight = s.tracer.Flight(h.pipeline.Name, h.kind)
	}
	h.opts.Hooks = h.measure(h.opts.Hooks)
	h.opts.Logger = s.log.With("pipeline", h.name)
	return nil
}

// FormerWriter returns a writer that writes each record as its half was configured when the record arrived. present is the half's current
// writer. The service closes the former writers. Records whose configuration is unknown are left as they are.
func (s *Service) FormerWriter(present event.Writer, of *former.Half) (event.Writer, error) {
	if of == nil {
		return present, nil
	}
	w := &eras.Writer{Eras: &of.Eras, Present: present}
	for i := range of.Readings {
		if !of.Known(i) {
			w.Former = append(w.Former, writesNothing{})
			continue
		}
		h := s.newHalf(of.Configs[i], of.Halves[i])
		if err := s.openWriter(h); err != nil {
			return nil, fault.Misused(err)
		}
		s.former = append(s.former, h)
		w.Former = append(w.Former, h.opts.Writer)
	}
	return w, nil
}

// writesNothing is a writer that settles everything without writing it.
type writesNothing struct{}

func (writesNothing) Submit(context.Context, *event.Batch) event.Flight { return event.Done(nil) }
func (writesNothing) Release()                                          {}
func (writesNothing) Hurry()                                            {}

func (s *Service) rowsWriter(h *Half) (event.Writer, error) {
	p := h.pipeline
	opts := p.Sink()
	h.ties = newTieWarnings(p.Name, h.opts.Schema.TieFix(), h.cfg.Mask(), s.log)
	opts.Hooks = h.ties.watch(s.warnOnce(p.Name, h.cfg.Mask(), s.sinks.Hooks(p.Name, opts.Rows...)))
	opts.Hooks.Spread = metrics.Spread(s.tables)
	opts.Hooks.Durable = func(i sink.DurableInfo) { s.written.Wrote(i.Table, i.Rows) }
	opts.Hooks.Submit = s.countSubmitted(h.cfg, p)
	mutator, err := s.hbase.Client.Mutator(p.Mutator())
	if err != nil {
		return nil, err
	}
	return sink.New(sink.HBase(mutator), opts)
}

func (s *Service) documentsWriter(h *Half) (event.Writer, error) {
	p := h.pipeline
	opts := p.Indexer()
	if s.opts.For != ToRun { // only a running pipeline drops what has expired
		opts = opts.Endless()
	}
	opts.Hooks = h.measureIndex(s.traceIndex(s.WatchIndex(p.Name, s.indexes.Hooks(p.Name))))
	opts.Hooks.Expired = func(i indexer.ExpiredInfo) {
		if i.Err != nil {
			s.log.Warn("could not drop expired parts of an index; will retry in an hour",
				"pipeline", p.Name, "index", i.Index, "error", i.Err)
		}
		for _, part := range i.Parts {
			s.log.Info("dropped a part of an index whose rows expired by their table's TTL",
				"pipeline", p.Name, "index", i.Index, "part", part)
		}
	}
	opts.Hooks.Purged = func(i indexer.PurgedInfo) {
		if i.Err != nil {
			s.log.Warn("could not remove documents deleted long ago; will retry in an hour",
				"pipeline", p.Name, "index", i.Index, "error", i.Err)
		}
		if i.Documents > 0 {
			s.log.Info("removed documents deleted longer ago than purge_deletes_after",
				"pipeline", p.Name, "index", i.Index, "documents", i.Documents)
		}
	}
	writer, err := indexer.New(s.engine, opts)
	if err != nil {
		return nil, err
	}
	h.docs = writer
	return writer, nil
}

// WatchIndex wraps the hooks of a pipeline's document writer, so that an index that keeps failing is logged and its error is the cause that
// the status shows.
func (s *Service) WatchIndex(pipeline string, hooks indexer.Hooks) indexer.Hooks {
	return s.outages.Index(pipeline, hooks)
}

// warnOnce wraps the counting hooks to log the first event of each kind that cannot be found again.
func (s *Service) warnOnce(pipeline string, masks *mask.Rules, hooks sink.Hooks) sink.Hooks {
	expired, collision := hooks.Expired, hooks.Collision
	var saidExpired, saidCollision sync.Map
	hooks.Expired = func(i sink.ExpiredInfo) {
		expired(i)
		if _, said := saidExpired.LoadOrStore(i.Table+"/"+i.Family, true); !said {
			s.log.Warn("an event is older than its family's TTL: HBase hides it as soon as it is written; "+
				"further ones are counted in brine_sink_expired_events_total",
				"pipeline", pipeline, "table", i.Table, "family", i.Family,
				"topic", i.Record.Topic, "partition", i.Record.Partition, "offset", i.Record.Offset)
		}
	}
	hooks.Collision = func(i sink.CollisionInfo) {
		collision(i)
		if _, said := saidCollision.LoadOrStore(i.Table, true); !said {
			s.log.Warn("two different events have the same row key, and one hides the other; further ones are counted in "+
				"brine_sink_key_collisions_total",
				"pipeline", pipeline, "table", i.Table, "row", mask.If(masks.MasksKey(i.Table), rowkey.Binary(i.Row)))
		}
	}
	return hooks
}
