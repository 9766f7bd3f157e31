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

// The index itself holds the routing of its documents: its mapping describes it (addRouting), and requires one (_routing), so that a write,
// get or delete without a routing is refused and never reaches a wrong shard. So a writer need not know it in advance: if it is refused, it
// reads the mapping and tries again.

// routingMissing is the kind of a refusal because the routing is missing.
const routingMissing = "routing_missing_exception"

// meta is what brine stores in a mapping.
type meta struct {
	Brine struct {
		Routing *indexer.Routing `json:"routing,omitempty"`
	} `json:"brine"`
}

// addRouting makes a mapping require a routing, and describe it.
func addRouting(mapping object, r *indexer.Routing) {
	if r == nil {
		return
	}
	var m meta
	m.Brine.Routing = r
	mapping["_meta"], mapping["_routing"] = m, object{"required": true}
}

// routers holds the routers of indexes that have refused documents without a routing, by the names under which they were addressed. The map
// is never changed.
type routers map[string]*indexer.Router

// of returns the routing of a document. It returns "" if none is known, which the server refuses if it requires one.
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

// forgetRouters drops the routers of an index and its parts. The caller holds mu.
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
			continue // brine did not set its routing: its refusals stand
		}
		router, err := routing.Router()
		if err != nil {
			return fmt.Errorf("index %s: %w", index, err)
		}
		e.setRouter(index, router)
	}
	return nil
}

// learnRouters learns the routers that were not known at the time of the request, and returns the indexes of what can be retried.
func (e *Engine) learnRouters(ctx context.Context, known routers, refused []int, index func(int) string) (again []int, err error) {
	asked := map[string]bool{}
	for _, i := range refused {
		name := index(i)
		if known[name] != nil {
			continue // the request had a routing if the id contains one
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

// askAgain repeats the requests at places, and replaces their answers.
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

// routeBulk resends the operations that were refused because the routing of their index was not known.
func (e *Engine) routeBulk(ctx context.Context, known routers, ops []indexer.Op, results []indexer.Result) error {
	var refused []int
	for i := range results {
		switch {
		case results[i].Kind == routingMissing:
			refused = append(refused, i)
		case results[i].Status == http.StatusNotFound && results[i].Reason != "" && e.knownRouters()[ops[i].Index] != nil:
			e.forget(ops[i].Index) // it no longer exists; a new index with its name may have another routing
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

// blame sets whose fault it is that an operation has no routing.
func (e *Engine) blame(ops []indexer.Op, results []indexer.Result) {
	for i := range results {
		if results[i].Kind != routingMissing {
			continue
		}
		router := e.knownRouters()[ops[i].Index]
		if router == nil {
			results[i].Kind = "index_" + routingMissing
			results[i].Reason += ": brine did not create it; brine reindex rebuilds it"
			continue
		}
		results[i].Kind = "document_" + routingMissing
		if _, err := router.Of(ops[i].ID); err != nil {
			results[i].Reason += ": " + err.Error()
		}
	}
}

// maxRouting is the maximum length of a list of routings: servers accept a line of 4 KiB.
const maxRouting = 2 << 10

// shards returns the parameter that restricts a search to the shards that can hold its results, or "" for all.
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
