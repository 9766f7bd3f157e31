package elastic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"brine/indexer"
	"brine/search"
)

// surpass raises the primary terms of an index above those of others, by closing and opening it. A writer that has read a document of one
// of the others, and writes it on the condition that it is unchanged, then cannot match a document of this index that happens to have the
// same sequence number. If a server does not report its terms, that risk remains.
func (e *Engine) surpass(ctx context.Context, name string, others []string) error {
	for before := int64(0); ; {
		highest, err := e.terms(ctx, others...)
		if err != nil || highest.max == 0 {
			return err
		}
		own, err := e.terms(ctx, name)
		switch {
		case err != nil:
			return err
		case own.closed: // by a process that was killed here
			if err := e.open(ctx, name); err != nil {
				return err
			}
			continue
		case own.min > highest.max:
			return nil
		case own.min <= before:
			return fmt.Errorf("index %s: its primary term is still %d although it was reopened", name, own.min)
		}
		before = own.min
		if err := e.json(ctx, "POST", "/"+name+"/_close", nil, nil); err != nil {
			return fmt.Errorf("close index %s: %w", name, err)
		}
		if err := e.open(ctx, name); err != nil {
			return err
		}
	}
}

func (e *Engine) open(ctx context.Context, name string) error {
	if err := e.json(ctx, "POST", "/"+name+"/_open?wait_for_active_shards=1", nil, nil); err != nil {
		return fmt.Errorf("open index %s: %w", name, err)
	}
	return nil
}

// surpassLive is surpass with the index, or the part of one, that a new index is built beside.
func (e *Engine) surpassLive(ctx context.Context, name, made string) error {
	whole, rebuilt := indexer.StandsFor(name)
	if !rebuilt {
		return nil
	}
	live, err := e.Behind(ctx, whole)
	if errors.Is(err, search.ErrNoIndex) {
		return nil // a part that the live index does not have
	}
	if err == nil {
		err = e.surpass(ctx, made, live)
	}
	return err
}

type terms struct {
	min, max int64
	closed   bool // at least one of the indexes is closed
}

// terms returns the least and the greatest primary term of indexes. It returns zero if there are no indexes, or the server does not report
// the terms.
func (e *Engine) terms(ctx context.Context, names ...string) (t terms, err error) {
	if len(names) == 0 {
		return t, nil
	}
	var state struct {
		Metadata struct {
			Indices map[string]struct {
				Terms map[string]int64 `json:"primary_terms"`
				State string           `json:"state"`
			} `json:"indices"`
		} `json:"metadata"`
	}
	path := "/_cluster/state/metadata/" + strings.Join(names, ",") + "?filter_path=metadata.indices.*.primary_terms,metadata.indices.*.state"
	err = e.json(ctx, "GET", path, nil, &state)
	var refused *indexer.RequestError
	if errors.As(err, &refused) && (refused.Status == http.StatusForbidden || refused.Status == http.StatusUnauthorized) {
		return t, nil
	}
	for _, index := range state.Metadata.Indices {
		t.closed = t.closed || index.State == "close"
		for _, term := range index.Terms {
			if t.min == 0 || term < t.min {
				t.min = term
			}
			t.max = max(t.max, term)
		}
	}
	return t, err
}
