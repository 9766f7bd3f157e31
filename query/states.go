package query

import (
	"context"

	"brine/search"
)

// states compares documents with their rows. In a narrowed table, it reads rows that differ again, whole: the newer value, or even all
// cells of a row, may be in the families that were not read.
func (t Table) states(ctx context.Context, c Client, hits []search.Hit, keys [][]byte, rows []Row) ([]State, error) {
	states := make([]State, len(hits))
	var unclear []int
	var again [][]byte
	for i := range hits {
		if states[i] = t.state(&rows[i], &hits[i]); states[i] != Same && t.Whole != nil {
			unclear = append(unclear, i)
			again = append(again, keys[i*len(t.Keys):(i+1)*len(t.Keys)]...)
		}
	}
	if len(unclear) == 0 {
		return states, nil
	}
	whole := t
	whole.Columns, whole.Whole = t.Whole, nil
	read, err := ByKey(ctx, c, whole, again)
	if err != nil {
		return nil, err
	}
	for n, i := range unclear {
		states[i] = whole.state(&read[n], &hits[i])
	}
	return states, nil
}
