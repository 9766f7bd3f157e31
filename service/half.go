package service

import (
	"slices"
	"sync/atomic"
	"time"

	"brine/config"
	"brine/event"
	"brine/indexer"
	"brine/ingest"
	"brine/metrics"
	"brine/pressure"
	"brine/service/reload"
)

// Kinds of halves.
const (
	Rows      = "rows"
	Documents = "documents"
)

// Half is one of a pipeline's two loops: its rows or its documents.
type Half struct {
	name     string         // pipeline.kind
	cfg      *config.Config // the configuration it belongs to
	pipeline *config.Pipeline
	kind     string
	group    string
	opts     ingest.Options  // openWriter sets Writer, Hooks and Logger
	loop     *ingest.Loop    // nil unless the service is opened ToRun
	docs     *indexer.Writer // nil for rows
	ties     *tieWarnings    // nil for documents
	opened   time.Time       // when what it makes of records was configured: at the start, or by the last reload that changed that
	reads    reload.Reader
	onward   *onward     // of the last reload that changed what the half makes of records; nil: none did in this process
	stored   atomic.Bool // the control topic has how it is configured
	order    order
	became   became

	undeclared event.Undeclared

	meter pressure.Meter
	flow  func() metrics.Flow // nil unless the service is opened ToRun
	way   way

	settled, batches, retries, dead atomic.Int64
	retried                         atomic.Value // event.Reason of the last retry
}

// chosen returns the halves that the options select, pipeline by pipeline, rows before documents.
func (s *Service) chosen(cfg *config.Config) (halves []*Half) {
	s.watchSchemas(cfg)
	for _, h := range cfg.Halves() {
		if s.opts.Halves == nil || slices.Contains(s.opts.Halves, h.Name()) {
			halves = append(halves, s.newHalf(cfg, h))
		}
	}
	return halves
}

// newHalf returns a half that has opened nothing yet.
func (s *Service) newHalf(cfg *config.Config, h config.Half) *Half {
	half := &Half{name: h.Name(), cfg: cfg, pipeline: h.Pipeline, kind: h.Kind, group: h.Group(), opts: cfg.Ingest(h.Pipeline, h.Group())}
	half.opts.Schema.Undeclared = &half.undeclared
	half.opts.Budget = s.memory.Budget(half.opts.Budget.Size())
	half.opts.Budget.GiveWay(half.yields(cfg))
	return half
}

// inherit takes over the counts of the half that h replaces, which has stopped, how it was reloaded, and the ramp after its last pause.
func (h *Half) inherit(from *Half) {
	if h.onward == nil { // it makes of records what from made of them
		h.reads, h.onward, h.opened = from.reads, from.onward, from.opened
		h.stored.Store(from.stored.Load())
	}
	h.settled.Store(from.settled.Load())
	h.batches.Store(from.batches.Load())
	h.retries.Store(from.retries.Load())
	h.dead.Store(from.dead.Load())
	if why := from.retried.Load(); why != nil {
		h.retried.Store(why)
	}
	if h.ties != nil && from.ties != nil {
		h.ties.before = from.ties.count()
	}
	h.became.inherit(&from.became)
	h.opts.Pace.Follow(from.opts.Pace)
}

// pipelinesOf returns the pipelines that the named halves belong to.
func pipelinesOf(cfg *config.Config, halves []string) (pipelines []*config.Pipeline) {
	for _, p := range cfg.Pipelines {
		if slices.ContainsFunc(p.Halves(), func(h config.Half) bool { return slices.Contains(halves, h.Name()) }) {
			pipelines = append(pipelines, p)
		}
	}
	return pipelines
}

// Half returns the named half, such as orders.rows, or nil if it was not selected.
func (s *Service) Half(name string) *Half {
	return s.halfWhere(func(h *Half) bool { return h.name == name })
}

func (s *Service) halfWhere(is func(*Half) bool) *Half {
	all := s.all() // load once, because a reload may drop a half
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// Pipeline is the halves of one pipeline that a service was opened for.
type Pipeline struct {
	service *Service
	name    string
}

// Pipeline returns the named pipeline.
func (s *Service) Pipeline(name string) Pipeline { return Pipeline{s, name} }

// Rows returns the half that writes rows, or nil if it was not selected.
func (p Pipeline) Rows() *Half { return p.half(Rows) }

// Documents returns the half that writes documents, or nil if it was not selected.
func (p Pipeline) Documents() *Half { return p.half(Documents) }

func (p Pipeline) half(kind string) *Half {
	return p.service.halfWhere(func(h *Half) bool { return h.pipeline.Name == p.name && h.kind == kind })
}

// of returns the half in its configuration.
func (h *Half) of() config.Half { return config.Half{Pipeline: h.pipeline, Kind: h.kind} }

// Name returns the half's name: pipeline.rows or pipeline.documents.
func (h *Half) Name() string { return h.name }

// Ingest returns the options of the half's loop, including the half's Writer, Hooks and Logger. A replay that writes as the half does
// starts from them. The service must have been opened ToWrite.
func (h *Half) Ingest() ingest.Options { return h.opts }

// Writer returns the half's writer. The service must have been opened ToWrite, or OpenWriters called.
func (h *Half) Writer() event.Writer { return h.opts.Writer }

// Running returns the status of the half's loop. ok is false if the service was not opened ToRun.
func (h *Half) Running() (status ingest.Status, ok bool) {
	if h.loop == nil {
		return status, false
	}
	return h.loop.Status(), true
}

// Counts are the counters of a half since it was opened.
type Counts struct {
	Settled int64 // records that are durable in the store or as dead letters, or left out
	LeftOut int64 // the part of Settled that was left out
	Batches int64
	Retries int64 // events that the loop submitted again
	Dead    int64 // dead letters
}

// Counts returns the half's counters.
func (h *Half) Counts() Counts {
	return Counts{
		Settled: h.settled.Load(), LeftOut: h.became.leftOut.Load(), Batches: h.batches.Load(),
		Retries: h.retries.Load(), Dead: h.dead.Load(),
	}
}

// count wraps the hooks to update the half's counters.
func (h *Half) count(hooks ingest.Hooks) ingest.Hooks {
	settled, submitted, retried, dead, wrote := hooks.Settled, hooks.Submitted, hooks.Retried, hooks.DeadLettered, hooks.Wrote
	hooks.Settled = func(i ingest.SettledInfo) {
		settled(i)
		h.settled.Add(int64(i.Records))
	}
	hooks.Submitted = func(i ingest.SubmittedInfo) {
		submitted(i)
		h.batches.Add(1)
	}
	hooks.Retried = func(i ingest.RetriedInfo) {
		retried(i)
		h.retries.Add(int64(i.Events))
		h.retried.Store(i.Reason)
	}
	hooks.DeadLettered = func(i ingest.DeadLetteredInfo) {
		dead(i)
		h.dead.Add(int64(i.Records))
		h.became.deadLettered(i.Records, i.Reason)
	}
	hooks.Wrote = func(i ingest.WroteInfo) {
		wrote(i)
		h.became.written.Add(int64(i.Records))
		h.became.leftOut.Add(int64(i.LeftOut))
		h.became.leaveOut(i.Events)
		h.became.filter(i.Filtered)
	}
	return hooks
}
