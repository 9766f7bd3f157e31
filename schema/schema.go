// Package schema compares the tables and indexes of a configuration with those in the stores: it plans changes, makes them, and checks what
// else the configuration requires of the servers.
//
// Invariants: nothing is ever dropped or truncated. Attributes, families and regions that the configuration does not name stay as they are.
// A change that shortens how long cells or versions are kept says so, with the flag that allows it.
package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"brine/config"
	"brine/hbase"
	"brine/indexer"
	"brine/internal/fault"
)

// Cluster is the part of HBase's client that is used; *hbase.Client implements it.
type Cluster interface {
	Describe(ctx context.Context, table string) (hbase.Table, error)
	Regions(ctx context.Context, table string) ([]hbase.Region, error)
	ClusterStatus(ctx context.Context) (hbase.ClusterStatus, error)
	CreateNamespace(ctx context.Context, name string) error
	CreateTable(ctx context.Context, t hbase.Table, splits [][]byte) error
	AlterTable(ctx context.Context, t hbase.Table) error
	AddFamily(ctx context.Context, table string, f hbase.Family) error
	AlterFamily(ctx context.Context, table string, f hbase.Family) error
}

// Stores hold the tables and the indexes.
type Stores struct {
	Cluster Cluster        // nil: it was not reached
	Search  indexer.Engine // nil: indexes are left out
}

// Changes are the steps that make tables and indexes match the configuration, one for each.
type Changes struct {
	Tables  []TableStep
	Indexes []IndexStep
}

// Plan compares a configuration with its stores. It changes nothing. If one store fails, it returns the changes in the other one together
// with the error; the steps of the store that failed are Unreached. It returns no changes if no store is left, or if the configuration asks
// for something that cannot be done.
func Plan(ctx context.Context, cfg *config.Config, s Stores) (*Changes, error) {
	c, err := PlanOffline(cfg)
	if err != nil {
		return nil, err
	}
	reached, failed := 0, c.compareTables(ctx, s.Cluster)
	if s.Cluster != nil && failed == nil {
		reached++
	}
	if s.Search != nil && ctx.Err() == nil {
		c.Indexes, err = PlanIndexes(ctx, cfg, s.Search)
		if err == nil {
			reached++
		}
		failed = errors.Join(failed, err)
	}
	if wrong, ok := errors.AsType[*fault.Error](err); ok && wrong.Kind == fault.Usage || reached == 0 {
		return nil, failed
	}
	return c, failed
}

// compareTables turns the steps that create tables into the ones that are needed.
func (c *Changes) compareTables(ctx context.Context, cluster Cluster) (err error) {
	for i := range c.Tables {
		if cluster != nil {
			err = c.Tables[i].compare(ctx, cluster)
		}
		if cluster == nil || err != nil {
			for i := range c.Tables {
				c.Tables[i].unreached()
			}
			return err
		}
	}
	return nil
}

// PlanOffline returns the tables that would be created on an empty cluster.
func PlanOffline(cfg *config.Config) (*Changes, error) {
	c := &Changes{}
	for _, t := range cfg.Tables {
		step, err := newTable(t)
		if err != nil {
			return nil, err
		}
		c.Tables = append(c.Tables, step)
	}
	return c, nil
}

// Altered returns the steps that alter a table.
func (c *Changes) Altered() (out []TableStep) {
	for _, s := range c.Tables {
		if s.Action == Alter {
			out = append(out, s)
		}
	}
	return out
}

// Losses returns an error for each change that would lose cells and that no flag allows.
func (c *Changes) Losses(allowed ...string) error {
	var all []error
	for _, s := range c.Altered() {
		for _, d := range s.Changes {
			if d.Allow != "" && !slices.Contains(allowed, d.Allow) {
				all = append(all, fmt.Errorf("table %s: %s; that would lose %s: nothing was changed; add %s", s.Table, d, d.Loses, d.Allow))
			}
		}
	}
	return errors.Join(all...)
}

// Apply carries out the plan, and records in each step what was done. A failure in one store keeps nothing from the other.
func (c *Changes) Apply(ctx context.Context, s Stores) error {
	return errors.Join(c.applyTables(ctx, s.Cluster), c.applyIndexes(ctx, s.Search))
}

func (c *Changes) applyTables(ctx context.Context, cluster Cluster) error {
	if err := c.createTables(ctx, cluster); err != nil {
		return err
	}
	for i := range c.Tables {
		if err := c.Tables[i].alter(ctx, cluster); err != nil {
			return err
		}
	}
	return nil
}

// Done reports whether a failed Apply did something, or began to.
func (c *Changes) Done() bool {
	did := []Action{Created, Extended, Altered, Begun}
	return slices.ContainsFunc(c.Tables, func(s TableStep) bool { return slices.Contains(did, s.Action) }) ||
		slices.ContainsFunc(c.Indexes, func(s IndexStep) bool { return slices.Contains(did, s.Action) })
}

// Create carries out the plan except for tables that exist, which stay as they are.
func (c *Changes) Create(ctx context.Context, s Stores) error {
	if err := c.createTables(ctx, s.Cluster); err != nil {
		return err
	}
	return c.applyIndexes(ctx, s.Search)
}
