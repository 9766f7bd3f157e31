package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"brine/indexer"
	"brine/search"
)

var _ indexer.Partitioned = (*Engine)(nil)

// EnsurePart implements indexer.Partitioned. The part scans-2026.11 of scans is the index scans-2026.11-000001 with both names as aliases:
// it is written through the first, and read together with all others through the second.
func (e *Engine) EnsurePart(ctx context.Context, m indexer.Mapping, part string) error {
	for _, name := range []string{m.Index, part} {
		if err := indexer.ValidIndex(name); err != nil {
			return err
		}
	}
	switch have, err := e.Mapping(ctx, m.Index); {
	case err == nil:
		m.Routing = have.Routing // a search with a routing uses it for all parts
	case !errors.Is(err, search.ErrNoIndex):
		return err
	}
	failed := e.createIndex(ctx, m, part, object{part: object{"is_write_index": true}, m.Index: object{}})
	if failed == nil {
		return nil
	}
	_, err := e.Mapping(ctx, part)
	if errors.Is(err, search.ErrNoIndex) { // otherwise another process has created it meanwhile
		return failed
	}
	return err
}

// Expire implements indexer.Partitioned. It blocks writes to an index before it checks it for the last time, so that no accepted document
// is dropped: one that is refused meanwhile is written to a new part.
func (e *Engine) Expire(ctx context.Context, index string, before int64) (dropped []string, err error) {
	if err := indexer.ValidIndex(index); err != nil {
		return nil, err
	}
	var aliases map[string]json.RawMessage
	err = e.json(ctx, "GET", "/_alias/"+index, nil, &aliases)
	var refused *indexer.RequestError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil, nil // there is none yet
	}
	if err != nil {
		return nil, fmt.Errorf("look up the parts of index %s: %w", index, err)
	}
	var errs []error
	for name := range aliases {
		if everyOf(index, name) == "" {
			continue // brine did not create it
		}
		gone, err := e.expirePart(ctx, name, before)
		if err != nil {
			errs = append(errs, fmt.Errorf("drop %s, whose rows have expired: %w", name, err))
		} else if gone {
			dropped = append(dropped, name)
		}
	}
	slices.Sort(dropped)
	return dropped, errors.Join(errs...)
}

var partName = regexp.MustCompile(`^-\d{4}(\.\d\d)?(\.\d\d)?-\d{6}$`)

// everyOf returns the span of the part that the index name is, or "" if it is not a part of index.
func everyOf(index, name string) indexer.Every {
	rest, ok := strings.CutPrefix(name, index)
	parts := partName.FindStringSubmatch(rest)
	switch {
	case !ok || parts == nil:
		return ""
	case parts[2] != "":
		return indexer.Day
	case parts[1] != "":
		return indexer.Month
	default:
		return indexer.Year
	}
}

// expirePart drops one part if it has expired.
func (e *Engine) expirePart(ctx context.Context, name string, before int64) (gone bool, err error) {
	if over, err := e.over(ctx, name, before); err != nil || !over {
		return false, err
	}
	if err := e.block(ctx, name, true); err != nil {
		return false, err
	}
	over, err := e.over(ctx, name, before)
	if err == nil && over {
		err = e.json(ctx, "DELETE", "/"+name, nil, nil)
	}
	if err != nil || !over {
		return false, errors.Join(err, e.block(ctx, name, false))
	}
	return true, nil
}

// over reports whether the newest document of an index is older than before. An empty index has not expired: it may be new.
func (e *Engine) over(ctx context.Context, name string, before int64) (bool, error) {
	if err := e.Refresh(ctx, name); err != nil {
		return false, err
	}
	var a struct {
		Shards struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
		Aggregations struct {
			Newest struct {
				Value *float64 `json:"value"`
			} `json:"newest"`
		} `json:"aggregations"`
	}
	request := object{"size": 0, "aggs": object{"newest": object{"max": object{"field": indexer.FieldVersion}}}}
	if err := e.json(ctx, "POST", "/"+name+"/_search", request, &a); err != nil {
		return false, err
	}
	newest := a.Aggregations.Newest.Value
	return a.Shards.Failed == 0 && newest != nil && int64(*newest) < before, nil
}

func (e *Engine) block(ctx context.Context, name string, on bool) error {
	var value any // null resets the setting
	if on {
		value = true
	}
	return e.json(ctx, "PUT", "/"+name+"/_settings", object{"index.blocks.write": value}, nil)
}
