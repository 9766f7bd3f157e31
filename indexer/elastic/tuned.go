package elastic

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/indexer"
)

var _ indexer.Tuned = (*Engine)(nil)

// The settings that can be changed in place.
const (
	refreshSetting  = "search.refresh"
	replicasSetting = "search.replicas"
)

// refreshInterval returns Options.Refresh in the server's format.
func (e *Engine) refreshInterval() string {
	return fmt.Sprintf("%dms", e.opts.Refresh/time.Millisecond)
}

// tunable holds the settings of one index as the server reports them.
type tunable struct {
	Settings struct {
		Index struct {
			Refresh  string `json:"refresh_interval"`
			Replicas string `json:"number_of_replicas"`
			Expand   string `json:"auto_expand_replicas"`
		} `json:"index"`
	} `json:"settings"`
}

// Untuned implements indexer.Tuned.
func (e *Engine) Untuned(ctx context.Context, index string) ([]indexer.Setting, error) {
	if err := indexer.ValidIndex(index); err != nil {
		return nil, err
	}
	var all map[string]tunable
	if err := e.json(ctx, "GET", "/"+index+"/_settings", nil, &all); err != nil {
		return nil, fmt.Errorf("read the settings of index %s: %w", index, err)
	}
	refresh := indexer.Setting{Name: refreshSetting, Becomes: readable(e.refreshInterval())}
	replicas := indexer.Setting{Name: replicasSetting, Becomes: strconv.Itoa(e.opts.Replicas)}
	var refreshes, copies []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		has := all[name].Settings.Index
		if is := cmp.Or(readable(has.Refresh), "not set"); is != refresh.Becomes && !slices.Contains(refreshes, is) {
			refreshes = append(refreshes, is)
		}
		if has.Expand != "" && has.Expand != "false" {
			continue // the server sets the number by its number of nodes
		}
		if is := has.Replicas; is != replicas.Becomes && !slices.Contains(copies, is) {
			copies = append(copies, is)
		}
	}
	refresh.Is, replicas.Is = strings.Join(refreshes, ", "), strings.Join(copies, ", ")
	return slices.DeleteFunc([]indexer.Setting{refresh, replicas}, func(s indexer.Setting) bool { return s.Is == "" }), nil
}

// readable formats a time of the server, such as 1000ms, like others; other values, such as −1, stay as they are.
func readable(text string) string {
	if d, err := time.ParseDuration(text); err == nil {
		return d.String()
	}
	return text
}

// Tune implements indexer.Tuned. The name stands for all its indexes.
func (e *Engine) Tune(ctx context.Context, index string, settings []indexer.Setting) error {
	if err := indexer.ValidIndex(index); err != nil {
		return err
	}
	changes := object{}
	for _, s := range settings {
		switch s.Name {
		case refreshSetting:
			changes["refresh_interval"] = e.refreshInterval()
		case replicasSetting:
			changes["number_of_replicas"] = e.opts.Replicas
		}
	}
	if err := e.json(ctx, "PUT", "/"+index+"/_settings", object{"index": changes}, nil); err != nil {
		return fmt.Errorf("change the settings of index %s: %w", index, err)
	}
	return nil
}
