// Package query reads what brine has written, decoded back into fields: rows by the fields of their key, and rows whose
// documents a search index finds; and views, which are kinds of question that are known to have an answer before anyone asks.
// A service that wants to read the same tables can import it.
//
// The invariant: a query reads no row that it does not return, but for those that are marked deleted. Which rows to read
// follows from the key, or from the index; what neither can answer is refused with the field that is missing.
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

// Client is what reading needs of HBase; *hbase.Client is one.
type Client interface {
	Scan(ctx context.Context, table string, s hbase.Scan) iter.Seq2[hbase.Result, error]
	GetAll(ctx context.Context, table string, gets []hbase.Get) ([]hbase.Result, error)
}

// Table is how a table's rows are read back.
type Table struct {
	Name    string
	Keys    rowkey.Keys // a row is read by the key of its cells' versions
	Columns []Column
	Deleted string // the Bool field that marks a row as deleted when it is true; empty: none does
	State   string // the field that holds the state of rows, for commands; empty: they have none
	Index   *Index // nil: no documents stand beside the rows

	Whole []Column // the Columns of a table that Families has made narrow; nil of any other
}

// Column is a column and the field, or fields, that it was written from. One without a Qualifier is the empty cell of rows that
// say all by their keys: it gives no field.
type Column struct {
	Family, Qualifier string
	Field             string
	Type              event.Type
	Pack              *event.Pack // instead of Field and Type: the fields that share the cell
	Members           bool        // all other columns of the family whose names begin with Qualifier: the members of Field, a text each
}

// Row is one decoded row.
type Row struct {
	Key     []byte
	From    int64   // of its key, in the table's Keys
	Version int64   // the newest cell's timestamp
	Fields  []Field // the key's fields in the key's order, then the columns in the table's, a packed one as its fields
	Deleted bool    // it is marked deleted

	StateVersion int64 // of a table with a State: the newest cell of it and of what marks rows as deleted
}

// Field is a named value; a null value is a column without a cell, or a field that the key holds only hashed.
type Field struct {
	Name  string
	Value event.Value
}

// Options say how much of an answer is wanted.
type Options struct {
	Limit   int   // most rows; 0 means all
	Deleted bool  // also rows that are marked deleted
	After   Token // go on behind this row
	Cost    *Cost // counted up; nil: not counted
}

// Cost is what an answer of the key has cost. It is whole when the loop over the answer has ended.
type Cost struct {
	Rows     int // given
	Read     int // by the servers, as they count: no more than Rows, but for rows that are hidden, or read ahead and not taken
	Calls    int // answered
	Scanners int // opened, at least one in each region

	// Of a Selection only.
	Regions int           // that were read
	Bytes   int64         // of the rows that were read
	Waited  time.Duration // for rows
}

// Rows returns the rows whose key fields satisfy where, in key order. Where must bind a left-most set of the key's fields.
// With a salt that where does not decide, the buckets are read side by side and merged. So are the rows of several keys, in the order
// of what where leaves open, which each key must have alike; an entity that has a row under each is one row, whose newest cells are given.
func Rows(ctx context.Context, c Client, t Table, where map[string]rowkey.Bound, o Options) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		buckets, joins, err := t.buckets(where, o.After)
		if err != nil {
			yield(Row{}, err)
			return
		}
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

// ByKey reads rows by their keys in one batched get: of each row its keys under all of Table.Keys, one behind the other. A row
// that is not there has no Fields; one that is there under several keys has the newest cells of all.
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

// Families is the table with no columns but those of some families, the one that marks rows as deleted and that of their state: a list
// reads less than what shows a row whole. Rows that have nothing in these columns are not found.
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
			return t, fmt.Errorf("nothing is written into a family %s of table %s; there is %s", name, t.Name, strings.Join(has, ", "))
		}
	}
	if t.Whole == nil {
		t.Whole = t.Columns
	}
	t.Columns = columns
	return t, nil
}

// stands reports whether a column says how a row stands: in which state, and whether it is deleted.
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
