package verifications

import (
	"context"
	"iter"

	"brine/schema"
	"brine/verify"
)

// searched is a search index. The engine's errors get their fault kinds, which say whether the index exists.
type searched struct{ verify.Store }

func (s searched) Get(ctx context.Context, keys [][]byte) ([][]verify.Cell, error) {
	cells, err := s.Store.Get(ctx, keys)
	return cells, known(ctx, err)
}

func (s searched) Scan(ctx context.Context, from, to []byte) iter.Seq2[verify.Row, error] {
	return func(yield func(verify.Row, error) bool) {
		for row, err := range s.Store.Scan(ctx, from, to) {
			if !yield(row, known(ctx, err)) {
				return
			}
		}
	}
}

func (s searched) Remove(ctx context.Context, key []byte, cells []verify.Cell) error {
	return known(ctx, s.Store.Remove(ctx, key, cells))
}

func known(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return schema.SearchError(err)
}
