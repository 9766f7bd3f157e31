package embedded

import (
	"bytes"
	"context"

	"brine/hbase/embedded/internal/filter"
	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// condition makes the question that a checkAndMutate asks of its row: does a column compare so to a value, or does a
// filter let the row through.
func (k *call) condition(ctx context.Context, r *region, c *hbasepb.Condition) (func() (bool, error), error) {
	if err := r.check(c.GetRow(), "checkAndMutate"); err != nil {
		return nil, err
	}
	q := &store.Query{MaxVersions: 1, Times: timeRange(c.TimeRange), StoreLimit: -1, Now: k.now()}
	st := k.node.cluster.store
	if c.Filter != nil {
		f, err := filter.New(c.Filter)
		if err != nil {
			return nil, err
		}
		q.Filter = f
		return func() (bool, error) {
			row, err := r.readRow(ctx, st, c.Row, q)
			return err == nil && len(row.Cells) > 0, err
		}, nil
	}
	if r.schema().Find(c.Family) == nil {
		return nil, final(classNoFamily, "Column family %s does not exist in region %s in table %s", c.Family, r.name, r.table.name)
	}
	compare, err := filter.NewComparator(c.GetComparator())
	if err != nil {
		return nil, err
	}
	value, err := filter.Operand(c.GetComparator())
	if err != nil {
		return nil, err
	}
	q.Columns = []store.FamilyColumns{{Family: c.Family, Qualifiers: [][]byte{notNil(c.Qualifier)}}}
	return func() (bool, error) {
		row, err := r.readRow(ctx, st, c.Row, q)
		if err != nil {
			return false, err
		}
		return holds(c.GetCompareType(), row.Cells, value, compare), nil
	}, nil
}

// holds compares as HBase does: no value asked for is no value there, or an empty one.
func holds(op hbasepb.CompareType, cells []store.Cell, value []byte, compare filter.Comparator) bool {
	equal := op != hbasepb.CompareType_NOT_EQUAL
	switch {
	case len(cells) == 0 && len(value) == 0:
		return equal
	case len(cells) == 0:
		return false
	case len(value) == 0:
		return (len(cells[0].Value) == 0) == equal
	}
	return filter.Holds(op, -compare(cells[0].Value)) // here HBase says "value op cell", unlike in filters
}

// checkRows makes sure that all mutations of one atomic request are of one row.
func checkRows(row []byte, ms []mutation) error {
	for i := range ms {
		if !bytes.Equal(ms[i].row, row) {
			return final(classDoNotRetry, "Action's getRow must match")
		}
	}
	return nil
}
