// Package query reads what brine has written, decoded back into fields: rows by the fields of their key, and rows whose documents a search
// index finds. It also has views, which are kinds of question that are known to have an answer before anyone asks. A service can import it
// to read the same tables.
//
// The invariant: a query reads no row that it does not return, except those that are marked deleted. The key or the index determines which
// rows to read. A question that neither can answer is refused, with the missing field.
package query

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
)

// Client is what reading needs of HBase; *hbase.Client implements it.
type Client interface {
	Scan(ctx context.Context, table string, s hbase.Scan) iter.Seq2[hbase.Result, error]
	GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error)
}

// Table describes how to read a table's rows back.
type Table struct {
	Name    string
	Keys    rowkey.Keys // a row is read by the key for its cells' versions
	Columns []Column
	Deleted string // the Bool field that marks a row as deleted if true; empty: none does
	State   string // the field that holds the state of rows, for commands; empty: none does
	Index   *Index // nil: the rows have no documents

	Whole []Column // all Columns of a table that Families has narrowed; otherwise nil
}

// Column is a column and the field or fields that it was written from. A Column without a Qualifier is the empty cell of rows that consist
// only of their keys: it has no field.
type Column struct {
	Family, Qualifier string
	Field             string
	Type              event.Type
	Pack              *event.Pack // instead of Field and Type: the fields that share the cell
	Members           bool        // all other columns of the family whose names begin with Qualifier: the members of Field, one text each
}

// Row is one decoded row.
type Row struct {
	Key     []byte
	From    int64   // of its key, in the table's Keys
	Version int64   // the newest cell's timestamp
	Fields  []Field // the key's fields in the key's order, then the columns in the table's order, a packed one as its fields
	Deleted bool    // it is marked deleted

	StateVersion int64 // in a table with a State: the newest version of that and of the mark for deleted rows
}

// Field is a named value. It is null for a column without a cell, and for a field that the key only hashes.
type Field struct {
	Name  string
	Value event.Value
}

// Value returns the value of a field, which the key and several columns may hold: the first that is not null.
func (r *Row) Value(name string) event.Value {
	for i := range r.Fields {
		if r.Fields[i].Name == name && !r.Fields[i].Value.Null() {
			return r.Fields[i].Value
		}
	}
	return event.Value{}
}

// Options limit an answer.
type Options struct {
	Limit   int   // the most rows; 0 means all
	Deleted bool  // include rows that are marked deleted
	After   Token // continue after this row
	Cost    *Cost // is increased by the cost; nil: not counted
}

// Cost is what an answer of the key has cost. It is complete when the loop over the answer has ended.
type Cost struct {
	Rows     int // returned
	Read     int // by the servers, as they count: at most Rows, plus rows that are hidden, or read ahead and not used
	Calls    int // answered
	Scanners int // opened, at least one per region

	// Only for a Selection.
	Regions int           // that were read
	Bytes   int64         // of the rows that arrived
	Dropped int64         // about the bytes of the rows that filters of HBase dropped; only counted if the selection is bounded
	Waited  time.Duration // for rows
}

// Rows returns the rows whose key fields satisfy where, in key order. where must bind a left-most set of the key's fields. If where does
// not determine the salt, the buckets are read in parallel and merged. So are the rows of several keys, in the order of what where leaves
// open, which must be the same for each key. An entity with a row under each key is one row, with the newest cells.
func Rows(ctx context.Context, c Client, t Table, where map[string]rowkey.Bound, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		buckets, joins, err := t.buckets(where, o.After)
		if err != nil {
			yield(Row{}, err)
			return
		}
		t.rows(ctx, c, buckets, joins, o)(yield)
	}
}

// rows returns the rows in buckets, as Rows does for those of where and o.After.
func (t Table) rows(ctx context.Context, c Client, buckets []bucket, joins bool, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		r := &reading{client: c, table: t, columns: t.columns(), joins: joins, limit: o.Limit}
		defer r.account(o.Cost)
		decoder := newDecoder(t)
		for result, err := range r.results(ctx, buckets) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			row, err := decoder.row(result.Result, result.key)
			if err == nil && row.Deleted && !o.Deleted {
				continue
			}
			r.given++
			if !yield(row, err) || err != nil || r.given == o.Limit {
				return
			}
		}
	}
}

// ByKey reads rows by their keys in one batched get. keys holds, row by row, the keys of the row under all of Table.Keys. A row that does
// not exist has no Fields; a row under several keys has the newest cells of all.
func ByKey(ctx context.Context, c Client, t Table, keys [][]byte) ([]Row, error) {
	gets, columns := make([]hbase.Get, len(keys)), t.columns()
	for i, k := range keys {
		gets[i] = hbase.Get{Row: k, Columns: columns}
		gets[i].From, gets[i].To = t.Keys.Versions(i % len(t.Keys))
	}
	results, err := c.GetAll(ctx, t.Name, gets)
	if err != nil {
		return nil, err
	}
	rows, decoder := make([]Row, len(results)/len(t.Keys)), newDecoder(t)
	for i := range rows {
		at := i * len(t.Keys)
		if rows[i], err = decoder.joined(keys[at], results[at:at+len(t.Keys)]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Families returns the table with only the columns of some families, the one that marks rows as deleted, and the one with their state: a
// list reads less than a view of the whole row. Rows without cells in these columns are not found.
func (t Table) Families(names []string) (Table, error) {
	var columns []Column
	var has []string
	for _, c := range t.Columns {
		if !slices.Contains(has, c.Family) {
			has = append(has, c.Family)
		}
		if slices.Contains(names, c.Family) || t.stands(c) {
			columns = append(columns, c)
		}
	}
	for _, name := range names {
		if !slices.Contains(has, name) {
			return t, fmt.Errorf("no pipeline writes family %s of table %s; there is %s", name, t.Name, strings.Join(has, ", "))
		}
	}
	if t.Whole == nil {
		t.Whole = t.Columns
	}
	t.Columns = columns
	return t, nil
}

// stands reports whether a column holds the state of a row, or whether it is deleted.
func (t Table) stands(c Column) bool {
	return t.Deleted != "" && c.holds(t.Deleted) || t.State != "" && c.holds(t.State)
}

func (c Column) holds(field string) bool {
	return c.Field == field || c.Pack != nil && slices.ContainsFunc(c.Pack.Fields, func(f event.PackedField) bool { return f.Field == field })
}

func (t Table) columns() []hbase.Column {
	cols := make([]hbase.Column, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = hbase.Column{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier)}
		if c.Members {
			cols[i].Qualifier = nil // the whole family
		}
	}
	return cols
}
