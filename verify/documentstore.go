package verify

import (
	"context"
	"errors"
	"iter"

	"brine/indexer"
	"brine/search"
)

// Index is the Store of a search index. Where the engine keeps it in parts, part names that of a document's id; it may be nil.
func Index(engine indexer.Engine, index string, part func(id []byte) string) Store {
	if _, parted := engine.(indexer.Partitioned); part == nil || !parted {
		part = func([]byte) string { return index }
	}
	return documentStore{engine, index, part}
}

type documentStore struct {
	engine indexer.Engine
	index  string
	part   func(id []byte) string
}

func (documentStore) Splits(context.Context) ([][]byte, error) { return nil, nil }

func (s documentStore) Get(ctx context.Context, keys [][]byte) ([][]Cell, error) {
	if len(keys) == 0 {
		return nil, nil // servers refuse to be asked for nothing
	}
	refs, docs := make([]indexer.Ref, len(keys)), make([]indexer.Stored, len(keys))
	for i, key := range keys {
		refs[i] = indexer.Ref{Index: s.part(key), ID: key}
	}
	if err := s.engine.Get(ctx, refs, docs); err != nil {
		return nil, err
	}
	out := make([][]Cell, len(keys))
	for i := range docs {
		if !docs[i].Found {
			continue
		}
		fields, err := indexer.Fields(docs[i].Source)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			out[i] = append(out[i], Cell{Column: append([]byte{':'}, f.Name...), Version: f.Version, Value: hash(f.JSON)})
		}
	}
	return out, nil
}

const documentPage = 1000

// Scan finds the ids by search, in pages, and reads the documents by their ids, since search does not give all that is in them. A
// document that was written a moment ago may not be found.
func (s documentStore) Scan(ctx context.Context, _, _ []byte) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		query := search.Query{Index: s.index, Size: documentPage, Deleted: true}
		if err := s.engine.Refresh(ctx, s.index); err != nil {
			yield(Row{}, err)
			return
		}
		for {
			page, err := s.engine.Search(ctx, query)
			if err != nil {
				yield(Row{}, err)
				return
			}
			ids := make([][]byte, len(page.Hits))
			for i := range page.Hits {
				ids[i] = indexer.AppendID(nil, page.Hits[i].Row)
			}
			docs, err := s.Get(ctx, ids)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for i := range ids {
				if len(docs[i]) > 0 && !yield(Row{ids[i], docs[i]}, nil) {
					return
				}
			}
			if query.After = page.Next; page.Next == "" {
				return
			}
		}
	}
}

// ErrNoRemoval is that documents are not removed one by one.
var ErrNoRemoval = errors.New("a document that no record accounts for is removed by building the index anew")

func (documentStore) Remove(context.Context, []byte, []Cell) error { return ErrNoRemoval }
