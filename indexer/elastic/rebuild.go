package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/indexer"
	"brine/search"
)

var _ indexer.Rebuilder = (*Engine)(nil)

var numbered = regexp.MustCompile(`^-(\d{6})$`)

// freeName returns the first free name, by number, for a new index behind name. For an index that is built beside another the number is at
// least 2, because a part of the other one may still need the first.
func (e *Engine) freeName(ctx context.Context, name string) (string, error) {
	name, rebuilt := indexer.StandsFor(name)
	var all map[string]json.RawMessage
	if err := e.json(ctx, "GET", "/"+name+"-*/_alias", nil, &all); err != nil {
		return "", err
	}
	last := 0
	if rebuilt {
		last = 1
	}
	for has := range all {
		if m := numbered.FindStringSubmatch(strings.TrimPrefix(has, name)); m != nil {
			n, _ := strconv.Atoi(m[1]) // six digits
			last = max(last, n)
		}
	}
	return fmt.Sprintf("%s-%06d", name, last+1), nil
}

// Behind implements indexer.Rebuilder.
func (e *Engine) Behind(ctx context.Context, index string) ([]string, error) {
	if err := indexer.ValidIndex(index); err != nil {
		return nil, err
	}
	var aliases map[string]json.RawMessage
	err := e.json(ctx, "GET", "/_alias/"+index, nil, &aliases)
	if absent(err) {
		return nil, fmt.Errorf("index %s: %w", index, search.ErrNoIndex)
	}
	if err != nil {
		return nil, fmt.Errorf("look up index %s: %w", index, err)
	}
	return slices.Sorted(maps.Keys(aliases)), nil
}

func absent(err error) bool {
	var refused *indexer.RequestError
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// Promote implements indexer.Rebuilder: one request moves all aliases.
func (e *Engine) Promote(ctx context.Context, index string) error {
	built, err := e.Behind(ctx, indexer.Beside(index))
	if err != nil {
		return err
	}
	former, err := e.Behind(ctx, index)
	if err != nil {
		return err
	}
	if err := e.canTakePlace(ctx, index); err != nil {
		return err
	}
	var actions []object
	for _, name := range former {
		for _, alias := range aliasesOf(index, name) {
			actions = append(actions, object{"remove": object{"index": name, "alias": alias}})
		}
	}
	for _, name := range built {
		if err := e.surpass(ctx, name, former); err != nil {
			return err
		}
		for _, alias := range aliasesOf(index, name) {
			old := indexer.Beside(index) + strings.TrimPrefix(alias, index)
			add := object{"index": name, "alias": alias}
			if alias+"-" == strings.TrimRight(name, "0123456789") { // not the alias of all parts
				add["is_write_index"] = true
			}
			actions = append(actions, object{"remove": object{"index": name, "alias": old}}, object{"add": add})
		}
	}
	if err := e.json(ctx, "POST", "/_aliases", object{"actions": actions}, nil); err != nil {
		return fmt.Errorf("give %s to %s: %w", index, strings.Join(built, ", "), err)
	}
	e.forget(index)
	e.forget(indexer.Beside(index))
	return nil
}

// canTakePlace returns an error if what was built beside an index has another routing.
func (e *Engine) canTakePlace(ctx context.Context, index string) error {
	live, err := e.Mapping(ctx, index)
	if err != nil {
		return err
	}
	built, err := e.Mapping(ctx, indexer.Beside(index))
	if err != nil {
		return err
	}
	return built.CanTakePlaceOf(live)
}

// aliasesOf returns the aliases of the index name: that of the index and, for a part, its own.
func aliasesOf(index, name string) []string {
	if everyOf(index, name) == "" {
		return []string{index}
	}
	return []string{index, name[:len(name)-len("-000001")]}
}

// Discard implements indexer.Rebuilder.
func (e *Engine) Discard(ctx context.Context, index string) error {
	names, err := e.Behind(ctx, indexer.Beside(index))
	if errors.Is(err, search.ErrNoIndex) {
		return nil
	}
	e.forget(indexer.Beside(index))
	return errors.Join(err, e.delete(ctx, names))
}

// Drop implements indexer.Rebuilder.
func (e *Engine) Drop(ctx context.Context, names []string) error {
	for _, name := range names {
		var has map[string]struct {
			Aliases map[string]json.RawMessage `json:"aliases"`
		}
		if err := e.json(ctx, "GET", "/"+name+"/_alias", nil, &has); absent(err) {
			continue
		} else if err != nil {
			return err
		}
		if in := slices.Sorted(maps.Keys(has[name].Aliases)); len(in) > 0 {
			return fmt.Errorf("index %s is in use, as %s: it is not dropped", name, strings.Join(in, ", "))
		}
		if err := e.delete(ctx, []string{name}); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) delete(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := e.json(ctx, "DELETE", "/"+name, nil, nil); err != nil && !absent(err) {
			return fmt.Errorf("drop index %s: %w", name, err)
		}
	}
	return nil
}

// Room implements indexer.Rebuilder.
func (e *Engine) Room(ctx context.Context, index string) (indexer.Room, error) {
	var size struct {
		All struct {
			Total struct {
				Store struct {
					Bytes int64 `json:"size_in_bytes"`
				} `json:"store"`
			} `json:"total"`
		} `json:"_all"`
	}
	if err := e.json(ctx, "GET", "/"+index+"/_stats/store", nil, &size); err != nil {
		return indexer.Room{}, fmt.Errorf("size of index %s: %w", index, err)
	}
	var nodes struct {
		Nodes map[string]struct {
			FS struct {
				Total struct {
					Available int64 `json:"available_in_bytes"`
				} `json:"total"`
			} `json:"fs"`
		} `json:"nodes"`
	}
	room := indexer.Room{Index: size.All.Total.Store.Bytes, Free: -1}
	if err := e.json(ctx, "GET", "/_nodes/stats/fs", nil, &nodes); err != nil || len(nodes.Nodes) == 0 {
		return room, nil //nolint:nilerr // reindexing works without permission to list the nodes
	}
	room.Free = 0
	for _, n := range nodes.Nodes {
		room.Free += n.FS.Total.Available
	}
	return room, nil
}
