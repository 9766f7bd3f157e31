package store

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// copyChunk is the approximate size of a commit of Copy in bytes.
const copyChunk = 1 << 20

// Copy copies all cells of a space, as they are when it begins, into another, which must be empty. Until it returns nil the copy is
// incomplete: a caller that fails or dies must drop the space.
func (s *Store) Copy(ctx context.Context, from, to Space) (err error) {
	l, err := s.enter()
	if err != nil {
		return err
	}
	defer l.leave()
	defer func() { err = l.named(err) }()
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: appendHead(nil, from), UpperBound: appendHead(nil, from+1)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	b := l.db.NewBatch()
	defer func() { err = errors.Join(err, b.Close()) }()
	for it.First(); it.Valid(); it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		op := b.SetDeferred(len(it.Key()), len(v))
		copy(op.Key, it.Key())
		binary.BigEndian.PutUint32(op.Key[1:headLen], uint32(to))
		copy(op.Value, v)
		if err := op.Finish(); err != nil {
			return err
		}
		if b.Len() < copyChunk {
			continue
		}
		if err := errors.Join(b.Commit(pebble.NoSync), ctx.Err()); err != nil {
			return err
		}
		b.Reset()
	}
	if err := errors.Join(it.Error(), ctx.Err()); err != nil {
		return err
	}
	return b.Commit(pebble.Sync)
}
