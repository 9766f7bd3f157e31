package store

import (
	"bytes"
	"context"
	"errors"
	"math"

	"github.com/cockroachdb/pebble/v2"
)

// compactChunk is the approximate number of cells that one step of a compaction reads; the step ends with a whole row.
const compactChunk = 4096

// CompactStep does one step of a major compaction: in about 4096 cells from the start of rows, whole rows only, it drops delete markers and
// what they hide, and expired and surplus versions. If family is not nil, it compacts only that family. It returns the row to continue
// with, or nil at the end. The caller must keep out writers of these rows, because a cell written again between reading and dropping would
// be lost.
func (s *Store) CompactStep(ctx context.Context, space Space, schema Schema, rows Range, now int64,
	family []byte) (next []byte, err error) {
	l, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer l.leave()
	defer func() { err = l.named(err) }()
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: rows.lower(space), UpperBound: rows.upper(space)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	b := l.db.NewBatch()
	defer func() { err = errors.Join(err, b.Close()) }()
	c := compaction{schema: schema, now: now}
	seen := 0
	for it.First(); it.Valid(); it.Next() {
		k := it.Key()
		p, ok := parse(k)
		if !ok {
			return nil, errBadKey
		}
		if !bytes.Equal(k[:p.rowEnd], c.row) {
			if seen >= compactChunk || ctx.Err() != nil {
				next = appendUnescaped([]byte{}, k[headLen:p.rowEnd-2])
				break
			}
			c.row = append(c.row[:0], k[:p.rowEnd]...)
			c.plan.family = nil
		}
		seen++
		if family != nil && !bytes.Equal(k[p.rowEnd:p.familyEnd-1], family) {
			continue
		}
		_, ttl, err := valueOf(it, l.tails)
		if err != nil {
			return nil, err
		}
		if !c.keeps(k, p, ttl) {
			if err := b.Delete(k, nil); err != nil {
				return nil, err
			}
		}
	}
	if err := errors.Join(it.Error(), ctx.Err()); err != nil {
		return nil, err
	}
	return next, b.Commit(pebble.Sync)
}

// DropFamily removes every cell of a family from a space.
func (s *Store) DropFamily(space Space, family []byte) (err error) {
	l, err := s.enter()
	if err != nil {
		return err
	}
	defer l.leave()
	defer func() { err = l.named(err) }()
	rows := Range{}
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: rows.lower(space), UpperBound: rows.upper(space)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	b := l.db.NewBatch()
	defer func() { err = errors.Join(err, b.Close()) }()
	for valid := it.First(); valid; {
		k := it.Key()
		p, ok := parse(k)
		if !ok {
			return errBadKey
		}
		begin := append(bytes.Clone(k[:p.rowEnd]), family...)
		end := append(bytes.Clone(begin), familyNext)
		if err := b.DeleteRange(append(begin, familyEnd), end, nil); err != nil {
			return err
		}
		if b.Len() >= dropChunk {
			if err := b.Commit(pebble.Sync); err != nil {
				return err
			}
			b.Reset()
		}
		valid = it.SeekGE(append(bytes.Clone(k[:p.rowEnd]), afterAll))
	}
	return errors.Join(it.Error(), b.Commit(pebble.Sync))
}

// dropChunk is the approximate size of a commit of DropFamily in bytes.
const dropChunk = 1 << 20

type compaction struct {
	schema Schema
	now    int64
	row    []byte
	plan   plan
	m      matcher
	passed bool // drop the rest of the column, markers too: a put was deleted along with everything older, or is surplus
}

// keeps reports whether the cell survives the compaction. Cells of a family that the table no longer has do not.
func (c *compaction) keeps(k []byte, p parsedKey, ttl int64) bool {
	name := k[p.rowEnd : p.familyEnd-1]
	if c.plan.family == nil || !bytes.Equal(name, c.plan.family.Name) {
		f := c.schema.Find(name)
		if f == nil {
			c.plan.family = nil
			return false
		}
		c.plan = plan{family: f, times: AllTime, checked: f.MaxVersions, given: math.MaxInt, oldest: f.oldest(c.now)}
		c.m.begin(&c.plan)
		c.passed = false
	}
	f := c.plan.family
	column := k[p.familyEnd:p.columnEnd]
	if !bytes.Equal(column, c.m.column) {
		c.passed = false
	}
	c.m.enter(column)
	if c.passed {
		return false
	}
	if f.MinVersions <= 0 && p.timestamp < c.plan.oldest {
		return false
	}
	if over(p.timestamp, ttl, c.now) {
		return false
	}
	if p.typ.IsDelete() {
		if !f.KeepDeleted {
			c.m.mark(p.timestamp, p.typ)
		}
		young := f.PurgeDeletesAfter > 0 && c.now-p.timestamp <= f.PurgeDeletesAfter
		return young || f.KeepDeleted && c.m.anyColumn(p.timestamp, p.typ) == Include
	}
	v := c.m.deleted(p.timestamp)
	if v == Include {
		v = c.m.anyColumn(p.timestamp, p.typ)
	}
	c.passed = v == NextColumn && len(column) > 2 // the column with the empty qualifier also holds the family's markers
	return v == Include
}
