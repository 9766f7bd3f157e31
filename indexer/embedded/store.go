package embedded

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	"github.com/valyala/fastjson"

	"brine/indexer"
)

// store is one index.
type store struct {
	name     string
	scorch   *scorch.Scorch
	analyzer analysis.Analyzer
	mapping  atomic.Pointer[indexer.Mapping] // nil until EnsureIndex
	closed   chan struct{}
	parsers  sync.Pool // of *fastjson.Parser

	// mu makes the check of a document's version and its replacement one step. It is not held while the disk is waited
	// for, so that writes that come meanwhile go to disk together.
	mu sync.Mutex
}

// state is what is kept about the mapping, in the index's own key-value part.
type state struct {
	Format int // of the stored documents and of this
	Fields []indexer.Field
}

const format = 1

var stateKey = []byte("brine")

func openStore(name, dir string, queue *index.AnalysisQueue, analyzer analysis.Analyzer) (*store, error) {
	opened, err := scorch.NewScorch(scorch.Name, map[string]any{
		"path":         dir,
		"unsafe_batch": true, // Batch returns when it can be read; store.apply waits for the disk
		"bolt_timeout": "1s",
	}, queue)
	if err != nil {
		return nil, err
	}
	if err := opened.Open(); err != nil {
		return nil, fmt.Errorf("index %s in %s: %w; is another brine using the folder?", name, dir, err)
	}
	s := &store{name: name, scorch: opened.(*scorch.Scorch), analyzer: analyzer, closed: make(chan struct{})}
	s.parsers.New = func() any { return new(fastjson.Parser) }
	if err := s.readState(); err != nil {
		return nil, errors.Join(fmt.Errorf("index %s in %s: %w", name, dir, err), s.close())
	}
	return s, nil
}

func (s *store) readState() error {
	reader, err := s.scorch.Reader()
	if err != nil {
		return err
	}
	defer reader.Close()
	text, err := reader.GetInternal(stateKey)
	if err != nil || text == nil {
		return err
	}
	var is state
	if err := json.Unmarshal(text, &is); err != nil {
		return fmt.Errorf("its description is damaged: %w", err)
	}
	if is.Format != format {
		return fmt.Errorf("it was written in format %d, and this brine knows format %d: use the brine that wrote it", is.Format, format)
	}
	s.mapping.Store(&indexer.Mapping{Index: s.name, Fields: is.Fields})
	return nil
}

func (s *store) close() error {
	close(s.closed)
	s.mu.Lock() // no batch is half-way in
	defer s.mu.Unlock()
	return s.scorch.Close()
}

