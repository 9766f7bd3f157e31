package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Row is one row as read. Its cells are valid until it is filled again.
type Row struct {
	Key   []byte
	Cells []Cell
	buf   []byte
}

// keep copies b into the row's buffer. The buffer may move; earlier copies stay valid.
func (r *Row) keep(b []byte) []byte {
	n := len(r.buf)
	r.buf = append(r.buf, b...)
	return r.buf[n:len(r.buf):len(r.buf)]
}

// Reader reads the rows of a query from the state that the store had when the Reader was created. It must be used by one goroutine at a
// time, and must be closed.
type Reader struct {
	life     *life
	it       *pebble.Iterator
	q        *Query
	plans    []plan
	m        matcher
	row      []byte // the prefix of the current row's keys
	bound    []byte // scratch for seeks
	column   []byte // scratch
	scanned  int
	bytes    int64 // of the cells read, including those of rows that the filter dropped
	filtered int
}

// NewReader returns a reader of a space. The error is an *ErrNoFamily if the query names a family that does not exist.
func (s *Store) NewReader(space Space, schema Schema, q *Query) (*Reader, error) {
	plans, err := q.plans(schema)
	if err != nil {
		return nil, err
	}
	l, err := s.enter()
	if err != nil {
		return nil, err
	}
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: q.Rows.lower(space), UpperBound: q.Rows.upper(space)})
	if err != nil {
		l.leave()
		return nil, l.named(err)
	}
	r := &Reader{life: l, it: it, q: q, plans: plans}
	if q.Reverse {
		r.it.Last()
		r.toRowStart()
	} else {
		r.it.First()
	}
	return r, nil
}

// Close closes the reader.
func (r *Reader) Close() error {
	defer r.life.leave()
	return r.it.Close()
}

// Scanned returns the number of rows read and the number of those dropped as a whole. As in HBase, a row that a filter rejects by its key,
// ending the scan, counts as dropped but not as read.
func (r *Reader) Scanned() (rows, filtered int) { return r.scanned, r.filtered }

// Bytes returns the size of the cells that were read so far, of the rows that the filter dropped, too.
func (r *Reader) Bytes() int64 { return r.bytes }

// More reports whether there may be more rows: if not, Next would find none.
func (r *Reader) More() bool { return r.it.Valid() && !r.FilterDone() }

// FilterDone reports whether the filter has ended the scan.
func (r *Reader) FilterDone() bool { return r.q.Filter != nil && r.q.Filter.Done() }

// At returns the row that Next reads next, or nil at the end.
func (r *Reader) At() []byte {
	if !r.it.Valid() {
		return nil
	}
	k := r.it.Key()
	end, ok := endOfEscaped(k, headLen)
	if !ok {
		return nil // Next reports it
	}
	return appendUnescaped([]byte{}, k[headLen:end-2])
}

// Next fills row with the next row that has cells and reports whether there was one; see Query.MaxSkipped. It fails once the life of the
// store in which the reader was created has ended, because it might read something that could not be written.
func (r *Reader) Next(ctx context.Context, row *Row) (bool, error) {
	ok, err := r.next(ctx, row)
	if err = r.life.named(err); err != nil {
		return false, err
	}
	return ok, nil
}

func (r *Reader) next(ctx context.Context, row *Row) (bool, error) {
	for n := 0; r.More(); n++ {
		if n%256 == 255 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if n > 0 && n == r.q.MaxSkipped {
			return false, nil
		}
		if err := r.beginRow(row); err != nil {
			return false, err
		}
		if err := r.readRow(row); err != nil {
			return false, err
		}
		if r.q.Reverse {
			r.it.SeekLT(r.row)
			r.toRowStart()
		}
		if len(row.Cells) > 0 {
			return true, nil
		}
		r.filtered++
	}
	return false, r.it.Error()
}

var errBadKey = errors.New("store: a key has an unknown layout: the data folder is damaged")

func (r *Reader) beginRow(row *Row) error {
	k := r.it.Key()
	end, ok := endOfEscaped(k, headLen)
	if !ok {
		return errBadKey
	}
	r.row = append(r.row[:0], k[:end]...)
	row.buf, row.Cells = row.buf[:0], row.Cells[:0]
	row.buf = appendUnescaped(row.buf, k[headLen:end-2])
	row.Key = row.buf[:len(row.buf):len(row.buf)]
	return nil
}

// toRowStart moves from the last key of a row to the first.
func (r *Reader) toRowStart() {
	if !r.it.Valid() {
		return
	}
	k := r.it.Key()
	end, ok := endOfEscaped(k, headLen)
	if !ok {
		return // beginRow reports it
	}
	r.bound = append(r.bound[:0], k[:end]...)
	r.it.SeekGE(r.bound)
}

