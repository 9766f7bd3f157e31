package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/config"
	"brine/indexer"
	"brine/internal/fault"
	"brine/schema"
	"brine/service/brokers"
	"brine/service/reload"
)

// Time limits of a reload. A half gets kafka.stop_timeout to settle, as at a stop.
const (
	checkTime  = 30 * time.Second // for queries to brokers and stores
	recordTime = 10 * time.Second // for writing the marks
	graceTime  = 30 * time.Second // in addition to stop_timeout: for commits, and for leaving the group
)

// Reloading is a request to reload.
type Reloading struct {
	By      string // who asked, and how
	Preview bool   // only report what would be done
	Meant   bool   // a preview that precedes the reload itself, so that a refused one counts as a reload
	After   string // digest from a preview, which the configuration must still have; empty: any
}

// Reload loads the configuration again, checks it as a whole and against the servers, and applies it. Halves that it changes settle, commit
// and continue from there; others start or stop; unchanged halves are not disturbed. If the configuration cannot be applied, nothing
// changes, the result is Refused, and the error gives the reason and the fix. Reloads are serialized; a caller waits for its turn until ctx
// is done. The service must have been opened ToRun with a Source, and Run must be running.
func (s *Service) Reload(ctx context.Context, asked Reloading) (*reload.Result, error) {
	c := s.crew.Load()
	switch {
	case s.opts.For < ToRun:
		return nil, fault.New(fault.Failed, errors.New("this process runs no pipelines"),
			"reload each process that runs pipelines: with brine reload --http and its admin port, with SIGHUP, or with this route of a process "+
				"started with brine run --serve")
	case s.opts.Source == nil:
		return nil, fault.New(fault.Failed, errors.New("this brine has no file to reload its configuration from"), "restart it")
	case c == nil, c.ctx.Err() != nil:
		return nil, fault.New(fault.Failed, errors.New("the pipelines are not running"), "")
	}
	select {
	case s.reloading <- struct{}{}:
		defer func() { <-s.reloading }()
	case <-ctx.Done():
		return nil, fault.New(fault.Failed, fmt.Errorf("another reload is still in progress: %w", ctx.Err()), "ask again")
	}
	r := &reload.Result{By: asked.By, At: time.Now().Truncate(time.Millisecond), Before: reload.Digest(s.Config())}
	err := s.reload(ctx, c, asked, r)
	if err != nil {
		r.Outcome, r.Error = reload.Refused, err.Error()
		if f, ok := errors.AsType[*fault.Error](err); ok {
			r.Kind, r.Fix = f.Kind, f.Fix
		}
	}
	if asked.Preview && !asked.Meant {
		s.reloads.Done(string(reload.Previewed), r.At) // whatever the outcome, nobody asked for a reload
	} else {
		s.reloaded(r)
	}
	return r, err
}

func (s *Service) reload(ctx context.Context, c *crew, asked Reloading, r *reload.Result) error {
	next, problems, err := s.opts.Source()
	for _, p := range problems {
		if p.Severity == config.Warning {
			r.Warned = append(r.Warned, p.String())
		}
	}
	if err != nil {
		return fault.Misused(fmt.Errorf("the configuration is invalid, so the previous one stays in use: %w", err))
	}
	next.Renewed(s.renewed)
	if s.opts.Halves != nil {
		next = Only(next, pipelinesOf(next, s.opts.Halves)...)
	}
	r.After, r.Plan = reload.Digest(next), reload.New(s.Config(), next)
	r.Renewed = config.Renewals(cmp.Or(s.readLast, s.Config()), next)
	if !asked.Preview {
		s.readLast = next
	}
	if s.opts.Halves != nil { // the plan covers whole pipelines
		r.Halves = slices.DeleteFunc(r.Halves, func(h reload.Half) bool { return !slices.Contains(s.opts.Halves, h.Name) })
	}
	if s.serving != nil {
		r.Served(s.Config(), next)
	}
	if asked.After != "" && asked.After != r.After {
		return fault.New(fault.Failed,
			fmt.Errorf("the file, or one that it names, has changed since it was shown (%s, then %s)", r.After, asked.After),
			"check again what it would do")
	}
	if err := r.Err(); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	busy := append(r.Names(reload.Starts), r.Names(reload.Changes)...)
	if err := s.checkServers(within, next, busy); err != nil {
		return err
	}
	if err := s.checkReturning(within, next, r); err != nil {
		return err
	}
	switch {
	case asked.Preview:
		r.Outcome = reload.Previewed
		return nil
	case len(r.Settings) == 0:
		r.Outcome = reload.Unchanged
		return nil
	}
	fresh, err := s.build(within, next, busy)
	if err != nil {
		return err
	}
	if err := s.keepFormer(within, r, fresh); err != nil {
		for _, h := range fresh {
			s.closeHalf(h)
		}
		return err
	}
	s.swap(c, next, r, fresh)
	r.Outcome = reload.Applied
	return nil
}

