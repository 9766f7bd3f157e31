package main

import (
	"sync"
	"sync/atomic"

	"brine/config"
	"brine/event"
	"brine/indexer"
	bleve "brine/indexer/embedded"
	"brine/ingest"
	"brine/lookup"
	"brine/metrics"
	"brine/rowkey"
	"brine/sink"
)

// half is one of a pipeline's two loops: its rows or its documents.
type half struct {
	pipeline string
	kind     string // rows or documents
	name     string // pipeline.kind
	topic    string
	opts     ingest.Options
	loop     *ingest.Loop // nil in a replay

	ties   *tieWarnings // nil for documents
	became became

	settled, batches, retries, dead atomic.Int64
	retried                         atomic.Value // event.Reason of the last retry
}

// addRows prepares the half that writes a pipeline's rows.
func (s *service) addRows(p *config.Pipeline) error {
	opts := p.Sink()
	ties := &tieWarnings{pipeline: p.Name, log: s.log, tables: map[string]*tieCount{}}
	opts.Hooks = ties.watch(s.warnOnce(p.Name, s.sinks.Hooks(p.Name, opts.Rows...)))
	opts.Hooks.Spread = metrics.Spread(s.tables)
	opts.Hooks.Submit = s.countFields(p)
	mutator, err := s.cluster.client.Mutator(p.Mutator())
	if err != nil {
		return usage(err)
	}
	writer, err := sink.New(sink.HBase(mutator), opts)
	if err != nil {
		return usage(err)
	}
	if err := s.addHalf(p, "rows", p.RowsGroup(), writer); err != nil {
		return err
	}
	s.halves[len(s.halves)-1].ties = ties
	return nil
}

// addDocuments prepares the half that writes a pipeline's documents. A search engine that does not answer holds up nothing but this half.
func (s *service) addDocuments(p *config.Pipeline) error {
	if s.engine == nil {
		engine, err := openSearch(s.cfg)
		if err != nil {
			return err
		}
		s.engine = engine
		if embedded, ok := engine.(*bleve.Engine); ok {
			s.servers = append(s.servers, server{"the embedded index", embedded.Broken})
		}
	}
	opts := p.Indexer()
	if !s.ends {
		opts = opts.Endless()
	}
	opts.Hooks = s.traceIndex(s.outages.index(p.Name, s.indexes.Hooks(p.Name)))
	opts.Hooks.Expired = func(index string, parts []string, err error) {
		if err != nil {
			s.log.Warn("parts of an index whose rows are over could not be dropped; they are looked at again in an hour", "pipeline", p.Name, "index", index, "error", err)
		}
		for _, part := range parts {
			s.log.Info("dropped a part of an index, whose rows are over by the TTL of their table", "pipeline", p.Name, "index", index, "part", part)
		}
	}
	opts.Hooks.Purged = func(index string, n int, err error) {
		if err != nil {
			s.log.Warn("documents that were deleted long ago could not be removed; they are looked at again in an hour", "pipeline", p.Name, "index", index, "error", err)
		}
		if n > 0 {
			s.log.Info("removed documents that were deleted longer ago than purge_deletes_after", "pipeline", p.Name, "index", index, "documents", n)
		}
	}
	writer, err := indexer.New(s.engine, opts)
	if err != nil {
		return usage(err)
	}
	s.writers = append(s.writers, writer)
	return s.addHalf(p, "documents", p.DocumentsGroup(), writer)
}

// warnOnce adds to the counting hooks a warning that names the first event of each kind that will not be found again.
func (s *service) warnOnce(pipeline string, hooks sink.Hooks) sink.Hooks {
	expired, collision := hooks.Expired, hooks.Collision
	var saidExpired, saidCollision sync.Map
	hooks.Expired = func(table, family string, rec *event.Record) {
		expired(table, family, rec)
		if _, said := saidExpired.LoadOrStore(table+"/"+family, true); !said {
			s.log.Warn("an event is older than the TTL of its family: HBase hides it as it is written; further ones are counted in brine_sink_expired_events_total",
				"pipeline", pipeline, "table", table, "family", family, "topic", rec.Topic, "partition", rec.Partition, "offset", rec.Offset)
		}
	}
	hooks.Collision = func(table string, row []byte) {
		collision(table, row)
		if _, said := saidCollision.LoadOrStore(table, true); !said {
			s.log.Warn("two different events have one row key, and one hides the other; further ones are counted in brine_sink_key_collisions_total",
				"pipeline", pipeline, "table", table, "row", rowkey.Binary(row))
		}
	}
	return hooks
}

func (s *service) addHalf(p *config.Pipeline, kind, group string, w ingest.Writer) error {
	if opts, ok := p.Lookup(); ok {
		completed, err := lookup.New(s.cluster.client, w, opts)
		if err != nil {
			return usage(err)
		}
		w = completed
	}
	h := &half{pipeline: p.Name, kind: kind, name: p.Name + "." + kind, topic: p.Topic, opts: s.cfg.Ingest(p, group)}
	h.opts.Writer = w
	h.opts.Hooks = h.watch(s.ingest.Hooks(p.Name, kind))
	if s.tracer != nil {
		h.opts.Hooks.Flight = s.tracer.Flight(p.Name, kind)
	}
	h.opts.Logger = s.log.With("pipeline", h.name)
	s.halves = append(s.halves, h)
	return nil
}

// makeLoops makes each half a member of its group to be.
func (s *service) makeLoops() error {
	for _, h := range s.halves {
		h.opts.AwaitTopic = s.awaitTopic(h)
		loop, err := ingest.New(h.opts)
		if err != nil {
			return usage(err)
		}
		h.loop = loop
		s.ingest.Watch(h.pipeline, h.kind, loop.Status, h.opts.Budget)
	}
	return nil
}

// watch adds the live line's counters to the hooks.
func (h *half) watch(hooks ingest.Hooks) ingest.Hooks {
	settled, submitted, retried, dead := hooks.Settled, hooks.Submitted, hooks.Retried, hooks.DeadLettered
	hooks.Settled = func(p, n int) { settled(p, n); h.settled.Add(int64(n)) }
	hooks.Submitted = func(p, n int) { submitted(p, n); h.batches.Add(1) }
	hooks.Retried = func(p, n int, r event.Reason) { retried(p, n, r); h.retries.Add(int64(n)); h.retried.Store(r) }
	hooks.DeadLettered = func(p, n int, r event.Reason) {
		dead(p, n, r)
		h.dead.Add(int64(n))
		h.became.deadLettered(n, r)
	}
	hooks.Wrote = func(_, n, passed int) {
		h.became.written.Add(int64(n))
		h.became.leftOut.Add(int64(passed))
	}
	return hooks
}
