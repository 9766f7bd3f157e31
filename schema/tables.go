package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/config"
	"brine/hbase"
	"brine/internal/fault"
	"brine/rowkey"
)

// Action is what a step does, or has done.
type Action string

// The actions. Extend and Extended are for indexes that lack fields.
const (
	Create   Action = "create"
	Created  Action = "created"
	Extend   Action = "extend"
	Extended Action = "extended"
	Alter    Action = "alter"
	Altered  Action = "altered"
	Begun    Action = "begun" // the end was not observed: it may still be done, or was done in part
	Nothing  Action = "nothing"

	Unreached Action = "unreached" // its store did not answer: what is needed is unknown, and nothing is done
)

// TableStep is the step for one table.
type TableStep struct {
	Table      string   `json:"table"`
	Action     Action   `json:"action"`
	Regions    int      `json:"regions"`            // 0: unknown
	Configured int      `json:"configured_regions"` // an existing table may have more, after splits, or fewer
	Splits     []string `json:"splits,omitempty"`   // of a table to be created, as the HBase shell prints them
	Changes    []Change `json:"changes,omitempty"`

	table  hbase.Table // the desired table
	splits [][]byte
}

// newTable returns the step that creates a table.
func newTable(t *config.Table) (TableStep, error) {
	splits, err := t.SplitPoints()
	if err != nil {
		return TableStep{}, fault.Misused(fmt.Errorf("table %s: %w", t.Name, err))
	}
	s := TableStep{Table: t.Name, Action: Create, Regions: len(splits) + 1, Configured: len(splits) + 1, table: t.HBase(), splits: splits}
	for _, p := range splits {
		s.Splits = append(s.Splits, rowkey.Binary(p))
	}
	return s, nil
}

// compare turns the step that creates a table into the one that is needed if the table exists.
func (s *TableStep) compare(ctx context.Context, cluster Cluster) error {
	have, err := cluster.Describe(ctx, s.Table)
	if errors.Is(err, hbase.ErrNoTable) {
		return nil
	}
	if err != nil {
		return err // err names the table
	}
	regions, err := cluster.Regions(ctx, s.Table)
	if err != nil {
		return err
	}
	s.Action, s.Regions, s.Splits = Nothing, len(regions), nil
	if s.Changes = changes(s.table, have); len(s.Changes) > 0 {
		s.Action = Alter
	}
	s.table = merged(have, s.table)
	return nil
}

func (c *Changes) createTables(ctx context.Context, cluster Cluster) error {
	for i := range c.Tables {
		s := &c.Tables[i]
		if s.Action != Create {
			continue
		}
		if namespace, _, ok := strings.Cut(s.Table, ":"); ok {
			if err := cluster.CreateNamespace(ctx, namespace); err != nil {
				return fmt.Errorf("namespace %s: %w", namespace, err)
			}
		}
		err := cluster.CreateTable(ctx, s.table, s.splits)
		if errors.Is(err, hbase.ErrTableExists) { // another brine was faster
			s.Action = Nothing
			continue
		}
		if err != nil {
			s.begun(err)
			return s.refused(err)
		}
		s.Action = Created
	}
	return nil
}

// unreached makes it the step of a table that is not known.
func (s *TableStep) unreached() {
	s.Action, s.Regions, s.Splits, s.Changes = Unreached, 0, nil, nil
}

// alter makes the changes. It changes families one by one, because a description of the whole table would delete a family that somebody
// else has added in the meantime.
func (s *TableStep) alter(ctx context.Context, cluster Cluster) error {
	if s.Action != Alter {
		return nil
	}
	for _, f := range s.table.Families {
		i := slices.IndexFunc(s.Changes, func(c Change) bool { return c.Family == f.Name })
		if i < 0 {
			continue
		}
		if err := s.alterFamily(ctx, cluster, f, &s.Changes[i]); err != nil {
			s.begun(err)
			return s.refused(err)
		}
		s.Action = Begun // until everything is done
	}
	if slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Family == "" }) {
		have, err := cluster.Describe(ctx, s.Table) // current description, with all families
		if err != nil {
			return fmt.Errorf("table %s: %w", s.Table, err)
		}
		if err := cluster.AlterTable(ctx, merged(have, hbase.Table{Values: s.table.Values})); err != nil {
			s.begun(err)
			return s.refused(err)
		}
	}
	s.Action = Altered
	return nil
}

// alterFamily adds or changes a family that differs.
func (s *TableStep) alterFamily(ctx context.Context, cluster Cluster, f hbase.Family, differs *Change) error {
	if differs.MissingFamily() {
		return cluster.AddFamily(ctx, s.Table, f)
	}
	return cluster.AlterFamily(ctx, s.Table, f)
}

// begun marks a step whose end was not observed.
func (s *TableStep) begun(err error) {
	if _, is := errors.AsType[*hbase.BegunError](err); is {
		s.Action = Begun
	}
}

// codecNames are other names that servers have for codecs that they may lack.
var codecNames = map[string]string{"zstd": "zstandard"}

// refused adds the fix if a server lacks a codec.
func (s *TableStep) refused(err error) error {
	text := strings.ToLower(strings.ReplaceAll(err.Error(), s.Table, ""))
	for _, f := range s.table.Families {
		codec := strings.ToLower(f.Values["COMPRESSION"])
		if codec == "" || codec == "none" {
			continue
		}
		if strings.Contains(text, codec) || codecNames[codec] != "" && strings.Contains(text, codecNames[codec]) {
			return fault.New(fault.Failed, err, fmt.Sprintf(
				"the servers lack the codec %s of family %s: install it on all of them, or write compression: gz, which every server has", codec,
				f.Name))
		}
	}
	return err
}
