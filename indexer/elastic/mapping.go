package elastic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"brine/indexer"
	"brine/search"
)

type object = map[string]any

// EnsureIndex implements indexer.Engine. It creates the index <name>-000001 with the alias <name>, through which everything is read and
// written, so that another index can take its place.
func (e *Engine) EnsureIndex(ctx context.Context, m indexer.Mapping) error {
	have, err := e.Mapping(ctx, m.Index)
	if errors.Is(err, search.ErrNoIndex) {
		failed := e.create(ctx, m)
		have, err = e.Mapping(ctx, m.Index)
		if failed != nil && err != nil { // otherwise another process has created it meanwhile
			return fmt.Errorf("create index %s: %w", m.Index, failed)
		}
	}
	if err != nil {
		return err
	}
	missing, err := m.Missing(have)
	if err != nil || len(missing) == 0 {
		return err
	}
	more := object{"properties": e.properties(missing)}
	addRouting(more, have.Routing)
	if err := e.json(ctx, "PUT", "/"+m.Index+"/_mapping", more, nil); err != nil {
		return fmt.Errorf("add fields to index %s: %w", m.Index, err)
	}
	e.forget(m.Index)
	return nil
}

func (e *Engine) create(ctx context.Context, m indexer.Mapping) error {
	if m.Every != "" {
		return e.EnsurePart(ctx, m, m.Every.Part(m.Index, time.Now().UnixMilli()))
	}
	return e.createIndex(ctx, m, m.Index, object{m.Index: object{"is_write_index": true}})
}

// createIndex creates the index <name>-000001, or with the next free number, with the mapping and aliases.
func (e *Engine) createIndex(ctx context.Context, m indexer.Mapping, name string, aliases object) error {
	free, err := e.freeName(ctx, name)
	if err != nil {
		return err
	}
	properties := e.properties(m.Fields)
	properties[indexer.FieldRow] = object{"type": "keyword", "index": false}
	properties[indexer.FieldVersion] = object{"type": "long", "index": false}
	properties[indexer.FieldVersions] = object{"type": "object", "enabled": false}
	properties[indexer.FieldKey] = object{"type": "keyword", "index": false, "doc_values": false}
	mapping := object{"dynamic": "strict", "properties": properties}
	addRouting(mapping, m.Routing)
	err = e.json(ctx, "PUT", "/"+free, object{
		"settings": object{
			"number_of_shards":   e.opts.Shards,
			"number_of_replicas": e.opts.Replicas,
			"refresh_interval":   e.refreshInterval(),
		},
		"mappings": mapping,
		"aliases":  aliases,
	}, nil)
	if err == nil {
		err = e.surpassLive(ctx, name, free)
	}
	return err
}

func (e *Engine) properties(fields []indexer.Field) object {
	p := object{}
	for _, f := range fields {
		switch f.Type {
		case indexer.Text:
			p[f.Name] = object{"type": "text", "analyzer": cmp.Or(f.Analyzer, e.opts.Analyzer)}
		case indexer.Date:
			p[f.Name] = object{"type": "date", "format": "epoch_millis"}
		default:
			p[f.Name] = object{"type": string(f.Type)}
		}
	}
	return p
}

// Mapping implements indexer.Engine.
func (e *Engine) Mapping(ctx context.Context, index string) (indexer.Mapping, error) {
	m := indexer.Mapping{Index: index}
	if err := indexer.ValidIndex(index); err != nil {
		return m, err
	}
	var aliases map[string]any
	err := e.json(ctx, "GET", "/_alias/"+url.PathEscape(index), nil, &aliases)
	var refused *indexer.RequestError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		if e.json(ctx, "GET", "/"+index, nil, nil) == nil {
			return m, fmt.Errorf("%s is an index, not an alias of one: brine writes through an alias, so that an index can be rebuilt beside it; "+
				"reindex it under another name and give that the alias", index)
		}
		return m, fmt.Errorf("index %s: %w", index, search.ErrNoIndex)
	}
	if err != nil {
		return m, fmt.Errorf("look up index %s: %w", index, err)
	}
	answer, err := e.mappings(ctx, index)
	if err != nil {
		return m, err
	}
	for _, one := range answer {
		m.Routing = one.Mappings.Meta.Brine.Routing
	}
	for _, one := range answer {
		if !m.Routing.Same(one.Mappings.Meta.Brine.Routing) { // parts were created by hand: search all shards
			m.Routing = nil
		}
	}
	m.Fields, m.Uneven = fieldsOf(answer)
	whole, _ := indexer.StandsFor(index)
	for _, name := range slices.Sorted(maps.Keys(aliases)) {
		m.Every = everyOf(whole, name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[index] = m
	return m, nil
}

// fieldsOf returns the fields of the indexes, and the forms of those that differ between them.
func fieldsOf(all map[string]mapped) (fields []indexer.Field, uneven []indexer.Uneven) {
	union := map[string]indexer.Field{}
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		for field := range all[name].Mappings.Properties {
			if _, ok := union[field]; !ok && !strings.HasPrefix(field, "_") {
				union[field] = all[name].field(field)
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(union)) {
		fields = append(fields, union[field])
		var forms []indexer.Uneven
		alike := true
		for _, name := range names {
			is := all[name].field(field)
			forms = append(forms, indexer.Uneven{Field: is, In: name})
			alike = alike && is == union[field]
		}
		if !alike {
			uneven = append(uneven, forms...)
		}
	}
	return fields, uneven
}

// mapped is what a server reports of one index behind a name.
type mapped struct {
	Mappings struct {
		Meta       meta `json:"_meta"`
		Properties map[string]struct {
			Type     string `json:"type"`
			Analyzer string `json:"analyzer"`
		} `json:"properties"`
	} `json:"mappings"`
}

// field returns a mapped field; its Type is empty if the index has no such field. Servers omit defaults.
func (m mapped) field(name string) indexer.Field {
	p, ok := m.Mappings.Properties[name]
	switch f := (indexer.Field{Name: name, Type: indexer.Type(p.Type)}); {
	case !ok:
		return f
	case f.Type == "":
		f.Type = "object"
		return f
	case f.Type == indexer.Text:
		f.Analyzer = cmp.Or(p.Analyzer, standard)
		return f
	default:
		return f
	}
}

// mappings returns the mappings of all indexes behind a name, keyed by their own names.
func (e *Engine) mappings(ctx context.Context, index string) (all map[string]mapped, err error) {
	if err := e.json(ctx, "GET", "/"+index+"/_mapping", nil, &all); err != nil {
		return nil, fmt.Errorf("read the mapping of index %s: %w", index, err)
	}
	return all, nil
}

func (e *Engine) forget(index string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.known, index)
	e.forgetRouters(index)
}

// Refresh implements indexer.Engine.
func (e *Engine) Refresh(ctx context.Context, index string) error {
	if err := indexer.ValidIndex(index); err != nil {
		return err
	}
	return e.json(ctx, "POST", "/"+index+"/_refresh", nil, nil)
}
