package embedded

import (
	"bytes"
	"context"

	"brine/hbase/embedded/internal/filter"
	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

// mutateMethods change one row of a region: Mutate, a put, delete, increment or append, with or without a condition.
//
// What they do not do:
//   - cells have no tags, so there are no visibility labels and no cell ACLs: a mutation with tags is refused;
//   - durability is always that of Options.Fsync, whatever the mutation requests;
//   - attributes are ignored, except _rr_ and _ttl; a TTL on an increment or an append is refused;
//   - the nonces of the last 100,000 increments and appends of this run are remembered, not those of half an hour;
//   - conditions have the comparators and filters of internal/filter;
//   - bulk loads (PrepareBulkLoad, BulkLoadHFile, CleanupBulkLoad) are not served.
var mutateMethods = map[string]method{
	"ClientService.Mutate": on(mutate),
}

func mutate(ctx context.Context, k *call, q *hbasepb.MutateRequest) (*hbasepb.MutateResponse, error) {
	r, err := k.node.region(q.Region)
	if err != nil {
		return nil, err
	}
	m, err := k.mutation(q.Mutation, nil)
	if err != nil {
		return nil, err
	}
	if err := m.checkSizes(k.node.cluster.opts.MaxCell); err != nil {
		return nil, err
	}
	applied, cells, err := k.mutateRow(ctx, r, []mutation{m}, q.Condition, q.GetNonceGroup())
	if err != nil {
		return nil, err
	}
	response := &hbasepb.MutateResponse{}
	if delta := m.kind == hbasepb.MutationProto_INCREMENT || m.kind == hbasepb.MutationProto_APPEND; !delta || q.Condition != nil {
		response.Processed = &applied
	} else if wantsResults(q.Mutation) {
		response.Result = k.result(cells)
	}
	return response, nil
}

// mutateRow applies mutations of one row as one, if the condition holds; nil means no condition.
func (k *call) mutateRow(ctx context.Context, r *region, ms []mutation, c *hbasepb.Condition, group uint64) (bool, []store.Cell, error) {
	for i := range ms {
		if err := ms[i].check(r); err != nil {
			return false, nil, err
		}
	}
	if len(ms) > 0 {
		if err := checkRows(ms[0].row, ms); err != nil {
			return false, nil, err
		}
	}
	var condition func() (bool, error)
	if c != nil {
		if err := checkRows(c.Row, ms); err != nil {
			return false, nil, err
		}
		var err error
		if condition, err = k.condition(ctx, r, c); err != nil {
			return false, nil, err
		}
	}
	if again, cells, err := k.again(ctx, r, ms, group); again || err != nil {
		return true, cells, err
	}
	applied, cells, err := k.apply(ctx, r, ms, condition)
	if err == nil && applied {
		k.remember(ms, group)
	}
	return applied, cells, err
}

// condition returns the check of a checkAndMutate: whether a column of its row compares to a value as demanded, or whether a filter accepts
// the row.
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

// holds compares as HBase does: an empty value equals a missing cell, or one with an empty value.
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
	return filter.Holds(op, -compare(cells[0].Value)) // here HBase evaluates "value op cell", unlike in filters
}

// checkRows returns an exception unless all mutations of an atomic request are of one row.
func checkRows(row []byte, ms []mutation) error {
	for i := range ms {
		if !bytes.Equal(ms[i].row, row) {
			return final(classDoNotRetry, "Action's getRow must match")
		}
	}
	return nil
}
