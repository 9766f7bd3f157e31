package elastic

import (
	"context"
	"fmt"
	"net/http"

	"brine/indexer"
)

const purgePage = 1000 // documents per call

// Purge implements indexer.Engine. It finds the oldest deleted documents by their versions and removes them on the condition that they are
// unchanged, so that one that is written meanwhile stays.
func (e *Engine) Purge(ctx context.Context, index string, before int64) (purged int, err error) {
	if err := indexer.ValidIndex(index); err != nil {
		return 0, err
	}
	for {
		if err := e.Refresh(ctx, index); err != nil {
			return purged, err
		}
		ops, err := e.oldestDeleted(ctx, index, before)
		if err != nil || len(ops) == 0 {
			return purged, err
		}
		results := make([]indexer.Result, len(ops))
		if err := e.Bulk(ctx, ops, results); err != nil {
			return purged, err
		}
		n := 0
		for i := range results {
			switch results[i].Status {
			case http.StatusOK:
				n++
			case http.StatusConflict, http.StatusNotFound: // written or removed since
			default:
				return purged + n, fmt.Errorf("index %s: remove document %s: %w", index, ops[i].ID,
					&indexer.RequestError{Status: results[i].Status, Kind: results[i].Kind, Reason: results[i].Reason})
			}
		}
		if purged += n; n == 0 || len(ops) < purgePage {
			return purged, nil
		}
	}
}

// oldestDeleted returns operations that remove the oldest deleted documents.
func (e *Engine) oldestDeleted(ctx context.Context, index string, before int64) (ops []indexer.Op, err error) {
	var a struct {
		answer
		Hits struct {
			Hits []struct {
				Index       string  `json:"_index"`
				ID          string  `json:"_id"`
				SeqNo       int64   `json:"_seq_no"`
				PrimaryTerm int64   `json:"_primary_term"`
				Sort        []int64 `json:"sort"`
			} `json:"hits"`
		} `json:"hits"`
	}
	request := object{"size": purgePage, "_source": false, "seq_no_primary_term": true, "track_total_hits": false,
		"query": object{"bool": object{"filter": []object{{"term": object{indexer.FieldDeleted: true}}}}},
		"sort":  []object{{indexer.FieldVersion: object{"order": "asc"}}}}
	if err := e.json(ctx, "POST", "/"+index+"/_search", request, &a); err != nil {
		return nil, err
	}
	if a.TimedOut || a.Shards.Failed > 0 {
		return nil, fmt.Errorf("index %s: %d of its shards did not answer", index, a.Shards.Failed)
	}
	for _, h := range a.Hits.Hits {
		if len(h.Sort) == 1 && h.Sort[0] < before {
			ops = append(ops, indexer.Op{Kind: indexer.Delete, Index: h.Index, ID: []byte(h.ID), SeqNo: h.SeqNo, PrimaryTerm: h.PrimaryTerm})
		}
	}
	return ops, nil
}
