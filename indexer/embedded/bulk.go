package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	"github.com/valyala/fastjson"

	"brine/indexer"
)

// A stored document consists of its version and its sequence number, 8 bytes each, big-endian, and its JSON. Put compares the version,
// which is 1 after Create. The sequence number counts the document's writes, starting at the time of the first one, so that a document that
// was removed and is created again is not mistaken for the former.
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

// bulk applies ops[i] for each i in places, all for this index.
func (s *store) bulk(ctx context.Context, ops []indexer.Op, places []int, results []indexer.Result) error {
	parser := s.parsers.Get().(*fastjson.Parser)
	docs := make([]*doc, len(places))
	ids := make([]string, 0, len(places))
	mapping := s.mapping.Load()
	for at, i := range places {
		if ops[i].Kind == indexer.Delete {
			ids = append(ids, string(ops[i].ID))
			continue
		}
		d, err := newDoc(parser, mapping, s.analyzer, &ops[i])
		if err != nil {
			results[i] = indexer.Result{Status: http.StatusBadRequest, Kind: "document_refused", Reason: err.Error()}
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

// replace decides every operation in order and applies those whose condition holds.
func (s *store) replace(ops []indexer.Op, places []int, docs []*doc, ids []string,
	results []indexer.Result) (func(context.Context) error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := make(map[string]header, len(ids)) // the headers of existing documents, as the operations so far leave them
	err := s.read(ids, func(id, stored []byte) {
		if h, ok := readHeader(stored); ok {
			is[string(id)] = h
		}
	})
	if err != nil {
		return nil, err
	}
	batch := index.NewBatch()
	more := 0
	for at, i := range places {
		d, id := docs[at], string(ops[i].ID)
		if d == nil && ops[i].Kind != indexer.Delete {
			continue
		}
		have, exists := is[id]
		next, reason := replacement(&ops[i], have, exists)
		if reason != "" {
			results[i] = indexer.Result{Status: http.StatusConflict, Reason: reason}
			continue
		}
		if d == nil {
			batch.Delete(id)
			delete(is, id)
			more--
			results[i] = indexer.Result{Status: http.StatusOK}
			continue
		}
		setHeader(d.stored, next)
		batch.Update(d)
		is[id] = next
		results[i] = indexer.Result{Status: http.StatusOK, SeqNo: next.seq, PrimaryTerm: 1, Home: s.home}
		if !exists {
			results[i].Status = http.StatusCreated
			more++
		}
	}
	if len(batch.IndexOps) == 0 {
		return func(context.Context) error { return nil }, nil
	}
	return s.apply(batch, more)
}

// replacement returns the header after an operation, or the reason that it must not be applied.
func replacement(o *indexer.Op, have header, exists bool) (next header, conflict string) {
	next = header{version: have.version + 1, seq: have.seq + 1}
	if !exists {
		next.seq = time.Now().UnixNano()
	}
	switch {
	case o.Kind == indexer.Put && exists && o.Version < have.version:
		return next, fmt.Sprintf("the document has version %d, which is newer than %d", have.version, o.Version)
	case o.Kind == indexer.Put:
		next.version = o.Version
	case o.Kind == indexer.Create && exists:
		return next, "the document exists"
	case (o.Kind == indexer.Replace || o.Kind == indexer.Delete) && (!exists || o.SeqNo != have.seq):
		return next, fmt.Sprintf("the document has sequence number %d, not %d", have.seq, o.SeqNo)
	}
	return next, ""
}

// get reads refs[i] for each i in places, all of this index.
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
				Found: true, Source: slices.Clone(stored[headerSize:]), Version: h.version, SeqNo: h.seq, PrimaryTerm: 1,
			}
		}
	})
}

// read calls visit for the stored form of every existing document of ids. visit must not retain its arguments.
func (s *store) read(ids []string, visit func(id, stored []byte)) error {
	reader, err := s.scorch.Reader()
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // everything has been read
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
