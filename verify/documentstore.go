package verify

import (
	"context"
	"iter"
	"slices"

	"brine/indexer"
	"brine/search"
)

// Index returns the Store of a search index. If the engine keeps the index in parts, part returns the part that holds a document, by its
// id; it may be nil.
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
		return nil, nil // servers refuse an empty request
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

// Scan finds the ids by search, in pages, and reads the documents by their ids, because search does not return all of their contents. It
// may miss a document that was written a moment ago.
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

// Remove removes fields whose version and value are as found, and the document if it has no others.
func (s documentStore) Remove(ctx context.Context, key []byte, cells []Cell) error {
	refs, docs := []indexer.Ref{{Index: s.part(key), ID: key}}, make([]indexer.Stored, 1)
	if err := s.engine.Get(ctx, refs, docs); err != nil || !docs[0].Found {
		return err
	}
	op, err := indexer.Without(refs[0], docs[0], func(f indexer.FieldValue) bool {
		return slices.ContainsFunc(cells, func(c Cell) bool {
			return columnText(c.Column) == f.Name && c.Version == f.Version && c.Value == hash(f.JSON)
		})
	})
	if err != nil {
		return err
	}
	results := make([]indexer.Result, 1)
	if err := s.engine.Bulk(ctx, []indexer.Op{op}, results); err != nil {
		return err
	}
	if r := &results[0]; r.Status >= 300 {
		return &indexer.RequestError{Status: r.Status, Kind: r.Kind, Reason: r.Reason} // 409: it was written meanwhile
	}
	return nil
}
