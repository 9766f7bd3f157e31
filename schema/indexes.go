package schema

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/config"
	"brine/indexer"
	"brine/internal/fault"
	"brine/search"
)

// IndexStep is the step for one index.
type IndexStep struct {
	Index    string            `json:"index"`
	Action   Action            `json:"action"`
	Fields   []string          `json:"fields,omitempty"`   // missing fields
	Settings []indexer.Setting `json:"settings,omitempty"` // settings to be changed, also if fields are missing

	mapping indexer.Mapping
}

// lookTime is the most that a search engine may take to describe the indexes; search.call_timeout may be shorter.
const lookTime = 10 * time.Second

// PlanIndexes compares the configuration with the search engine. It fails if a field has another type or analyzer than declared, because
// that cannot be changed in place. If the engine fails, it returns the error and a step for each index, which is Unreached. It does not
// compare the number of shards: each index has its own, and each of its parts may have, too.
func PlanIndexes(ctx context.Context, cfg *config.Config, engine indexer.Engine) ([]IndexStep, error) {
	ctx, cancel := context.WithTimeout(ctx, min(lookTime, cfg.Search.CallTimeout))
	defer cancel()
	var (
		steps  []IndexStep
		failed error
	)
	for _, p := range cfg.Pipelines {
		if len(p.Documents) == 0 {
			continue
		}
		for _, want := range p.Indexer().Mappings() {
			for i := range want.Fields {
				want.Fields[i].Analyzer = cfg.Search.Analyzer
			}
			step := IndexStep{Index: want.Index, Action: Create, mapping: want}
			if failed == nil {
				failed = step.compare(ctx, engine)
			}
			steps = append(steps, step)
		}
	}
	if failed != nil {
		for i := range steps {
			steps[i] = IndexStep{Index: steps[i].Index, Action: Unreached}
		}
	}
	return steps, failed
}

// compare turns the step that creates an index into the one that is needed if the index exists.
func (s *IndexStep) compare(ctx context.Context, engine indexer.Engine) error {
	have, err := engine.Mapping(ctx, s.Index)
	if errors.Is(err, search.ErrNoIndex) {
		return nil
	}
	if err != nil {
		return SearchError(err)
	}
	missing, err := s.mapping.Missing(have)
	if err != nil {
		return fault.Misused(err)
	}
	s.Action = Nothing
	if tuned, ok := engine.(indexer.Tuned); ok {
		if s.Settings, err = tuned.Untuned(ctx, s.Index); err != nil {
			return SearchError(err)
		}
	}
	if len(s.Settings) > 0 {
		s.Action = Alter
	}
	for _, f := range missing {
		s.Action = Extend
		s.Fields = append(s.Fields, f.Name)
	}
	return nil
}

var doneActions = map[Action]Action{Create: Created, Extend: Extended, Alter: Altered}

func (c *Changes) applyIndexes(ctx context.Context, engine indexer.Engine) error {
	for i := range c.Indexes {
		s := &c.Indexes[i]
		if s.Action == Nothing || s.Action == Unreached {
			continue
		}
		if err := engine.EnsureIndex(ctx, s.mapping); err != nil {
			s.begun(err)
			return SearchError(fmt.Errorf("index %s: %w", s.Index, err))
		}
		if len(s.Settings) > 0 {
			if err := engine.(indexer.Tuned).Tune(ctx, s.Index, s.Settings); err != nil {
				s.begun(err)
				return SearchError(fmt.Errorf("index %s: %w", s.Index, err))
			}
		}
		s.Action = doneActions[s.Action]
	}
	return nil
}

// begun marks a step that the engine has not answered in time and so may have done.
func (s *IndexStep) begun(err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		s.Action = Begun
	}
}

// SearchError adds the kind to the error of a call to the search engine: a server that refuses is available, one that does not answer is
// not.
func SearchError(err error) error {
	named := fmt.Errorf("search.connect: %w", err)
	if _, refused := errors.AsType[*indexer.RequestError](err); refused {
		return named
	}
	return fault.New(fault.Unreachable, named, "is the search engine running there?")
}
