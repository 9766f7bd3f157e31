package stores

import (
	"context"
	"sync"

	"brine/config"
	"brine/indexer"
	"brine/search"
)

// LateSearch is the search engine of a configuration, opened by the first query: a command without queries needs none.
type LateSearch struct {
	Config *config.Config

	mu     sync.Mutex
	engine indexer.Engine
}

// Search sends a query to the engine.
func (l *LateSearch) Search(ctx context.Context, q search.Query) (search.Page, error) {
	engine, err := l.open()
	if err != nil {
		return search.Page{}, err
	}
	return engine.Search(ctx, q)
}

func (l *LateSearch) open() (_ indexer.Engine, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		l.engine, err = OpenSearch(l.Config)
	}
	return l.engine, err
}

// Close closes the engine if it was opened.
func (l *LateSearch) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.engine == nil {
		return nil
	}
	return l.engine.Close()
}
