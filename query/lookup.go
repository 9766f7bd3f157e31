package query

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"brine/hbase"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

// CheckLookup returns an error that names the field, if any, that prevents rows of t from leading to rows of other: each field of other's
// keys must be in all of t's keys, or be filled by a column.
func (t Table) CheckLookup(other Table) error {
	for _, to := range other.Keys {
		for _, name := range to.Key.Fields() {
			inColumn := slices.ContainsFunc(t.Columns, func(c Column) bool { return c.holds(name) })
			lacks := func(k rowkey.KeyFrom) bool { return !slices.Contains(k.Key.Fields(), name) }
			if slices.ContainsFunc(t.Keys, lacks) && !inColumn {
				return fmt.Errorf("the key %s of table %s contains %s, which rows of table %s do not", to.Key, other.Name, name, t.Name)
			}
		}
	}
	return nil
}

// Lookup returns, for each row of an answer, the row of another table whose key is made of its fields, with one batched get per up to
// searchPage rows. A row that does not exist has the state NoRow and only the fields of its key. So has one whose key cannot be made,
// because the row of the answer lacks a field; it has no Key. Rows that are marked deleted are included only if deleted.
func Lookup(ctx context.Context, c Client, other Table, answer iter.Seq2[Found, error], deleted bool) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		l := &lookup{client: c, table: other, deleted: deleted}
		for f, err := range answer {
			if err != nil {
				if l.give(ctx, yield) {
					yield(Found{}, err)
				}
				return
			}
			l.add(f)
			if len(l.from) == searchPage && !l.give(ctx, yield) {
				return
			}
		}
		l.give(ctx, yield)
	}
}

// lookup collects keys until they are read.
type lookup struct {
	client  Client
	table   Table
	deleted bool
	from    []Found
	keyless []bool   // for each row, whether it lacks a field of the key
	keys    [][]byte // for each other row, its keys under all of the table's
}

func (l *lookup) add(f Found) {
	keys, err := appendKeys(l.keys, l.table.Keys, f.keyValue)
	if err == nil {
		l.keys = keys
	}
	l.from, l.keyless = append(l.from, f), append(l.keyless, err != nil)
}

// nowhere returns what is shown for a row that lacks a field of the key.
func (l *lookup) nowhere(f *Found) Found {
	out := Found{Row: Row{From: l.table.Keys[len(l.table.Keys)-1].From}, State: NoRow, After: f.After}
	for _, name := range l.table.key().Fields() {
		out.Fields = append(out.Fields, Field{name, f.Value(name)})
	}
	return out
}

// keyValue returns a field of the row as a key takes it: the first that has a value, because a key that only hashes the field has none.
func (r *Row) keyValue(name string) rowkey.Value {
	v := r.Value(name)
	if v.Null() {
		return rowkey.Value{} // a key that needs it returns an error
	}
	return eventkey.Value(v)
}

// appendKeys appends the row key that fields make under each of keys.
func appendKeys(rows [][]byte, keys rowkey.Keys, value func(name string) rowkey.Value) ([][]byte, error) {
	for _, k := range keys {
		names := k.Key.Fields()
		values := make([]rowkey.Value, len(names))
		for i, name := range names {
			values[i] = value(name)
		}
		row, err := k.Key.Append(nil, values)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// give reads and yields what has been collected. It returns false if the caller wants no more.
func (l *lookup) give(ctx context.Context, yield func(Found, error) bool) bool {
	if len(l.from) == 0 {
		return true
	}
	var rows []Row
	var err error
	if len(l.keys) > 0 {
		rows, err = ByKey(ctx, l.client, l.table, l.keys)
	}
	if err != nil {
		yield(Found{}, err)
		return false
	}
	decoder, newest, at := newDecoder(l.table), len(l.table.Keys), 0
	for i := range l.from {
		if l.keyless[i] {
			if !yield(l.nowhere(&l.from[i]), nil) {
				return false
			}
			continue
		}
		f := Found{Row: rows[at], After: l.from[i].After}
		at++
		if f.Deleted && !l.deleted {
			continue
		}
		if len(f.Fields) == 0 {
			f.State = NoRow
			if f.Row, err = decoder.row(hbase.Result{Row: l.keys[at*newest-1]}, newest-1); err != nil {
				yield(Found{}, err)
				return false
			}
		}
		if !yield(f, nil) {
			return false
		}
	}
	l.from, l.keyless, l.keys = l.from[:0], l.keyless[:0], l.keys[:0]
	return true
}
