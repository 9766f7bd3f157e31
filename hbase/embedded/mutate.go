package embedded

import (
	"context"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"
)

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

// mutateRow applies mutations of one row as one, if the condition (nil: none) holds.
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
