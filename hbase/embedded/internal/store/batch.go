package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Batch collects changes that become visible and durable together. It must be used by one goroutine only.
type Batch struct {
	store *Store
	life  *life // nil: err is the reason
	err   error
	b     *pebble.Batch
	key   []byte
	tail  [ttlBytes + 1]byte
}

// NewBatch begins a batch, which must be committed or closed. If the store is not available, every use of the batch returns the reason.
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

// AddTTL adds a cell that expires ttl milliseconds after its timestamp.
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

// SetRecord writes a record of the catalogue; a nil value removes it.
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

// DropRow removes every cell of a row at once, without delete markers. It is for hbase:meta only.
func (b *Batch) DropRow(s Space, row []byte) error {
	if b.err != nil {
		return b.err
	}
	k := appendRowKey(nil, s, row)
	return b.b.DeleteRange(k, append(append([]byte{}, k...), afterAll), nil)
}

// Empty reports whether the batch has no changes.
func (b *Batch) Empty() bool { return b.b == nil || b.b.Empty() }

// Commit applies the batch and returns once it is durable. It closes the batch even if it fails. After ErrUnavailable it is unknown whether
// the batch was applied.
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

// CommitSurely is Commit for changes whose outcome must be known: it commits a batch that may have been applied again until that succeeds
// or ctx is done.
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

// Close drops a batch that was not committed. It may be called more than once.
func (b *Batch) Close() error {
	if b.b == nil {
		return nil
	}
	err := b.b.Close()
	b.b = nil
	b.life.leave()
	return err
}
