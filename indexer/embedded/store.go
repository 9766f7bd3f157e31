package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	"github.com/valyala/fastjson"

	"brine/indexer"
)

// store is one index.
type store struct {
	name     string
	dir      string
	home     string // identifies this incarnation: another index may get its name later
	scorch   open
	analyzer analysis.Analyzer
	mapping  atomic.Pointer[indexer.Mapping] // nil until EnsureIndex
	closed   chan struct{}
	outage   *outage
	parsers  sync.Pool // of *fastjson.Parser

	// mu makes the check of a document's version and its replacement one step. It is not held during waits for the disk, so that concurrent
	// writes go to disk together.
	mu     sync.Mutex
	newest <-chan struct{} // closed when the newest batch, and so all before it, is on disk; nil before the first. Under mu
	at     progress        // of the newest batch. Under mu
	noted  *acknowledged   // nil until the index is open
}

// open is an index of Bleve that may be closed concurrently. Its Reader then returns an error instead of the library's unusable reader.
type open struct{ *scorch.Scorch }

func (o open) Reader() (index.IndexReader, error) {
	reader, err := o.Scorch.Reader()
	if snapshot, ok := reader.(*scorch.IndexSnapshot); ok && snapshot == nil {
		return nil, errClosed
	}
	return reader, err
}

// state is what the index's own key-value part holds about the mapping.
type state struct {
	Format int // of the stored documents and of the state
	Fields []indexer.Field
	Every  indexer.Every `json:",omitempty"`
}

const format = 1

var stateKey = []byte("brine")

func openStore(name, dir string, queue *index.AnalysisQueue, analyzer analysis.Analyzer) (*store, error) {
	if err := checkIndex(dir, queue); err != nil {
		return nil, err
	}
	opened, err := scorch.NewScorch(scorch.Name, map[string]any{
		"path":         dir,
		"unsafe_batch": true, // Batch returns when the batch can be read; store.apply waits for the disk
		"bolt_timeout": "1s",

		"asyncErrorCallbackName": outageCallback,
	}, queue)
	if err != nil {
		return nil, err
	}
	watched := watchFolder(dir)
	if err := opened.Open(); err != nil {
		watched.end()
		return nil, fmt.Errorf("index %s in %s: %w; is another brine using the folder?", name, dir, err)
	}
	s := &store{
		name: name, dir: dir, home: name + "@" + strconv.FormatInt(time.Now().UnixNano(), 36), scorch: open{opened.(*scorch.Scorch)},
		analyzer: analyzer, closed: make(chan struct{}), outage: watched,
	}
	s.parsers.New = func() any { return new(fastjson.Parser) }
	if err = s.readState(); err == nil {
		s.noted, err = openProgress(dir, s.at)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("index %s in %s: %w", name, dir, err), s.close())
	}
	return s, nil
}

func (s *store) readState() error {
	reader, err := s.scorch.Reader()
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // everything has been read
	at, err := reader.GetInternal(progressKey)
	if err != nil {
		return err
	}
	s.at, _ = decodeProgress(at) // checkIndex has checked it
	if s.at.docs, err = reader.DocCount(); err != nil {
		return err
	}
	text, err := reader.GetInternal(stateKey)
	if err != nil || text == nil {
		return err
	}
	var is state
	if err := json.Unmarshal(text, &is); err != nil {
		return fmt.Errorf("its description is damaged: %w", err)
	}
	if is.Format != format {
		return fmt.Errorf("it was written in format %d, but this brine knows format %d: use the brine that wrote it", is.Format, format)
	}
	s.mapping.Store(&indexer.Mapping{Index: s.name, Fields: is.Fields, Every: is.Every})
	return nil
}

// flushTime limits how long close waits for a disk that accepts no writes.
const flushTime = 10 * time.Second

// close waits until everything applied is on disk, and seals the folder. If Bleve's persister and introducer are stopped in the middle of a
// segment, they access one map concurrently, which can crash the process.
func (s *store) close() error {
	close(s.closed)
	s.mu.Lock() // no batch is in progress
	defer s.mu.Unlock()
	if s.newest != nil {
		select {
		case <-s.newest:
		case <-time.After(flushTime):
		}
	}
	err := s.scorch.Close()
	s.outage.end()
	if s.noted == nil {
		return err
	}
	if err = errors.Join(err, s.noted.close()); err == nil {
		err = folderLayout.Seal(s.dir)
	}
	return err
}

// ensure makes sure that the mapping has the fields of m.
func (s *store) ensure(ctx context.Context, m indexer.Mapping) error {
	s.mu.Lock()
	is := state{Format: format, Every: m.Every}
	if have := s.mapping.Load(); have != nil {
		missing, err := m.Missing(*have)
		if err != nil || len(missing) == 0 && have.Every == m.Every {
			s.mu.Unlock()
			return err
		}
		is.Fields = slices.Concat(have.Fields, missing)
	} else {
		is.Fields = slices.Clone(m.Fields)
	}
	slices.SortFunc(is.Fields, func(a, b indexer.Field) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.Marshal(is)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	batch := index.NewBatch()
	batch.SetInternal(stateKey, text)
	wait, err := s.apply(batch, 0)
	if err == nil {
		s.mapping.Store(&indexer.Mapping{Index: s.name, Fields: is.Fields, Every: is.Every})
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return wait(ctx)
}

// apply makes a batch readable, which adds more documents; the function that it returns waits until the batch is on disk. The caller holds
// s.mu.
func (s *store) apply(batch *index.Batch, more int) (wait func(context.Context) error, err error) {
	select {
	case <-s.closed:
		return nil, errClosed
	default:
	}
	next := progress{s.at.batches + 1, s.at.docs + uint64(more)}
	batch.SetInternal(progressKey, next.encode())
	persisted := make(chan struct{})
	var failure error
	batch.SetPersistedCallback(func(err error) {
		if err == nil {
			err = s.noted.note(next)
		}
		failure = err
		close(persisted)
	})
	if err := s.scorch.Batch(batch); err != nil {
		return nil, err
	}
	s.at = next
	s.newest = persisted
	return func(ctx context.Context) error {
		select {
		case <-persisted:
			return failure
		case <-ctx.Done():
			return fmt.Errorf("index %s: waiting for the disk: %w", s.name, errors.Join(s.outage.cause(), ctx.Err()))
		case <-s.closed:
			return errClosed
		}
	}, nil
}