// ensure makes the mapping hold the fields of m.
func (s *store) ensure(ctx context.Context, m indexer.Mapping) error {
	s.mu.Lock()
	is := state{Format: format}
	if have := s.mapping.Load(); have != nil {
		missing, err := m.Missing(*have)
		if err != nil || len(missing) == 0 {
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
	wait, err := s.apply(batch)
	if err == nil {
		s.mapping.Store(&indexer.Mapping{Index: s.name, Fields: is.Fields})
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return wait(ctx)
}

// apply makes a batch readable; the function that it gives waits until it is on disk. The caller holds s.mu.
func (s *store) apply(batch *index.Batch) (wait func(context.Context) error, err error) {
	select {
	case <-s.closed:
		return nil, errClosed
	default:
	}
	persisted := make(chan error, 1)
	batch.SetPersistedCallback(func(err error) { persisted <- err })
	if err := s.scorch.Batch(batch); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		select {
		case err := <-persisted:
			return err
		case <-ctx.Done():
			return fmt.Errorf("index %s: waiting for the disk: %w", s.name, ctx.Err())
		case <-s.closed:
			return errClosed
		}
	}, nil
}

// A stored document is its version and its sequence number, 8 bytes each, big-endian, and its JSON. The version is what
// Put compares, and 1 after Create; the sequence number counts the document's writes.
const headerSize = 16

type header struct {
	version, seq int64
}

func readHeader(stored []byte) (header, bool) {
	if len(stored) < headerSize {
		return header{}, false
	}
	return header{int64(binary.BigEndian.Uint64(stored)), int64(binary.BigEndian.Uint64(stored[8:]))}, true
}

func setHeader(stored []byte, h header) {
	binary.BigEndian.PutUint64(stored, uint64(h.version))
	binary.BigEndian.PutUint64(stored[8:], uint64(h.seq))
}

// bulk applies ops[i] for i of places, which are all of this index.
func (s *store) bulk(ctx context.Context, ops []indexer.Op, places []int, results []indexer.Result) error {
	parser := s.parsers.Get().(*fastjson.Parser)
	docs := make([]*doc, len(places))
	ids := make([]string, 0, len(places))
	mapping := s.mapping.Load()
	for at, i := range places {
		d, err := newDoc(parser, mapping, s.analyzer, &ops[i])
		if err != nil {
			results[i] = indexer.Result{Status: http.StatusBadRequest, Reason: err.Error()}
			continue
		}
		docs[at] = d
		ids = append(ids, d.ID())
	}
	s.parsers.Put(parser)

	wait, err := s.replace(ops, places, docs, ids, results)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// replace decides on every operation in order and applies those whose condition holds.
func (s *store) replace(ops []indexer.Op, places []int, docs []*doc, ids []string, results []indexer.Result) (func(context.Context) error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := make(map[string]header, len(ids)) // of the documents that exist, as the operations so far leave them
	err := s.read(ids, func(id, stored []byte) {
		if h, ok := readHeader(stored); ok {
			is[string(id)] = h
		}
	})
	if err != nil {
		return nil, err
	}
	batch := index.NewBatch()
	for at, i := range places {
		d := docs[at]
		if d == nil {
			continue
		}
		have, exists := is[d.ID()]
		next, reason := replacement(&ops[i], have, exists)
		if reason != "" {
			results[i] = indexer.Result{Status: http.StatusConflict, Reason: reason}
			continue
		}
		setHeader(d.stored, next)
		batch.Update(d)
		is[d.ID()] = next
		results[i] = indexer.Result{Status: http.StatusOK}
		if !exists {
			results[i].Status = http.StatusCreated
		}
	}
	if len(batch.IndexOps) == 0 {
		return func(context.Context) error { return nil }, nil
	}
	return s.apply(batch)
}

// replacement is the header after an operation, or the reason why it must not be applied.
func replacement(o *indexer.Op, have header, exists bool) (next header, conflict string) {
	next = header{version: have.version + 1, seq: have.seq + 1}
	switch {
	case o.Kind == indexer.Put && exists && o.Version < have.version:
		return next, fmt.Sprintf("the document has version %d, which is newer than %d", have.version, o.Version)
	case o.Kind == indexer.Put:
		next.version = o.Version
	case o.Kind == indexer.Create && exists:
		return next, "the document exists"
	case o.Kind == indexer.Replace && (!exists || o.SeqNo != have.seq):
		return next, fmt.Sprintf("the document has sequence number %d, not %d", have.seq, o.SeqNo)
	}
	return next, ""
}

// get reads refs[i] for i of places, which are all of this index.
func (s *store) get(refs []indexer.Ref, places []int, docs []indexer.Stored) error {
	ids := make([]string, 0, len(places))
	place := make(map[string]int, len(places))
	for _, i := range places {
		id := string(refs[i].ID)
		ids = append(ids, id)
		place[id] = i
	}
	return s.read(ids, func(id, stored []byte) {
		if h, ok := readHeader(stored); ok {
			docs[place[string(id)]] = indexer.Stored{
				Found: true, Source: slices.Clone(stored[headerSize:]), SeqNo: h.seq, PrimaryTerm: 1,
			}
		}
	})
}

// read calls visit for the stored form of every document of ids that exists. It must not keep what it is given.
func (s *store) read(ids []string, visit func(id, stored []byte)) error {
	reader, err := s.scorch.Reader()
	if err != nil {
		return err
	}
	defer reader.Close()
	return readFrom(reader, ids, visit)
}

func readFrom(reader index.IndexReader, ids []string, visit func(id, stored []byte)) error {
	snapshot, ok := reader.(*scorch.IndexSnapshot)
	if !ok || snapshot == nil {
		return errClosed
	}
	for _, segment := range snapshot.Segments() {
		numbers, err := segment.DocNumbers(ids)
		if err != nil {
			return err
		}
		for it := numbers.Iterator(); it.HasNext(); {
			var id []byte
			err := segment.VisitDocument(uint64(it.Next()), func(field string, _ byte, value []byte, _ []uint64) bool {
				switch field {
				case "_id":
					id = append(id, value...)
				case fieldSource:
					visit(id, value)
				}
				return true
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