// checkServers checks that no pipeline purges deletes too early, including unchanged ones, and that whatever the given halves need exists,
// as at startup.
func (s *Service) checkServers(ctx context.Context, cfg *config.Config, halves []string) error {
	for _, p := range cfg.Pipelines {
		if err := schema.CheckDeletes(ctx, cfg, p, brokers.Topics{Config: cfg}); err != nil {
			return fmt.Errorf("pipeline %s: %w", p.Name, err)
		}
	}
	pipelines := pipelinesOf(cfg, halves)
	if len(pipelines) == 0 {
		return nil
	}
	asks := brokers.Offsets{Client: brokers.Open(&cfg.Kafka)}
	defer asks.Close()
	if err := asks.CheckProtocol(ctx, cfg.Kafka.GroupProtocol); err != nil {
		return err
	}
	for _, p := range pipelines {
		for _, topic := range p.Named() { // topics that match a pattern may appear later
			if _, err := asks.Ends(ctx, topic); err != nil {
				return fmt.Errorf("pipeline %s: %w", p.Name, err)
			}
		}
	}
	only := Only(cfg, pipelines...)
	if err := s.checkTables(ctx, only); err != nil {
		return err
	}
	if s.engine == nil || !only.HasDocuments() {
		return nil
	}
	return checkIndexes(ctx, only, s.engine)
}

// checkIndexes checks that the indexes exist, with all their fields.
func checkIndexes(ctx context.Context, cfg *config.Config, engine indexer.Engine) error {
	steps, err := schema.PlanIndexes(ctx, cfg, engine)
	if err != nil {
		return err
	}
	var missing []error
	for i := range steps {
		switch s := &steps[i]; s.Action {
		case schema.Create:
			missing = append(missing, fmt.Errorf("index %s does not exist", s.Index))
		case schema.Extend:
			missing = append(missing, fmt.Errorf("index %s lacks %s", s.Index, strings.Join(s.Fields, ", ")))
		}
	}
	return missingTables(missing, "brine tables apply -c FILE creates missing indexes and fields")
}

// build creates the named halves with their writers. It starts none of them, and if it fails, it closes them all.
func (s *Service) build(ctx context.Context, cfg *config.Config, names []string) (fresh map[string]*Half, err error) {
	fresh = map[string]*Half{}
	s.watchSchemas(cfg)
	defer func() {
		if err != nil {
			for _, h := range fresh {
				s.closeHalf(h)
			}
		}
	}()
	for _, of := range cfg.Halves() {
		if !slices.Contains(names, of.Name()) {
			continue
		}
		h := s.newHalf(cfg, of)
		fresh[h.name] = h
		if h.kind == Documents && s.engine == nil {
			return fresh, fault.New(fault.Usage, fmt.Errorf("%s: no pipeline wrote documents so far, so the search engine is not connected", h.name),
				"restart brine with this configuration")
		}
		if h.kind == Rows {
			for _, r := range h.pipeline.Rows {
				if err := s.learnRegions(ctx, cfg, r.Table); err != nil {
					return fresh, err
				}
			}
		}
		h.opts.Patient = true
		if err := s.openWriter(h); err != nil {
			return fresh, fault.Misused(err)
		}
		if err := s.makeLoop(h); err != nil {
			return fresh, err
		}
	}
	return fresh, nil
}

// swap applies the plan. Before a half continues that writes differently from its offsets on, swap records those offsets. It waits for the
// halves to settle, all at once and for a bounded time.
func (s *Service) swap(c *crew, cfg *config.Config, r *reload.Result, fresh map[string]*Half) {
	running := s.cfg.Swap(cfg)
	for _, h := range s.all() {
		h.opts.Budget.GiveWay(h.yields(cfg))
	}
	var changing sync.WaitGroup
	var mu sync.Mutex
	for i := range r.Halves {
		h := &r.Halves[i]
		before, after := s.Half(h.Name), fresh[h.Name]
		switch h.Does {
		case reload.Stays:
		case reload.Starts:
			s.put(cfg, after)
			c.start(after)
		case reload.Stops:
			changing.Go(func() {
				before.loop.Resign()
				s.retire(c, before)
				s.ingest.Forget(before.pipeline.Name, before.kind)
				s.drop(before)
			})
		case reload.Changes:
			changing.Go(func() {
				reader := ""
				if h.Onward {
					after.reads.Since = time.Now()
					announced := after.reads // until a mark says where it begins: see admit
					announced.Before = before.reads.Meaning
					reader = announced.String()
				}
				before.loop.HandOver(after.loop, c.ctx, reader)
				s.retire(c, before)
				var at []reload.Offset
				var err error
				if h.Onward {
					at = committedBy(before)
					err = s.changeMeaning(after, at)
				}
				after.inherit(before)
				s.put(cfg, after)
				c.start(after)
				mu.Lock()
				defer mu.Unlock()
				r.Onward = append(r.Onward, at...)
				if err != nil {
					r.Unrecorded = err.Error()
				}
			})
		}
	}
	changing.Wait()
	s.maskSkew(running, cfg) // once nothing counts by the old configuration any more
	slices.SortFunc(r.Onward, reload.Offset.Compare)
}

