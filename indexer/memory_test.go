package indexer_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"brine/indexer"
	"brine/search"
)

// memory is an Engine of maps, with a fault for a chosen call.
type memory struct {
	mu    sync.Mutex
	docs  map[string]*memoryDoc
	calls int
	log   [][]string // the ids of every bulk call
	reads int        // documents requested
	home  string     // the index that the name stands for

	writer *indexer.Writer // over it, if a test needs one

	// before and after are called for every call, with its number: an error ends the call before or after it is executed.
	before, after func(call int) error
}

type memoryDoc struct {
	source       []byte
	version, seq int64
}

var errFault = errors.New("injected")

func newMemory() *memory { return &memory{docs: map[string]*memoryDoc{}, home: "orders-000001"} }

// fail makes call i fail before it has any effect if faults[i] is 1, and after it if 2.
func (m *memory) fail(faults []int) {
	at := func(kind int) func(int) error {
		return func(call int) error {
			if call < len(faults) && faults[call] == kind {
				return errFault
			}
			return nil
		}
	}
	m.before, m.after = at(1), at(2)
}

func (m *memory) enter() (leave func() error, err error) {
	call := m.calls
	m.calls++
	if m.before != nil {
		if err := m.before(call); err != nil {
			return nil, err
		}
	}
	return func() error {
		if m.after != nil {
			return m.after(call)
		}
		return nil
	}, nil
}

func (m *memory) Bulk(ctx context.Context, ops []indexer.Op, results []indexer.Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	leave, err := m.enter()
	if err != nil {
		return err
	}
	var ids []string
	for i, o := range ops {
		id := string(o.ID)
		ids = append(ids, id)
		doc := m.docs[id]
		if o.Kind == indexer.Put && doc != nil && o.Version < doc.version || o.Kind == indexer.Create && doc != nil ||
			o.Kind == indexer.Replace && (doc == nil || doc.seq != o.SeqNo) {
			results[i] = indexer.Result{Status: 409, Reason: "conflict"}
			continue
		}
		if !json.Valid(o.Source) {
			results[i] = indexer.Result{Status: 400, Reason: "not JSON: " + string(o.Source)}
			continue
		}
		if doc == nil {
			doc = &memoryDoc{}
			m.docs[id] = doc
		}
		doc.source, doc.version, doc.seq = slices.Clone(o.Source), o.Version, doc.seq+1
		results[i] = indexer.Result{Status: 200, SeqNo: doc.seq, PrimaryTerm: 1, Home: m.home}
	}
	m.log = append(m.log, ids)
	return leave()
}

func (m *memory) Get(ctx context.Context, refs []indexer.Ref, docs []indexer.Stored) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	leave, err := m.enter()
	if err != nil {
		return err
	}
	m.reads += len(refs)
	for i, ref := range refs {
		docs[i] = indexer.Stored{}
		if doc := m.docs[string(ref.ID)]; doc != nil {
			docs[i] = indexer.Stored{Found: true, Source: slices.Clone(doc.source), SeqNo: doc.seq, PrimaryTerm: 1}
		}
	}
	return leave()
}

// copied makes another index, with the same documents, take the place of this one.
func (m *memory) copied() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.home += "'"
	for _, doc := range m.docs {
		doc.seq += 100
	}
}

// hits returns all documents.
func (m *memory) hits() ([]search.Hit, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var hits []search.Hit
	for id, doc := range m.docs {
		hit, err := indexer.Hit([]byte(id), doc.source)
		if err != nil {
			return nil, err
		}
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, func(a, b search.Hit) int { return strings.Compare(string(a.Row), string(b.Row)) })
	return hits, nil
}

// Shown shows what was written immediately.
func (m *memory) Shown(_ context.Context, ref indexer.Ref) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	doc := m.docs[string(ref.ID)]
	if doc == nil {
		return -1, nil
	}
	return indexer.VersionOf(doc.source)
}

func (m *memory) EnsureIndex(context.Context, indexer.Mapping) error { return nil }
func (m *memory) Purge(context.Context, string, int64) (int, error)  { return 0, nil }
func (m *memory) Refresh(context.Context, string) error              { return nil }
func (m *memory) Close() error                                       { return nil }

func (m *memory) Mapping(context.Context, string) (indexer.Mapping, error) {
	return indexer.Mapping{}, search.ErrNoIndex
}

func (m *memory) Search(context.Context, search.Query) (search.Page, error) {
	return search.Page{}, search.ErrNoIndex
}
