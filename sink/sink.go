// Package sink is the Writer for HBase: it turns events into mutations and batches of them into flights. cmd/brine joins
// it to the ingest loop.
//
// The invariant: a mutation is a pure function of its event, and every cell's timestamp is the event's version; so applying
// it again, late or after an unknown outcome changes nothing.
package sink

import (
	"time"

	"brine/event"
	"brine/rowkey"
)

// RowKind says what a row of a table is.
type RowKind string

// The kinds of row.
const (
	RowEvent  RowKind = "event"  // each event its own row: two different events on one key are a collision
	RowEntity RowKind = "entity" // the changes of one entity meet in one row, cell by cell, by version
)

// Table is a table that events are written to.
type Table struct {
	Name string
	Row  RowKind
	Key  *rowkey.Key
	TTL  map[string]time.Duration // by family; absent means for ever
}

// Column maps a field of the event to a column.
type Column struct {
	Family, Qualifier string
	Field             string
}

// Rows says which rows an event becomes in one table.
type Rows struct {
	Table   Table
	Columns []Column
}

// Options configure a sink.
type Options struct {
	Schema event.Schema
	Rows   []Rows
	Hooks  Hooks
}

// Hooks are told what the sink does; a nil hook is not called.
type Hooks struct {
	Collision func(table string, row []byte)                // two different events on one key of a RowEvent table
	Expired   func(table, family string, rec *event.Record) // older than its family's TTL: HBase hides it as it is written
	Tie       func(table string)                            // equal versions of one cell in one batch: the last applied wins
}