// retire stops a half, which settles and commits, and closes it.
func (s *Service) retire(c *crew, h *Half) {
	select {
	case <-c.stop(h):
	case <-time.After(h.opts.StopTimeout + graceTime):
		s.log.Error("pipeline did not stop; leaving it, since its group no longer accepts anything from it", "pipeline", h.name)
	}
	c.forget(h)
	s.closeHalf(h)
}

// committedBy returns the offsets from which on a stopped half has committed nothing, in the partitions that it has begun to read. Of the
// others, the last commit notes who has read them: see admit.
func committedBy(h *Half) (at []reload.Offset) {
	for _, p := range h.loop.Status().Partitions {
		if p.Held {
			continue
		}
		if p.Committed < 0 { // no record arrived, so it is where it began
			p.Committed = p.Watermark
		}
		if p.Watermark >= 0 {
			of := reload.Offset{Half: h.name, Topic: p.Topic, Partition: p.Partition, Offset: p.Committed}
			if p.Reach > p.Committed { // some of it may be written already, and the rest at any time
				of.Until = p.Reach
			}
			at = append(at, of)
		}
	}
	return at
}

// put adds a half that is about to run, replacing one of the same name.
func (s *Service) put(cfg *config.Config, h *Half) {
	h.flow = s.observe(h)
	s.edit(func(halves []*Half) []*Half {
		if i := slices.IndexFunc(halves, func(old *Half) bool { return old.name == h.name }); i >= 0 {
			halves[i] = h
		} else {
			halves = append(halves, h)
		}
		order := map[string]int{}
		for i, of := range cfg.Halves() {
			order[of.Name()] = i - len(cfg.Halves()) // halves that stop sort before all others
		}
		slices.SortStableFunc(halves, func(a, b *Half) int { return order[a.name] - order[b.name] })
		return halves
	})
	s.obey(h) // orders that arrived since it was created
}

func (s *Service) drop(h *Half) {
	s.edit(func(halves []*Half) []*Half {
		return slices.DeleteFunc(halves, func(old *Half) bool { return old == h })
	})
}

// edit changes the list of halves.
func (s *Service) edit(change func([]*Half) []*Half) {
	s.editing.Lock()
	defer s.editing.Unlock()
	halves := change(slices.Clone(s.all()))
	s.halves.Store(&halves)
}

// reloaded reports the result of a reload: in the log, as its audit line, in the metrics, and in the notes of the health checks.
func (s *Service) reloaded(r *reload.Result) {
	switch r.Outcome { // before the metrics and the log: who has seen the result there finds it in the health too
	case reload.Previewed:
	case reload.Refused:
		s.refused.Store(r)
	default:
		s.refused.Store(nil)
	}
	s.reloads.Done(string(r.Outcome), r.At)
	if r.Outcome == reload.Previewed {
		return
	}
	for _, f := range r.Renewed {
		s.log.Info("audit: certificate or secret read again", "by", r.By, "setting", f.Setting, "before", f.Before, "after", f.After)
	}
	args := []any{"by", r.By, "result", r.Outcome, "before", r.Before, "after", r.After}
	if r.Plan != nil {
		args = append(args, "starts", r.Names(reload.Starts), "stops", r.Names(reload.Stops), "changes", r.Names(reload.Changes),
			"settings", r.Lines())
	}
	if r.Outcome == reload.Refused {
		s.log.Warn("audit: configuration not reloaded; the previous one stays in use", append(args, "error", r.Error, "fix", r.Fix)...)
		return
	}
	if len(r.Onward) > 0 {
		args = append(args, "from", onwardText(r.Onward))
	}
	s.log.Info("audit: configuration reloaded", args...)
}

func onwardText(at []reload.Offset) string {
	texts := make([]string, len(at))
	for i, o := range at {
		texts[i] = o.String()
	}
	return strings.Join(texts, ", ")
}
