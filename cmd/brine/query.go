package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"brine/config"
	"brine/query"
	"brine/query/display"
	"brine/search"
)

type queryCmd struct {
	configFlag
	timeoutFlag
	Table    string   `arg:"" optional:"" help:"View or table of the configuration."`
	Where    []string `arg:"" optional:"" name:"field=value" help:"Conditions: field=value or field=from..to; field==value if a value contains \"..\"; if the index answers, also field=a,b and text=words."`
	Limit    *int     `help:"Maximum number of rows (default: the view's limit, else 100); 0 for all of a table."`
	After    string   `placeholder:"TOKEN" help:"Continue after this token, printed at the end of the previous page; give the same conditions."`
	Deleted  bool     `help:"Include rows that are marked deleted."`
	Fields   []string `placeholder:"FIELD,…" help:"Show only these fields."`
	Families []string `placeholder:"FAMILY,…" help:"Read only these families; rows without cells in them are not returned."`
	Get      string   `placeholder:"TABLE" help:"Show rows of this table instead: those whose keys are built from the fields of the rows found (one batched get)."`
	Whole    bool     `help:"Read all families, even if the view reads only some."`
	Count    bool     `help:"Show only the number of matching rows, in total and for each value of the fields that the view counts."`
	Views    bool     `help:"List the configuration's views and their arguments."`
	JSON     bool     `help:"Print a JSON object per row."`
	Hex      bool     `help:"Show row keys too."`
	Cost     bool     `help:"Report on stderr how many rows the servers read, and in how many calls, unless the index answers."`
}

// Help returns the detailed help of the command.
func (queryCmd) Help() string {
	return `A view is a query that the configuration declares: --views lists them with their arguments.

A table accepts any conditions. HBase alone answers conditions on the leftmost fields of the key, in the order
of the key, which for a timeline is newest first; the last of these fields may have a range. The index of the table's documents answers
all others, newest first, and brine reads the rows from HBase by the keys that the index finds. A row that differs between the index
and HBase, because one of them is still behind, is marked.

Examples:
  brine query -c examples/scans.yaml logistics:scans waybill=UA-1545-20130101-EWR
  brine query -c examples/scans.yaml scans waybill=UA-1545-20130101-EWR at=2013-01-01..2013-01-02 --json
  brine query -c examples/orders.yaml orders user=u00042
  brine query -c examples/orders.yaml orders text=绿茶 status=shipped,received created=2025-06-01.. total=100..`
}

func (c *queryCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	if c.Views {
		return display.Views(e.stdout, cfg, c.JSON)
	}
	return e.traced(cfg, "query", func(e *env) error {
		if v := cfg.View(c.Table); v != nil {
			return c.runView(e, cfg, v)
		}
		return c.runTable(e, cfg)
	})
}

// runTable queries a table as the command line says.
func (c *queryCmd) runTable(e *env, cfg *config.Config) error {
	t, err := c.table(cfg)
	if err != nil {
		return err
	}
	table, err := readable(cfg, t)
	if err != nil {
		return usage(err)
	}
	request := query.Request{Args: c.Where, Limit: query.DefaultPage, After: query.Cursor(c.After), Deleted: c.Deleted, Families: c.Families}
	if c.Limit != nil {
		request.Limit = *c.Limit
	}
	if c.Get != "" {
		if request.Get, err = c.other(cfg); err != nil {
			return usage(fmt.Errorf("--get: %w", err))
		}
	}
	question, err := table.Question(request)
	if err != nil {
		return c.failure(err)
	}
	shown := table.Name
	if request.Get != nil {
		shown = request.Get.Name
	}
	return c.answer(e, cfg, question, shown, cfg.Versions(t))
}

// readable returns a table in the form that queries need.
func readable(cfg *config.Config, t *config.Table) (query.Table, error) {
	out, ok := cfg.Query(t)
	if !ok {
		return out, fmt.Errorf("no pipeline writes table %s, so the types of its fields are not known", t.Name)
	}
	return out, nil
}

// other returns the table of --get.
func (c *queryCmd) other(cfg *config.Config) (*query.Table, error) {
	t, err := table(cfg, c.Get)
	if err != nil {
		return nil, err
	}
	out, err := readable(cfg, t)
	return &out, err
}

// runView queries a view of the configuration.
func (c *queryCmd) runView(e *env, cfg *config.Config, declared *config.View) error {
	view, err := declared.Query(cfg)
	if err != nil {
		return err
	}
	request := query.Request{Args: c.Where, After: query.Cursor(c.After), Deleted: c.Deleted, Whole: c.Whole, Families: c.Families}
	switch {
	case c.Get != "":
		return usage(errors.New("--get: the view already sets whose rows are shown"))
	case c.Limit != nil && *c.Limit == 0:
		return usage(fmt.Errorf("--limit: a view answers in pages of 1 to %d rows; continue with --after", query.MaxPage))
	case c.Limit != nil:
		request.Limit = *c.Limit
	}
	question, err := view.Question(request)
	if err != nil {
		return c.failure(err)
	}
	if c.Count {
		return c.count(e, cfg, view, request, question.ByIndex())
	}
	shown := declared.Shown(cfg)
	return c.answer(e, cfg, question, shown.Name, cfg.Versions(shown))
}

// answer asks the stores and prints the rows of the table.
func (c *queryCmd) answer(e *env, cfg *config.Config, question *query.Question, table string, counts config.VersionKind) error {
	return c.stores(e, cfg, question.ByIndex(), func(rows query.Client, docs search.Searcher) error {
		a, err := question.Ask(e.ctx, rows, docs)
		if err != nil {
			return err
		}
		a.Rows = query.Masked(a.Rows, cfg.Mask(), table)
		if c.JSON {
			err = query.WriteJSON(e.stdout, a.Rows, c.Fields...)
		} else {
			err = (&display.Rows{Keys: c.Hex, Fields: c.Fields, Counts: counts}).Print(e.stdout, a.Rows)
		}
		if after := a.Next(); err == nil && !c.JSON && after != "" {
			fmt.Fprintf(e.stdout, "more: --after '%s'\n", after)
		}
		if err == nil && c.Cost && !a.ByIndex {
			display.Cost(e.stderr, a.Cost, question.Gets())
		}
		return err
	})
}

// count prints the number of rows of a view.
func (c *queryCmd) count(e *env, cfg *config.Config, view query.View, request query.Request, byIndex bool) error {
	return c.stores(e, cfg, byIndex || view.Table.Index != nil, func(rows query.Client, docs search.Searcher) error {
		reader, err := query.Open(view, rows, docs)
		if err != nil {
			return err
		}
		t, err := reader.Count(e.ctx, request)
		if view.Table.Index != nil {
			t = t.Masked(cfg.Mask(), view.Table.Index.Name)
		}
		switch {
		case err != nil:
			return err
		case c.JSON:
			return json.NewEncoder(e.stdout).Encode(t)
		}
		display.Tally(e.stdout, t)
		return nil
	})
}

// table returns the table to query. If the name could be a mistyped view, the error mentions views.
func (c *queryCmd) table(cfg *config.Config) (*config.Table, error) {
	if c.Table == "" {
		return nil, usage(errors.New("name a view or a table; --views lists the views"))
	}
	t, err := table(cfg, c.Table)
	switch {
	case err != nil && len(cfg.Views) > 0:
		return nil, usage(fmt.Errorf("no view %[1]q, and %[2]w; --views lists the views", c.Table, err))
	case err == nil && (c.Count || c.Whole):
		err = usage(errors.New("--count and --whole are for views; declare one: docs/queries.md"))
	}
	return t, err
}
