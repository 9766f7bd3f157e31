package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"brine/config"
	"brine/hbase"
	"brine/rowkey"
)

type tablesCmd struct {
	Plan  tablesPlanCmd  `cmd:"" help:"Show what apply would do, and with --sample how the rows would spread."`
	Apply tablesApplyCmd `cmd:"" help:"Create the tables that are missing, split as the key says, and alter those that differ. Never drops or truncates."`
}

// tableStep is what is to be done for one table.
type tableStep struct {
	Table      string        `json:"table"`
	Action     string        `json:"action"` // create, created, alter, altered, nothing
	Regions    int           `json:"regions"`
	Configured int           `json:"configured_regions"` // a table that exists may have more, once they split, or fewer
	Splits     []string      `json:"splits,omitempty"`   // as the HBase shell prints them
	Changes    []tableChange `json:"changes,omitempty"`

	table  hbase.Table // as it is to be
	splits [][]byte
}

// planOffline says what would be made on an empty cluster.
func planOffline(cfg *config.Config) ([]tableStep, error) {
	var steps []tableStep
	for _, t := range cfg.Tables {
		splits, err := t.SplitPoints()
		if err != nil {
			return nil, usage(fmt.Errorf("table %s: %w", t.Name, err))
		}
		step := tableStep{Table: t.Name, Action: "create", Regions: len(splits) + 1, Configured: len(splits) + 1, table: t.HBase(), splits: splits}
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
			return nil, err // it names the table
		}
		regions, err := client.Regions(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		s.Action, s.Regions, s.Splits = "nothing", len(regions), nil
		if s.Changes = changes(s.table, have); len(s.Changes) > 0 {
			s.Action = "alter"
		}
		s.table = merged(have, s.table)
	}
	return steps, nil
}

// createTables creates what is missing.
func createTables(ctx context.Context, client *hbase.Client, steps []tableStep) error {
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
			return s.refused(err)
		}
		s.Action = "created"
	}
	return nil
}

// alterTables changes what differs. Families are changed one by one: a description of the whole table would delete a family
// that somebody else has added meanwhile.
func alterTables(ctx context.Context, client *hbase.Client, steps []tableStep) error {
	for i := range steps {
		s := &steps[i]
		if s.Action != "alter" {
			continue
		}
		for _, f := range s.table.Families {
			if err := s.alterFamily(ctx, client, f); err != nil {
				return s.refused(err)
			}
		}
		if slices.ContainsFunc(s.Changes, func(c tableChange) bool { return c.Family == "" }) {
			have, err := client.Describe(ctx, s.Table) // as it is now, with all of its families
			if err != nil {
				return fmt.Errorf("table %s: %w", s.Table, err)
			}
			if err := client.AlterTable(ctx, merged(have, hbase.Table{Values: s.table.Values})); err != nil {
				return s.refused(err)
			}
		}
		s.Action = "altered"
	}
	return nil
}

// alterFamily adds or changes a family, if it differs.
func (s *tableStep) alterFamily(ctx context.Context, client *hbase.Client, f hbase.Family) error {
	i := slices.IndexFunc(s.Changes, func(c tableChange) bool { return c.Family == f.Name })
	switch {
	case i < 0:
		return nil
	case s.Changes[i].missingFamily():
		return client.AddFamily(ctx, s.Table, f)
	}
	return client.AlterFamily(ctx, s.Table, f)
}

// codecNames are what servers call the codecs that they may lack, besides their own names.
var codecNames = map[string]string{"zstd": "zstandard"}

// refused names the setting that a server does not take.
func (s *tableStep) refused(err error) error {
	text := strings.ToLower(strings.ReplaceAll(err.Error(), s.Table, ""))
	for _, f := range s.table.Families {
		codec := strings.ToLower(f.Values["COMPRESSION"])
		if codec == "" || codec == "none" {
			continue
		}
		if strings.Contains(text, codec) || codecNames[codec] != "" && strings.Contains(text, codecNames[codec]) {
			return &exitError{exitFailed, err,
				fmt.Sprintf("the servers lack the codec %s of family %s: install it on all of them, or write compression: gz, which every server has", codec, f.Name)}
		}
	}
	return err
}

func printSteps(out io.Writer, steps []tableStep) {
	for _, s := range steps {
		switch s.Action {
		case "create":
			fmt.Fprintf(out, "%s: to be created with %s\n", s.Table, count(s.Regions, "region"))
		case "created":
			fmt.Fprintf(out, "%s: created with %s\n", s.Table, count(s.Regions, "region"))
		case "nothing":
			fmt.Fprintf(out, "%s: exists with %s, nothing to do\n", s.Table, count(s.Regions, "region"))
		case "alter":
			fmt.Fprintf(out, "%s: exists with %s, to be altered\n", s.Table, count(s.Regions, "region"))
		case "altered":
			fmt.Fprintf(out, "%s: altered\n", s.Table)
		}
		if s.Regions < s.Configured {
			fmt.Fprintf(out, "  %s, %d configured: left alone; brine regions split\n", count(s.Regions, "region"), s.Configured)
		}
		if len(s.Splits) > 0 {
			wrapped(out, "  ", "split at "+strings.Join(s.Splits, " "))
		}
		if s.Action == "alter" {
			printChanges(out, s.Changes)
		}
	}
}
