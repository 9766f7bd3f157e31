package elastic

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"brine/indexer"
	"brine/search"
)

// The routing of documents is the index's own affair: its mapping says so (addRouting), and requires one (_routing), so that a write,
// get or delete without is refused and never lands on a wrong shard. So no writer has to know beforehand: one that is refused reads the
// mapping and asks again.

// routingMissing is the kind of a refusal for want of a routing.
const routingMissing = "routing_missing_exception"

// meta is what brine keeps in a mapping.
type meta struct {
	Brine struct {
		Routing *indexer.Routing `json:"routing,omitempty"`
	} `json:"brine"`
}

// addRouting adds to a mapping what makes the index require a routing, and say which.
func addRouting(mapping object, r *indexer.Routing) {
	if r == nil {
		return
	}
	var m meta
	m.Brine.Routing = r
	mapping["_meta"], mapping["_routing"] = m, object{"required": true}
}

// routers are those of indexes that have refused documents without a routing, by the names under which they were asked. The map is never
// changed.
type routers map[string]*indexer.Router

// of is the routing of a document; empty when none is known, which the server refuses where there must be one.
func (r routers) of(index string, id []byte) string {
	router := r[index]
	if router == nil {
		return ""
	}
	routing, err := router.Of(id)
	if err != nil {
		return ""
	}
	return routing
}

func (e *Engine) knownRouters() routers {
	if r := e.routers.Load(); r != nil {
		return *r
	}
	return nil
}

func (e *Engine) setRouter(index string, router *indexer.Router) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := routers{index: router}
	maps.Copy(all, e.knownRouters())
	e.routers.Store(&all)
}

// forgetRouters forgets those of an index and its parts; mu is held.
func (e *Engine) forgetRouters(index string) {
	all := maps.Clone(e.knownRouters())
	maps.DeleteFunc(all, func(name string, _ *indexer.Router) bool { return name == index || strings.HasPrefix(name, index+"-") })
	e.routers.Store(&all)
}

// learnRouter reads the routing of an index that requires one.
func (e *Engine) learnRouter(ctx context.Context, index string) error {
	answer, err := e.mappings(ctx, index)
	if err != nil {
		return err
	}
	for _, one := range answer {
		routing := one.Mappings.Meta.Brine.Routing
		if routing == nil {
			continue // it is routed by another than brine: its refusals stand
		}
		router, err := routing.Router()
		if err != nil {
			return fmt.Errorf("index %s: %w", index, err)
		}
		e.setRouter(index, router)
	}
	return nil
}

// learnRouters learns those that were not known when the server was asked, and returns the places of what can be asked again.
func (e *Engine) learnRouters(ctx context.Context, known routers, refused []int, index func(int) string) (again []int, err error) {
	asked := map[string]bool{}
	for _, i := range refused {
		name := index(i)
		if known[name] != nil {
			continue // it was asked with a routing, had there been one in the id
		}
		if e.knownRouters()[name] == nil && !asked[name] {
			asked[name] = true
			if err := e.learnRouter(ctx, name); err != nil {
				return nil, err
			}
		}
		if e.knownRouters()[name] != nil {
			again = append(again, i)
		}
	}
	return again, nil
}

// askAgain asks once more for some of what was asked, and puts the answers in the places of the former ones.
func askAgain[Q, A any](places []int, asked []Q, answers []A, ask func([]Q, []A) error) error {
	if len(places) == 0 {
		return nil
	}
	some, got := make([]Q, len(places)), make([]A, len(places))
	for k, i := range places {
		some[k] = asked[i]
	}
	if err := ask(some, got); err != nil {
		return err
	}
	for k, i := range places {
		answers[i] = got[k]
	}
	return nil
}

// routeBulk sends those operations again that were refused because the routing of their index was not known.
func (e *Engine) routeBulk(ctx context.Context, known routers, ops []indexer.Op, results []indexer.Result) error {
	var refused []int
	for i := range results {
		switch {
		case results[i].Kind == routingMissing:
			refused = append(refused, i)
		case results[i].Status == http.StatusNotFound && results[i].Reason != "" && e.knownRouters()[ops[i].Index] != nil:
			e.forget(ops[i].Index) // it is gone; what is made under its name may have another
		}
	}
	if len(refused) == 0 {
		return nil
	}
	again, err := e.learnRouters(ctx, known, refused, func(i int) string { return ops[i].Index })
	if err != nil {
		return err
	}
	err = askAgain(again, ops, results, func(some []indexer.Op, outcomes []indexer.Result) error {
		return e.bulk(ctx, e.knownRouters(), some, outcomes)
	})
	if err != nil {
		return err
	}
	e.blame(ops, results)
	return nil
}

// blame says whose fault it is that an operation has no routing.
func (e *Engine) blame(ops []indexer.Op, results []indexer.Result) {
	for i := range results {
		if results[i].Kind != routingMissing {
			continue
		}
		router := e.knownRouters()[ops[i].Index]
		if router == nil {
			results[i].Kind = "index_" + routingMissing
			results[i].Reason += ": it was made by another than brine; brine reindex rebuilds it"
			continue
		}
		results[i].Kind = "document_" + routingMissing
		if _, err := router.Of(ops[i].ID); err != nil {
			results[i].Reason += ": " + err.Error()
		}
	}
}

// maxRouting is how long a list of routings may be: servers take a line of 4 KiB.
const maxRouting = 2 << 10

// shards is the parameter by which a search asks only the shards that can hold what it is for; empty: all.
func shards(m *indexer.Mapping, q *search.Query) string {
	if m.Routing == nil {
		return ""
	}
	var least []string
	for _, list := range [][]search.Clause{q.Must, q.Filter} {
		for _, c := range list {
			var values []string
			switch c := c.(type) {
			case search.Term:
				values = []string{indexer.RoutingOf(c.Value)}
			case search.Terms:
				for _, v := range c.Values {
					values = append(values, indexer.RoutingOf(v))
				}
			}
			if values != nil && search.FieldOf(c) == m.Routing.Field && (least == nil || len(values) < len(least)) {
				least = values
			}
		}
	}
	if text := url.QueryEscape(strings.Join(least, ",")); text != "" && len(text) <= maxRouting {
		return "?routing=" + text
	}
	return ""
}
