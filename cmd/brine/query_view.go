package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"brine/config"
	"brine/indexer"
	"brine/query"
	"brine/search"
	"brine/tracing"
)

// runView asks a view of the configuration.
func (c *queryCmd) runView(e *env, cfg *config.Config, declared *config.View) error {
	view, err := declared.Query(cfg)
	if err != nil {
		return err
	}
	ask, err := c.request()
	if err != nil {
		return usage(err)
	}
	byIndex, err := view.ByIndex(ask)
	if err != nil {
		return usage(err)
	}
	cluster, err := openHBase(e.ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	var docs search.Searcher
	if byIndex || c.Count && view.Table.Index != nil {
		var engine indexer.Engine
		if engine, err = openSearch(cfg); err != nil {
			return err
		}
		defer func() { _ = engine.Close() }() // only read from
		docs = asked{tracing.Searcher(engine)}
	}
	reader, err := query.Open(view, cluster.client, docs)
	if err != nil {
		return err
	}
	if c.Count {
		return c.missing(c.tally(e.ctx, e.stdout, reader, ask))
	}
	return c.missing(c.rows(e, cfg, declared, reader, ask))
}

// request is what the command line asks of a view.
func (c *queryCmd) request() (query.Request, error) {
	ask := query.Request{Args: c.Where, After: query.Cursor(c.After), Deleted: c.Deleted, Whole: c.Whole}
	switch {
	case len(c.Families) > 0:
		return ask, errors.New("--families: the view says which are read; --whole reads all")
	case c.Get != "":
		return ask, errors.New("--get: the view says whose rows are shown")
	case c.Limit != nil && *c.Limit == 0:
		return ask, fmt.Errorf("--limit: a view answers in pages of 1 to %d rows; go on with --after", query.MaxPage)
	case c.Limit != nil:
		ask.Limit = *c.Limit
	}
	return ask, nil
}

// rows prints a page.
func (c *queryCmd) rows(e *env, cfg *config.Config, declared *config.View, reader *query.Reader, ask query.Request) error {
	a, err := reader.Ask(e.ctx, ask)
	if err != nil {
		return err
	}
	out := rowPrinter{out: e.stdout, json: c.JSON, keys: c.Hex, fields: c.Fields, counts: cfg.Versions(declared.Shown(cfg)),
		more: func() search.Cursor { return search.Cursor(a.Next()) }}
	if err := out.print(a.Rows); err != nil {
		return err
	}
	if c.Cost && !a.ByIndex {
		printCost(e.stderr, a.Cost, declared.Get != "")
	}
	return nil
}

// tally prints how many rows there are, and how many with each value.
func (c *queryCmd) tally(ctx context.Context, out io.Writer, reader *query.Reader, ask query.Request) error {
	t, err := reader.Count(ctx, ask)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out).Encode(tallyJSON(t))
	}
	fmt.Fprintf(out, "%s rows\n", thousands(t.Rows))
	w := columns{out: out}
	for _, v := range t.Values {
		for _, n := range v.Counts {
			w.row([]string{v.Field, fmt.Sprint(n.Value), thousands(n.N)})
		}
	}
	w.flush()
	return nil
}

func tallyJSON(t query.Tally) map[string]any {
	o := map[string]any{"rows": t.Rows}
	for _, v := range t.Values {
		list := make([]map[string]any, len(v.Counts))
		for i, n := range v.Counts {
			list[i] = map[string]any{"value": n.Value, "rows": n.N}
		}
		o[v.Field] = list
	}
	return o
}

// missing says what would make a table that is not there.
func (c *queryCmd) missing(err error) error {
	if fault, ok := errors.AsType[*query.Fault](err); ok {
		return usage(fault)
	}
	return c.noTable(err)
}

// listViews prints the views with what they are asked by.
func (c *queryCmd) listViews(out io.Writer, cfg *config.Config) error {
	if c.JSON {
		enc := json.NewEncoder(out)
		for _, v := range cfg.Views {
			if err := enc.Encode(viewJSON(v)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(cfg.Views) == 0 {
		fmt.Fprintln(out, "no views; declare some: docs/queries.md")
		return nil
	}
	w := columns{out: out}
	w.row([]string{"VIEW", "ARGUMENTS", "ROWS OF", "ORDER", "PAGE"})
	for _, v := range cfg.Views {
		w.row([]string{v.Name, v.Usage(), v.Shown(cfg).Name, cmp.Or(v.Order, "-"), fmt.Sprint(v.Limit)})
	}
	w.flush()
	return nil
}

func viewJSON(v *config.View) map[string]any {
	o := map[string]any{"view": v.Name, "table": v.Table, "where": v.Where, "limit": v.Limit}
	for name, list := range map[string][]string{"optional": v.Optional, "families": v.Families, "counts": v.Counts} {
		if len(list) > 0 {
			o[name] = list
		}
	}
	for name, text := range map[string]string{"order": v.Order, "get": v.Get} {
		if text != "" {
			o[name] = text
		}
	}
	return o
}
