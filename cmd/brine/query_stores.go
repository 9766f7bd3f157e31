package main

import (
	"context"
	"errors"
	"fmt"

	"brine/config"
	"brine/hbase"
	"brine/query"
	"brine/schema"
	"brine/search"
	"brine/service/stores"
	"brine/tracing"
)

// stores opens the stores that a question needs, and runs ask.
func (c *queryCmd) stores(e *env, cfg *config.Config, index bool, ask func(query.Client, search.Searcher) error) error {
	cluster, err := openHBase(e, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	if !index {
		return c.failure(ask(cluster.Client, nil))
	}
	engine, err := stores.OpenSearch(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }() // only read from
	return c.failure(ask(cluster.Client, codedSearcher{tracing.Searcher(engine)}))
}

// failure attaches the exit code to the error of a question, and writes flags with their dashes.
func (c *queryCmd) failure(err error) error {
	fault, ok := errors.AsType[*query.Fault](err)
	switch {
	case errors.Is(err, hbase.ErrNoTable):
		return &exitError{exitMissing, err, "create it: brine tables apply -c " + c.Config}
	case ok && fault.Option:
		return usage(fmt.Errorf("--%w", err))
	case ok:
		return usage(err)
	}
	return err
}

// codedSearcher is a search engine whose errors carry exit codes.
type codedSearcher struct{ search.Searcher }

func (s codedSearcher) Search(ctx context.Context, q search.Query) (search.Page, error) {
	page, err := s.Searcher.Search(ctx, q)
	var fault *search.Error
	switch {
	case err == nil, errors.As(err, &fault):
	case errors.Is(err, search.ErrNoIndex):
		err = &exitError{exitMissing, err, "brine tables apply -c FILE creates it"}
	default:
		err = schema.SearchError(err)
	}
	return page, err
}
