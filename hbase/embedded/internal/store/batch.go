package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Batch gathers changes that become visible and durable together. It is used by one goroutine.
type Batch struct {
	store *Store
	life  *life // nil: err says why
	err   error
	b     *pebble.Batch
	key   []byte
	tail  [ttlBytes + 1]byte
}

// NewBatch begins a batch; it must be committed or closed. That of a store that is not available returns why at every use.
func (s *Store) NewBatch() *Batch {
	l, err := s.enter()
	if err != nil {
		return &Batch{store: s, err: err}
	}
	return &Batch{store: s, life: l, b: l.db.NewBatch()}
}

// Add adds a cell. The bytes are copied.
func (b *Batch) Add(s Space, row, family, qualifier []byte, timestamp int64, t Type, value []byte) error {
	return b.AddTTL(s, row, family, qualifier, timestamp, t, value, NoTTL)
}

// AddTTL adds a cell that expires so many milliseconds after its timestamp.
func (b *Batch) AddTTL(s Space, row, family, qualifier []byte, timestamp int64, t Type, value []byte, ttl int64) error {
	if b.err != nil {
		return b.err
	}
	b.key = appendCellKey(b.key[:0], s, row, family, qualifier, timestamp, t)
	switch {
	case b.life.tails:
	case ttl != NoTTL:
		return ErrNoTTLs
	default:
		return b.b.Set(b.key, value, nil)
	}
	tail := appendTTL(b.tail[:0], ttl)
	op := b.b.SetDeferred(len(b.key), len(value)+len(tail))
	copy(op.Key, b.key)
	copy(op.Value[copy(op.Value, value):], tail)
	return op.Finish()
}

// SetRecord writes a record of the catalogue; nil removes it.
func (b *Batch) SetRecord(name string, value []byte) error {
	if b.err != nil {
		return b.err
	}
	if value == nil {
		return b.b.Delete(recordKey(name), nil)
	}
	return b.b.Set(recordKey(name), value, nil)
}

// DropSpace removes every cell of a space.
func (b *Batch) DropSpace(s Space) error {
	if b.err != nil {
		return b.err
	}
	return b.b.DeleteRange(appendHead(nil, s), appendHead(nil, s+1), nil)
}

// DropRow removes every cell of a row at once and without delete markers; for hbase:meta only.
func (b *Batch) DropRow(s Space, row []byte) error {
	if b.err != nil {
		return b.err
	}
	k := appendRowKey(nil, s, row)
	return b.b.DeleteRange(k, append(append([]byte{}, k...), afterAll), nil)
}

// Empty reports whether nothing was added.
func (b *Batch) Empty() bool { return b.b == nil || b.b.Empty() }

// Commit applies the batch and returns when it is durable; it closes the batch even when it fails. After ErrUnavailable it is not known
// whether it was applied.
func (b *Batch) Commit() error {
	if b.err != nil {
		return b.err
	}
	if before := b.store.opts.BeforeCommit; before != nil {
		if err := before(); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	if err := b.store.filled(); err != nil {
		return errors.Join(err, b.Close())
	}
	err := b.life.named(b.b.Commit(pebble.Sync))
	return errors.Join(err, b.Close())
}

// CommitSurely is Commit for what must not be left unknown: a batch that may have been applied is committed again, until that succeeds or
// ctx ends.
func (b *Batch) CommitSurely(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	repr := bytes.Clone(b.b.Repr())
	for {
		err := b.Commit()
		if !errors.Is(err, ErrUnavailable) || b.store.Wait(ctx) != nil {
			return err
		}
		again := b.store.NewBatch()
		if again.err == nil {
			if err := again.b.SetRepr(bytes.Clone(repr)); err != nil {
				return errors.Join(err, again.Close())
			}
		}
		*b = *again
	}
}

// Close drops a batch that was not committed. It may be called again.
func (b *Batch) Close() error {
	if b.b == nil {
		return nil
	}
	err := b.b.Close()
	b.b = nil
	b.life.leave()
	return err
}
