package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Batch gathers changes that become visible and durable together. It is used by one goroutine.
type Batch struct {
	b            *pebble.Batch
	tails        bool
	key          []byte
	tail         [ttlBytes + 1]byte
	beforeCommit func() error
}

// NewBatch begins a batch; it must be committed or closed.
func (s *Store) NewBatch() *Batch {
	return &Batch{b: s.db.NewBatch(), tails: s.tails, beforeCommit: s.beforeCommit}
}

// Add adds a cell. The bytes are copied.
func (b *Batch) Add(s Space, row, family, qualifier []byte, timestamp int64, t Type, value []byte) error {
	return b.AddTTL(s, row, family, qualifier, timestamp, t, value, NoTTL)
}

// AddTTL adds a cell that expires so many milliseconds after its timestamp.
func (b *Batch) AddTTL(s Space, row, family, qualifier []byte, timestamp int64, t Type, value []byte, ttl int64) error {
	b.key = appendCellKey(b.key[:0], s, row, family, qualifier, timestamp, t)
	switch {
	case b.tails:
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
	if value == nil {
		return b.b.Delete(recordKey(name), nil)
	}
	return b.b.Set(recordKey(name), value, nil)
}

// DropSpace removes every cell of a space.
func (b *Batch) DropSpace(s Space) error {
	return b.b.DeleteRange(appendHead(nil, s), appendHead(nil, s+1), nil)
}

// DropRow removes every cell of a row at once and without delete markers; for hbase:meta only.
func (b *Batch) DropRow(s Space, row []byte) error {
	k := appendRowKey(nil, s, row)
	return b.b.DeleteRange(k, append(append([]byte{}, k...), afterAll), nil)
}

// Empty says whether nothing was added.
func (b *Batch) Empty() bool { return b.b.Empty() }

// Commit applies the batch and returns when it is durable; it closes the batch also when it fails.
func (b *Batch) Commit() error {
	if b.beforeCommit != nil {
		if err := b.beforeCommit(); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	return errors.Join(b.b.Commit(pebble.Sync), b.Close())
}

// Close drops a batch that was not committed. It may be called again.
func (b *Batch) Close() error {
	if b.b == nil {
		return nil
	}
	err := b.b.Close()
	b.b = nil
	return err
}