// readRow reads the current row and moves the iterator past it.
func (r *Reader) readRow(row *Row) error {
	f := r.q.Filter
	if f != nil {
		f.Reset()
		if f.SkipRow(row.Key) {
			if !f.Done() {
				r.scanned++
			}
			r.leaveRow()
			return nil
		}
	}
	r.scanned++
	if err := r.readFamilies(row); err != nil {
		return err
	}
	if f == nil {
		return nil
	}
	if f.WholeRow() {
		row.Cells = f.DropCells(row.Cells)
	}
	if len(row.Cells) > 0 && f.DropRow() {
		row.Cells = row.Cells[:0]
	}
	return nil
}

func (r *Reader) readFamilies(row *Row) error {
	current := -1 // plan of the family under the iterator
	for r.it.Valid() && bytes.HasPrefix(r.it.Key(), r.row) {
		k := r.it.Key()
		p, ok := parse(k)
		if !ok {
			return errBadKey
		}
		name := k[p.rowEnd : p.familyEnd-1]
		if current < 0 || !bytes.Equal(name, r.plans[current].family.Name) {
			next := r.planOf(name)
			if next < 0 {
				r.leaveFamily(k, p)
				continue
			}
			current = next
			r.m.begin(&r.plans[current])
		}
		if err := r.readCell(row, k, p); err != nil {
			return err
		}
	}
	return r.it.Error()
}

func (r *Reader) planOf(family []byte) int {
	for i := range r.plans {
		if bytes.Equal(r.plans[i].family.Name, family) {
			return i
		}
	}
	return -1
}

func (r *Reader) readCell(row *Row, k []byte, p parsedKey) error {
	value, ttl, err := valueOf(r.it, r.life.tails)
	if err != nil {
		return err
	}
	r.bytes += int64(len(k) + len(value))
	v := r.m.match(k[p.familyEnd:p.columnEnd], p.timestamp, p.typ, ttl)
	if v.Includes() {
		var c Cell
		r.column = appendUnescaped(r.column[:0], k[p.familyEnd:p.columnEnd-2])
		c = Cell{Row: row.Key, Family: r.m.plan.family.Name, Qualifier: r.column, Timestamp: p.timestamp, Type: p.typ, Value: value}
		v = r.take(row, &c, v)
	}
	r.advance(k, p, v)
	return nil
}

// valueOf returns the value under an iterator and the cell's TTL.
func valueOf(it *pebble.Iterator, tails bool) (value []byte, ttl int64, err error) {
	value, err = it.ValueAndErr()
	if err != nil || !tails {
		return value, NoTTL, err
	}
	return cutTTL(value)
}

// take passes the cell to the filter and keeps it if it is included.
func (r *Reader) take(row *Row, c *Cell, v Verdict) Verdict {
	if f := r.q.Filter; f != nil {
		if f.Done() {
			return NextRow
		}
		if v = r.m.filtered(v, f.Cell(c)); !v.Includes() {
			return v
		}
		f.Transform(c)
	}
	r.m.inRow++
	if r.q.StoreLimit >= 0 && r.m.inRow > r.q.StoreLimit+r.q.StoreOffset {
		return NextRow
	}
	if r.m.inRow > r.q.StoreOffset {
		c.Qualifier = row.keep(c.Qualifier)
		c.Value = row.keep(c.Value)
		row.Cells = append(row.Cells, *c)
	}
	return v
}

// advance moves as far as the verdict allows. In the column with the empty qualifier it only steps, because the family's delete markers are
// there.
func (r *Reader) advance(k []byte, p parsedKey, v Verdict) {
	switch v {
	case NextRow, IncludeAndNextRow:
		r.leaveFamily(k, p)
	case NextColumn, IncludeAndNextColumn:
		if p.columnEnd-p.familyEnd == 2 {
			r.it.Next()
			return
		}
		if w := r.m.plan.columns; w != nil && r.m.wanted < len(w) && bytes.Compare(r.m.column, w[r.m.wanted]) < 0 {
			r.bound = append(append(r.bound[:0], k[:p.familyEnd]...), w[r.m.wanted]...)
		} else {
			r.bound = append(append(r.bound[:0], k[:p.columnEnd]...), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"...)
		}
		r.forward()
	default:
		r.it.Next()
	}
}

func (r *Reader) leaveFamily(k []byte, p parsedKey) {
	r.bound = append(append(r.bound[:0], k[:p.familyEnd-1]...), familyNext)
	r.forward()
}

func (r *Reader) leaveRow() {
	r.bound = append(append(r.bound[:0], r.row...), afterAll)
	r.forward()
}

// forward moves to the first key that is not less than r.bound: in a few steps if it is near, otherwise by a seek.
func (r *Reader) forward() {
	for range 8 {
		if !r.it.Next() || bytes.Compare(r.it.Key(), r.bound) >= 0 {
			return
		}
	}
	r.it.SeekGE(r.bound)
}
