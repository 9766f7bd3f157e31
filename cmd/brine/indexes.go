package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"brine/config"
	"brine/indexer"
	"brine/search"
)

// indexStep is what is to be done for one index.
type indexStep struct {
	Index  string   `json:"index"`
	Action string   `json:"action"`           // create, created, extend, extended, alter, altered, nothing
	Fields []string `json:"fields,omitempty"` // that are missing

	Settings []indexer.Setting `json:"settings,omitempty"` // that are to be changed, also where fields are missing

	mapping indexer.Mapping
}

// withSearch runs work with the search engine of the configuration; without documents there is nothing to do.
func withSearch[T any](cfg *config.Config, work func(indexer.Engine) (T, error)) (result T, err error) {
	documents := false
	for _, p := range cfg.Pipelines {
		documents = documents || len(p.Documents) > 0
	}
	if !documents {
		return result, nil
	}
	engine, err := openSearch(cfg)
	if err != nil {
		return result, err
	}
	defer closing("the search engine", engine)
	return work(engine)
}

// lookTime is how long a search engine may take at most to say what the indexes are; search.call_timeout may be shorter.
const lookTime = 10 * time.Second

// planIndexes compares the configuration with the search engine. A field of another type or analyzer than declared is an error: it cannot be changed in
// place. The number of shards is not compared: an index has its own, and so may each of its parts.
func planIndexes(ctx context.Context, cfg *config.Config, engine indexer.Engine) ([]indexStep, error) {
	ctx, cancel := context.WithTimeout(ctx, min(lookTime, cfg.Search.CallTimeout))
	defer cancel()
	var steps []indexStep
	for _, p := range cfg.Pipelines {
		if len(p.Documents) == 0 {
			continue
		}
		for _, want := range p.Indexer().Mappings() {
			for i := range want.Fields {
				want.Fields[i].Analyzer = cfg.Search.Analyzer
			}
			step := indexStep{Index: want.Index, Action: "create", mapping: want}
			have, err := engine.Mapping(ctx, want.Index)
			switch {
			case errors.Is(err, search.ErrNoIndex):
			case err != nil:
				return nil, searchError(err)
			default:
				missing, err := want.Missing(have)
				if err != nil {
					return nil, usage(err)
				}
				step.Action = "nothing"
				if step.Settings, err = untuned(ctx, engine, want.Index); err != nil {
					return nil, searchError(err)
				} else if len(step.Settings) > 0 {
					step.Action = "alter"
				}
				for _, f := range missing {
					step.Action = "extend"
					step.Fields = append(step.Fields, f.Name)
				}
			}
			steps = append(steps, step)
		}
	}
	return steps, nil
}

func untuned(ctx context.Context, engine indexer.Engine, index string) ([]indexer.Setting, error) {
	if tuned, ok := engine.(indexer.Tuned); ok {
		return tuned.Untuned(ctx, index)
	}
	return nil, nil
}

// searchError tells a server that does not answer from one that refuses.
func searchError(err error) error {
	var refused *indexer.RequestError
	if errors.As(err, &refused) {
		return fmt.Errorf("search.connect: %w", err)
	}
	return &exitError{exitUnreachable, fmt.Errorf("search.connect: %w", err), "is the search engine running there?"}
}

func applyIndexes(ctx context.Context, engine indexer.Engine, steps []indexStep) error {
	done := map[string]string{"create": "created", "extend": "extended", "alter": "altered"}
	for i := range steps {
		s := &steps[i]
		if done[s.Action] == "" {
			continue
		}
		if err := engine.EnsureIndex(ctx, s.mapping); err != nil {
			return searchError(fmt.Errorf("index %s: %w", s.Index, err))
		}
		if len(s.Settings) > 0 {
			if err := engine.(indexer.Tuned).Tune(ctx, s.Index, s.Settings); err != nil {
				return searchError(fmt.Errorf("index %s: %w", s.Index, err))
			}
		}
		s.Action = done[s.Action]
	}
	return nil
}

func printIndexSteps(out io.Writer, steps []indexStep) {
	words := map[string]string{"create": "to be created", "created": "created", "extend": "to be given fields", "extended": "was given fields",
		"alter": "to be altered", "altered": "altered", "nothing": "exists, nothing to do"}
	for _, s := range steps {
		fmt.Fprintf(out, "index %s: %s", s.Index, words[s.Action])
		if len(s.Fields) > 0 {
			fmt.Fprintf(out, " %s", strings.Join(s.Fields, ", "))
		}
		fmt.Fprintln(out)
		for _, c := range s.Settings {
			printLine(out, "  %s: %s → %s", c.Name, c.Is, c.Becomes)
		}
	}
}
