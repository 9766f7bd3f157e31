package hbasetest

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"brine/hbase"
	"brine/internal/backoff"
)

// region returns the region of a table that has a row.
func (r *runner) region(table, row string) (hbase.Region, error) {
	regions, err := r.client.Regions(r.ctx, table)
	if err != nil {
		return hbase.Region{}, err
	}
	key := parseBytes(row)
	i, found := slices.BinarySearchFunc(regions, key, func(o hbase.Region, key []byte) int { return bytes.Compare(o.Start, key) })
	if !found {
		i--
	}
	return regions[i], nil
}

// split splits the region that has the key, at the key.
func (r *runner) split(table, key string) error {
	region, err := r.region(table, key)
	if err != nil {
		return err
	}
	return r.ok(r.client.SplitRegion(r.ctx, region, parseBytes(key)))
}

// merge merges the regions that have the rows.
func (r *runner) merge(table string, rows []string) error {
	var regions []hbase.Region
	for _, row := range rows {
		region, err := r.region(table, row)
		if err != nil {
			return err
		}
		regions = append(regions, region)
	}
	return r.ok(r.client.MergeRegions(r.ctx, regions...))
}

// move moves the region that has a row to another server. If there is only one server the region stays, as the master decides.
func (r *runner) move(table, row string) error {
	before, err := r.region(table, row)
	if err != nil {
		return err
	}
	if err := r.client.MoveRegion(r.ctx, before, ""); err != nil {
		return err
	}
	status, err := r.client.ClusterStatus(r.ctx)
	if err != nil {
		return err
	}
	after, err := r.region(table, row)
	if err == nil && len(status.Servers) > 1 && after.Server == before.Server {
		err = fmt.Errorf("the region is on %s still", before.Server)
	}
	return r.ok(err)
}

// alter changes a family's attributes; the server then reopens all regions where they are.
func (r *runner) alter(table, word string) error {
	description, err := r.client.Describe(r.ctx, table)
	if err != nil {
		return err
	}
	family := parseFamily(word)
	for _, f := range description.Families {
		if f.Name != family.Name {
			continue
		}
		for key, value := range family.Values {
			f.Values[key] = value
		}
		return r.ok(r.client.AlterFamily(r.ctx, table, f))
	}
	return hbase.ErrNoFamily
}

// compact flushes, starts a major compaction, and returns once no region reports one.
func (r *runner) compact(table string) error {
	if err := r.client.FlushTable(r.ctx, table); err != nil {
		return err
	}
	if err := r.client.CompactTable(r.ctx, table, true); err != nil {
		return err
	}
	for {
		states, err := r.client.TableCompactions(r.ctx, table)
		if err != nil {
			return err
		}
		busy := 0
		for state, n := range states {
			if state != "NONE" {
				busy += n
			}
		}
		if busy == 0 {
			return r.ok(nil)
		}
		if err := backoff.Wait(r.ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%d regions are compacting still: %w", busy, err)
		}
	}
}
