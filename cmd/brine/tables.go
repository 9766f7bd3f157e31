package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"brine/config"
	"brine/internal/fault"
	"brine/internal/term"
	"brine/schema"
	"brine/service/stores"
)

type tablesCmd struct {
	Plan  tablesPlanCmd  `cmd:"" help:"Show what apply would do and, with --sample, how rows would be spread."`
	Apply tablesApplyCmd `cmd:"" help:"Create missing tables, split according to their keys, and alter those that differ. Never drops or truncates a table."`
}

// planChanges compares a configuration with its stores, the search engine only if documents are written, and runs work with the changes. If
// only one of two stores can be reached, work gets the changes there, and planChanges returns the other one's error after it.
func planChanges(e *env, cfg *config.Config, work func(schema.Stores, *schema.Changes) error) error {
	cluster, away := openHBase(e, cfg, cfg.HBase())
	if away != nil {
		if f, ok := errors.AsType[*fault.Error](away); !ok || f.Kind != fault.Unreachable || !cfg.HasDocuments() {
			return away
		}
		cluster = &stores.HBase{}
	}
	in, close, err := withSearch(cfg, cluster)
	if err != nil {
		return errors.Join(away, err)
	}
	defer close()
	changes, err := schema.Plan(e.ctx, cfg, in)
	away = errors.Join(away, err)
	if changes == nil {
		return away
	}
	return errors.Join(work(in, changes), away)
}

func withSearch(cfg *config.Config, cluster *stores.HBase) (s schema.Stores, close func(), err error) {
	if cluster.Client != nil {
		s.Cluster = cluster.Client
	}
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
		case schema.Unreached:
			fmt.Fprintf(out, "%s: not reached, left as it is\n", s.Table)
			continue
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
		"alter":    "to be altered", "altered": "altered", "begun": "started, and may still complete", "nothing": "exists, nothing to do",
		"unreached": "not reached, left as it is"}
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
