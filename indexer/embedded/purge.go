package embedded

import (
	"context"
	"net/http"

	"brine/indexer"
	"brine/search"
)

const purgePage = 1000 // documents per check

// Purge implements indexer.Engine. It checks all deleted documents, page by page.
func (e *Engine) Purge(ctx context.Context, index string, before int64) (purged int, err error) {
	s, err := e.store(index)
	if err != nil || s.mapping.Load().Type(indexer.FieldDeleted) == "" {
		return 0, err
	}
	query := search.Query{Index: index, Size: purgePage, Deleted: true,
		Filter: []search.Clause{search.Term{Field: indexer.FieldDeleted, Value: true}}}
	for {
		page, err := s.search(ctx, &query)
		if err != nil {
			return purged, err
		}
		n, err := e.removeOlder(ctx, index, page.Hits, before)
		purged += n
		if query.After = page.Next; err != nil || page.Next == "" {
			return purged, err
		}
	}
}

// removeOlder removes those documents that are still deleted, and older than a version.
func (e *Engine) removeOlder(ctx context.Context, index string, hits []search.Hit, before int64) (n int, err error) {
	var refs []indexer.Ref
	for i := range hits {
		if hits[i].Version < before {
			refs = append(refs, indexer.Ref{Index: index, ID: indexer.AppendID(nil, hits[i].Row)})
		}
	}
	if len(refs) == 0 {
		return 0, nil
	}
	docs := make([]indexer.Stored, len(refs))
	if err := e.Get(ctx, refs, docs); err != nil {
		return 0, err
	}
	var ops []indexer.Op
	for i, ref := range refs {
		now, err := indexer.Hit(ref.ID, docs[i].Source)
		if docs[i].Found && err == nil && now.Version < before && now.Fields[indexer.FieldDeleted] == true {
			ops = append(ops, indexer.Op{Kind: indexer.Delete, Index: index, ID: ref.ID, SeqNo: docs[i].SeqNo, PrimaryTerm: docs[i].PrimaryTerm})
		}
	}
	results := make([]indexer.Result, len(ops))
	if err := e.Bulk(ctx, ops, results); err != nil {
		return 0, err
	}
	for i := range results {
		if results[i].Status == http.StatusOK { // otherwise it was written since
			n++
		}
	}
	return n, nil
}
