package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"brine/config"
	"brine/internal/term"
	"brine/schema"
	"brine/service/stores"
)

type tablesCmd struct {
	Plan  tablesPlanCmd  `cmd:"" help:"Show what apply would do and, with --sample, how rows would be spread."`
	Apply tablesApplyCmd `cmd:"" help:"Create missing tables, split according to their keys, and alter those that differ. Never drops or truncates a table."`
}

// openStores opens the stores of a configuration, and the search engine only if documents are written. The returned close closes both.
func openStores(e *env, cfg *config.Config) (s schema.Stores, close func(), err error) {
	cluster, err := openHBase(e, cfg, cfg.HBase())
	if err != nil {
		return s, nil, err
	}
	return withSearch(cfg, cluster)
}

func withSearch(cfg *config.Config, cluster *stores.HBase) (s schema.Stores, close func(), err error) {
	s.Cluster = cluster.Client
	if !cfg.HasDocuments() {
		return s, cluster.Close, nil
	}
	if s.Search, err = stores.OpenSearch(cfg); err != nil {
		cluster.Close()
		return s, nil, err
	}
	return s, func() { closing("the search engine", s.Search); cluster.Close() }, nil
}

func printChanges(out io.Writer, c *schema.Changes) {
	printTables(out, c.Tables)
	printIndexes(out, c.Indexes)
}

func printTables(out io.Writer, steps []schema.TableStep) {
	for _, s := range steps {
		switch s.Action {
		case schema.Create:
			fmt.Fprintf(out, "%s: to be created with %s\n", s.Table, term.Count(s.Regions, "region"))
		case schema.Created:
			fmt.Fprintf(out, "%s: created with %s\n", s.Table, term.Count(s.Regions, "region"))
		case schema.Nothing:
			fmt.Fprintf(out, "%s: exists with %s, nothing to do\n", s.Table, term.Count(s.Regions, "region"))
		case schema.Alter:
			fmt.Fprintf(out, "%s: exists with %s, to be altered\n", s.Table, term.Count(s.Regions, "region"))
		case schema.Altered:
			fmt.Fprintf(out, "%s: altered\n", s.Table)
		case schema.Begun:
			fmt.Fprintf(out, "%s: started, and may still complete; brine tables plan shows what is left\n", s.Table)
		}
		if s.Regions < s.Configured {
			fmt.Fprintf(out, "  %s, %d configured: left as they are; use brine regions split\n", term.Count(s.Regions, "region"), s.Configured)
		}
		if len(s.Splits) > 0 {
			term.Wrapped(out, "  ", "split at "+strings.Join(s.Splits, " "))
		}
		if s.Action == schema.Alter {
			printDifferences(out, s.Changes)
		}
	}
}

func printDifferences(out io.Writer, all []schema.Change) {
	w := term.Table{Out: out}
	w.Row("  FAMILY", "ATTRIBUTE", "IS", "BECOMES")
	for _, c := range all {
		if c.MissingFamily() {
			w.Row("  "+c.Family, "", "missing", "added")
			continue
		}
		w.Row("  "+cmp.Or(c.Family, "(table)"), c.Attribute, c.Text(c.Is), c.Text(c.Becomes))
	}
	w.Flush()
	for _, c := range all {
		if c.Loses != "" {
			term.Wrapped(out, "  ", fmt.Sprintf("warning: family %s: %s %s → %s loses %s", c.Family, c.Attribute, c.Text(c.Is),
				c.Text(c.Becomes), c.Loses))
		}
	}
}

func printIndexes(out io.Writer, steps []schema.IndexStep) {
	words := map[schema.Action]string{"create": "to be created", "created": "created", "extend": "fields to be added",
		"extended": "fields added",
		"alter":    "to be altered", "altered": "altered", "begun": "started, and may still complete", "nothing": "exists, nothing to do"}
	for _, s := range steps {
		fmt.Fprintf(out, "index %s: %s", s.Index, words[s.Action])
		if len(s.Fields) > 0 {
			fmt.Fprintf(out, " %s", strings.Join(s.Fields, ", "))
		}
		fmt.Fprintln(out)
		for _, c := range s.Settings {
			term.Println(out, "  %s: %s → %s", c.Name, c.Is, c.Becomes)
		}
	}
}
