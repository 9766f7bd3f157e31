package main

import (
	"errors"
	"fmt"
	"io"

	"brine/config"
	"brine/hbase"
	"brine/indexer"
	"brine/query"
)

type queryCmd struct {
	configFlag
	timeoutFlag
	Table    string   `arg:"" optional:"" help:"View or table of the configuration."`
	Where    []string `arg:"" optional:"" name:"field=value" help:"Conditions: field=value, field=from..to, field==value where a value holds \"..\", and where the index is asked also field=a,b and text=words."`
	Limit    *int     `help:"Most rows (default: 100, or the view's page); 0 for all of a table."`
	After    string   `placeholder:"TOKEN" help:"Go on where an answer ended, with the same conditions."`
	Deleted  bool     `help:"Also rows that are marked deleted."`
	Fields   []string `placeholder:"FIELD,…" help:"Show only these fields."`
	Families []string `placeholder:"FAMILY,…" help:"Read only these families; a row that has nothing in them is not found."`
	Get      string   `placeholder:"TABLE" help:"Show the rows of another table instead, found by the fields of these: one batched get."`
	Whole    bool     `help:"Read all families, though the view reads some."`
	Count    bool     `help:"Say how many rows answer a view's question, and how many with each value of the fields that it counts."`
	Views    bool     `help:"List the views of the configuration with what they are asked by."`
	JSON     bool     `help:"Print a JSON object per row."`
	Hex      bool     `help:"Show row keys too."`
	Cost     bool     `help:"Say on stderr how many rows the servers read, in how many calls, when the key answers."`
}

// Help is shown under the command's own help.
func (queryCmd) Help() string {
	return `A view is a question that the configuration declares: --views lists them with their arguments.

Of a table anything may be asked. Conditions on a left-most set of the key's fields are answered by HBase alone, in the order of the key, which for a
timeline is the newest first; the last field may have a range. Any others are answered by the index of the table's
documents, the newest first, and the rows are read from HBase by the keys that it finds. A row that the index shows
otherwise than HBase, because one of them is still behind, is marked.

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
		return c.listViews(e.stdout, cfg)
	}
	return e.traced(cfg, "query", func(e *env) error {
		if v := cfg.View(c.Table); v != nil {
			return c.runView(e, cfg, v)
		}
		return c.runTable(e, cfg)
	})
}

// defaultLimit is the number of rows of a table that are shown unless the command says how many.
const defaultLimit = 100

// runTable asks a table what the command line says.
func (c *queryCmd) runTable(e *env, cfg *config.Config) error {
	t, err := c.table(cfg)
	if err != nil {
		return err
	}
	limit := defaultLimit
	if c.Limit != nil {
		limit = *c.Limit
	}
	ask, err := newQuestion(cfg, t, c.Where)
	if err != nil {
		return usage(err)
	}
	if err := c.refine(ask, cfg); err != nil {
		return usage(err)
	}
	ask.limit, ask.deleted, ask.after = limit, c.Deleted, c.After
	cluster, err := openHBase(e.ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	var engine indexer.Engine
	if !ask.byKey() {
		if engine, err = openSearch(cfg); err != nil {
			return err
		}
		defer func() { _ = engine.Close() }() // only read from
	}
	out := rowPrinter{out: e.stdout, json: c.JSON, keys: c.Hex, fields: c.Fields, limit: limit, counts: cfg.Versions(t)}
	if ask.get != nil {
		out.more = ask.more
	}
	err = out.print(ask.rows(e.ctx, cluster.client, engine))
	if err == nil && c.Cost && ask.byKey() {
		printCost(e.stderr, ask.cost, ask.get != nil)
	}
	return c.noTable(err)
}

// table is the one that is asked; it says so where a view was meant.
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

// noTable says what would make a table that is missing.
func (c *queryCmd) noTable(err error) error {
	if errors.Is(err, hbase.ErrNoTable) {
		return &exitError{exitMissing, err, "create it: brine tables apply -c " + c.Config}
	}
	return err
}

// printCost says what an answer of the key has cost.
func printCost(out io.Writer, cost query.Cost, gets bool) {
	fmt.Fprintf(out, "rows %d, read by the servers %d, calls %d, scanners %d", cost.Rows, cost.Read, cost.Calls, cost.Scanners)
	if gets { // one for each row, of the other table
		fmt.Fprintf(out, ", gets %d", cost.Rows)
	}
	fmt.Fprintln(out)
}

// refine takes what only the key's answers know.
func (c *queryCmd) refine(ask *question, cfg *config.Config) (err error) {
	switch {
	case ask.byKey():
	case len(c.Families) > 0:
		return errors.New("--families: the index answers these conditions, and compares whole rows with its documents")
	case c.Get != "":
		return errors.New("--get: the index answers these conditions, with rows of its own table")
	}
	shown := &ask.table
	if c.Get != "" {
		if ask.get, err = ask.lookup(cfg, c.Get); err != nil {
			return fmt.Errorf("--get: %w", err)
		}
		shown = ask.get
	}
	if len(c.Families) > 0 {
		if *shown, err = shown.Families(c.Families); err != nil {
			return fmt.Errorf("--families: %w", err)
		}
	}
	if ask.byKey() && c.After != "" {
		if err := ask.table.CheckToken(ask.where, query.Token(c.After)); err != nil {
			return fmt.Errorf("--after: %w", err)
		}
	}
	return nil
}
