package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"brine/config"
	"brine/hbase"
	"brine/indexer"
	"brine/rowkey"
)

type tablesCmd struct {
	Plan  tablesPlanCmd  `cmd:"" help:"Show what apply would do, and with --sample how the rows would spread."`
	Apply tablesApplyCmd `cmd:"" help:"Create the tables that are missing, split as the key says. Never drops or truncates."`
}

type tablesApplyCmd struct {
	configFlag
	JSON bool `help:"Print JSON."`
}

// Help is shown under the command's own help.
func (tablesApplyCmd) Help() string {
	return "Example:\n  brine tables apply -c examples/scans.yaml"
}

// tableStep is what is to be done for one table.
type tableStep struct {
	Table   string   `json:"table"`
	Action  string   `json:"action"` // create, nothing, differs
	Regions int      `json:"regions"`
	Splits  []string `json:"splits,omitempty"` // as the HBase shell prints them
	Differs []string `json:"differs,omitempty"`

	table  hbase.Table
	splits [][]byte
}

func (c *tablesApplyCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	cluster, err := openHBase(e.ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	steps, err := planTables(e.ctx, cfg, cluster.client)
	if err != nil {
		return err
	}
	// Both stores are looked at before either is touched.
	indexes, err := withSearch(cfg, func(engine indexer.Engine) ([]indexStep, error) { return planIndexes(e.ctx, cfg, engine) })
	if err != nil {
		return err
	}
	if err := applyTables(e.ctx, cluster.client, steps); err != nil {
		return err
	}
	indexes, err = withSearch(cfg, func(engine indexer.Engine) ([]indexStep, error) {
		return indexes, applyIndexes(e.ctx, engine, indexes)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(map[string]any{"tables": steps, "indexes": indexes})
	}
	printSteps(e.stdout, steps)
	printIndexSteps(e.stdout, indexes)
	return nil
}

// planOffline says what would be made on an empty cluster.
func planOffline(cfg *config.Config) ([]tableStep, error) {
	var steps []tableStep
	for _, t := range cfg.Tables {
		splits, err := t.SplitPoints()
		if err != nil {
			return nil, usage(fmt.Errorf("table %s: %w", t.Name, err))
		}
		step := tableStep{Table: t.Name, Action: "create", Regions: len(splits) + 1, table: t.HBase(), splits: splits}
		for _, s := range splits {
			step.Splits = append(step.Splits, rowkey.Binary(s))
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// planTables compares the configuration with the cluster.
func planTables(ctx context.Context, cfg *config.Config, client *hbase.Client) ([]tableStep, error) {
	steps, err := planOffline(cfg)
	if err != nil {
		return nil, err
	}
	for i := range steps {
		s := &steps[i]
		have, err := client.Describe(ctx, s.Table)
		if errors.Is(err, hbase.ErrNoTable) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", s.Table, err)
		}
		regions, err := client.Regions(ctx, s.Table)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", s.Table, err)
		}
		s.Action, s.Regions, s.Splits = "nothing", len(regions), nil
		if s.Differs = differences(s.table, have); len(s.Differs) > 0 {
			s.Action = "differs"
		}
	}
	return steps, nil
}

// differences lists what a table has otherwise than the configuration says. Attributes that the configuration does not set are not compared.
func differences(want, have hbase.Table) []string {
	families := map[string]hbase.Family{}
	for _, f := range have.Families {
		families[f.Name] = f
	}
	var out []string
	for _, f := range want.Families {
		got, ok := families[f.Name]
		if !ok {
			out = append(out, fmt.Sprintf("family %s is missing", f.Name))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(f.Values)) {
			if value, ok := got.Values[name]; ok && !sameAttribute(name, value, f.Values[name]) {
				out = append(out, fmt.Sprintf("family %s: %s is %s, the configuration says %s", f.Name, name, value, f.Values[name]))
			}
		}
	}
	return out
}

// sameAttribute compares as HBase reads attributes: letters' case does not matter, and FOREVER is the largest TTL.
func sameAttribute(name, a, b string) bool {
	if name == "TTL" {
		a, b = strings.ReplaceAll(a, "FOREVER", "2147483647"), strings.ReplaceAll(b, "FOREVER", "2147483647")
	}
	return strings.EqualFold(a, b)
}

// applyTables creates what is missing.
func applyTables(ctx context.Context, client *hbase.Client, steps []tableStep) error {
	for i := range steps {
		s := &steps[i]
		if s.Action != "create" {
			continue
		}
		if namespace, _, ok := strings.Cut(s.Table, ":"); ok {
			if err := client.CreateNamespace(ctx, namespace); err != nil {
				return fmt.Errorf("namespace %s: %w", namespace, err)
			}
		}
		err := client.CreateTable(ctx, s.table, s.splits)
		if errors.Is(err, hbase.ErrTableExists) { // another brine was quicker
			s.Action = "nothing"
			continue
		}
		if err != nil {
			return fmt.Errorf("create table %s: %w", s.Table, err)
		}
		s.Action = "created"
	}
	return nil
}

func printSteps(out io.Writer, steps []tableStep) {
	for _, s := range steps {
		switch s.Action {
		case "create":
			fmt.Fprintf(out, "%s: to be created with %d regions\n", s.Table, s.Regions)
		case "created":
			fmt.Fprintf(out, "%s: created with %d regions\n", s.Table, s.Regions)
		case "nothing":
			fmt.Fprintf(out, "%s: exists with %d regions, nothing to do\n", s.Table, s.Regions)
		case "differs":
			fmt.Fprintf(out, "%s: exists with %d regions, left as it is, though it differs:\n", s.Table, s.Regions)
		}
		if len(s.Splits) > 0 {
			fmt.Fprintf(out, "  split at %s\n", strings.Join(s.Splits, " "))
		}
		for _, d := range s.Differs {
			fmt.Fprintf(out, "  %s\n", d)
		}
	}
}
