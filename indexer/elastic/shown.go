package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"brine/indexer"
	"brine/search"
)

// Shown implements indexer.Engine. It searches for the id, which only sees what is refreshed; a get would also read the log of writes.
func (e *Engine) Shown(ctx context.Context, ref indexer.Ref) (int64, error) {
	request := object{
		"query": object{"ids": object{"values": []string{string(ref.ID)}}}, "size": 1, "track_total_hits": false,
		"_source": []string{indexer.FieldVersion},
	}
	var a struct {
		TimedOut bool `json:"timed_out"`
		Shards   struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
		Hits struct {
			Hits []struct {
				Source json.RawMessage `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := e.json(ctx, "POST", "/"+ref.Index+"/_search", request, &a); err != nil {
		if refused, ok := errors.AsType[*indexer.RequestError](err); ok && refused.Status == http.StatusNotFound {
			return 0, fmt.Errorf("index %s: %w", ref.Index, search.ErrNoIndex)
		}
		return 0, fmt.Errorf("search index %s: %w", ref.Index, err)
	}
	if a.TimedOut || a.Shards.Failed > 0 {
		return 0, fmt.Errorf("search index %s: %d of its shards did not answer", ref.Index, a.Shards.Failed)
	}
	if len(a.Hits.Hits) == 0 {
		return -1, nil
	}
	return indexer.VersionOf(a.Hits.Hits[0].Source)
}
