package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/registry"
	index "github.com/blevesearch/bleve_index_api"

	"brine/indexer"
	"brine/internal/datadir"
	"brine/search"
)

// Options configure the indexes and their folder.
type Options struct {
	Dir     string // created if absent; empty: a temporary folder, which Close removes
	Workers int    // goroutines that cut text into words; default 2
}

// EnsureDefaults sets zero fields to their defaults. Open calls it.
func (o *Options) EnsureDefaults() { o.Workers = cmp.Or(o.Workers, 2) }

// Validate reports every fault. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	if o.Workers < 1 || o.Workers > 256 {
		return fmt.Errorf("indexer: embedded: Options.Workers is %d: it must be from 1 to 256", o.Workers)
	}
	return nil
}

// Engine is the indexes in one folder.
type Engine struct {
	dir      string
	remove   bool
	lock     io.Closer // of the folder
	queue    *index.AnalysisQueue
	analyzer analysis.Analyzer

	mu      sync.RWMutex
	indexes map[string]*store // by name
	closed  bool
}

var _ indexer.Engine = (*Engine)(nil)

// Open opens the folder with all indexes in it.
func Open(opts Options) (*Engine, error) {
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	analyzer, err := registry.NewCache().AnalyzerNamed(cjk.AnalyzerName)
	if err != nil {
		return nil, err
	}
	e := &Engine{dir: opts.Dir, analyzer: analyzer, indexes: map[string]*store{}}
	if e.dir == "" {
		e.remove = true
		if e.dir, err = os.MkdirTemp("", "brine-search-"); err != nil {
			return nil, err
		}
	}
	if err := (datadir.Layout{}).Make(e.dir); err != nil {
		return nil, fmt.Errorf("search.connect: %w", err)
	}
	e.queue = index.NewAnalysisQueue(opts.Workers)
	if err := e.openAll(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) openAll() (err error) {
	if e.lock, err = datadir.Lock(e.dir); err != nil {
		return fmt.Errorf("%w; is another brine using the folder?", err)
	}
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		return fmt.Errorf("search.connect: %w", err)
	}
	if err := e.finishAll(entries); err != nil {
		return fmt.Errorf("search.connect: %w", err)
	}
	if entries, err = os.ReadDir(e.dir); err != nil {
		return fmt.Errorf("search.connect: %w", err)
	}
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() && indexer.ValidIndex(name) == nil {
			if e.indexes[name], err = openStore(name, filepath.Join(e.dir, name), e.queue, e.analyzer); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes all indexes. Pending calls fail.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	var errs []error
	for _, s := range e.indexes {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	e.queue.Close()
	if e.remove {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}

// store returns an index that has a mapping.
func (e *Engine) store(name string) (*store, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, errClosed
	}
	if s := e.indexes[name]; s != nil && s.mapping.Load() != nil {
		return s, nil
	}
	if base := wholeOf(name); base != name {
		if s := e.indexes[base]; s != nil && s.mapping.Load() != nil && s.mapping.Load().Every != "" {
			return s, nil
		}
	}
	return nil, fmt.Errorf("index %s: %w", name, search.ErrNoIndex)
}

var errClosed = errors.New("the embedded index is closed")

// EnsureIndex implements indexer.Engine.
func (e *Engine) EnsureIndex(ctx context.Context, m indexer.Mapping) error {
	if err := indexer.ValidIndex(m.Index); err != nil {
		return err
	}
	m.Routing = nil // the index has no shards
	m.Fields = slices.Clone(m.Fields)
	for i := range m.Fields {
		m.Fields[i].Analyzer = "" // there is only one
	}
	s, err := e.create(m.Index)
	if err != nil {
		return err
	}
	return s.ensure(ctx, m)
}

func (e *Engine) create(name string) (*store, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	if s := e.indexes[name]; s != nil {
		return s, nil
	}
	s, err := openStore(name, filepath.Join(e.dir, name), e.queue, e.analyzer)
	if err == nil {
		e.indexes[name] = s
	}
	return s, err
}

// Mapping implements indexer.Engine.
func (e *Engine) Mapping(_ context.Context, name string) (indexer.Mapping, error) {
	s, err := e.store(name)
	if err != nil {
		return indexer.Mapping{}, err
	}
	return *s.mapping.Load(), nil
}

// Bulk implements indexer.Engine.
func (e *Engine) Bulk(ctx context.Context, ops []indexer.Op, results []indexer.Result) error {
	var places []int // of the ops of one index
	for done := make([]bool, len(ops)); ; {
		first := slices.Index(done, false)
		if first < 0 {
			return nil
		}
		name := ops[first].Index
		places = places[:0]
		for i := first; i < len(ops); i++ {
			if ops[i].Index == name {
				places, done[i] = append(places, i), true
			}
		}
		s, err := e.store(name)
		if errors.Is(err, search.ErrNoIndex) {
			for _, i := range places {
				results[i] = indexer.Result{Status: http.StatusNotFound, Reason: err.Error()}
			}
			continue
		}
		if err == nil {
			err = s.bulk(ctx, ops, places, results)
		}
		if err != nil {
			return err
		}
	}
}

// Get implements indexer.Engine. Documents of an index that does not exist are absent.
func (e *Engine) Get(_ context.Context, refs []indexer.Ref, docs []indexer.Stored) error {
	byIndex := map[string][]int{}
	for i, ref := range refs {
		docs[i] = indexer.Stored{}
		byIndex[ref.Index] = append(byIndex[ref.Index], i)
	}
	for name, places := range byIndex {
		s, err := e.store(name)
		if errors.Is(err, search.ErrNoIndex) {
			continue
		}
		if err == nil {
			err = s.get(refs, places, docs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Shown implements indexer.Engine.
func (e *Engine) Shown(ctx context.Context, ref indexer.Ref) (int64, error) {
	s, err := e.store(ref.Index)
	if err != nil {
		return 0, err
	}
	return s.shown(ctx, string(ref.ID))
}

// Refresh implements indexer.Engine. It does nothing, because searches find written documents immediately.
func (e *Engine) Refresh(_ context.Context, name string) error {
	_, err := e.store(name)
	return err
}

// Search implements search.Searcher.
func (e *Engine) Search(ctx context.Context, q search.Query) (search.Page, error) {
	if err := q.Validate(); err != nil {
		return search.Page{}, err
	}
	s, err := e.store(q.Index)
	if err != nil {
		return search.Page{}, err
	}
	if err := s.mapping.Load().Check(&q); err != nil {
		return search.Page{}, err
	}
	return s.search(ctx, &q)
}
