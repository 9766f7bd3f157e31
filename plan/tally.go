package plan

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"

	"brine/rowkey"
)

// Table describes a table to a plan.
type Table struct {
	Name      string
	Key       *rowkey.Key
	EventRows bool     // each event is its own row, so that two on one key are a collision
	TieFix    string   // what to do about changes that tie; see event.Schema
	Masked    string   // replaces values of the key where they are shown; empty: they are shown
	Splits    [][]byte // the actual or configured ones, in ascending order
	Families  []Family
}

// Family describes how the cells of a family are stored on disk.
type Family struct {
	Name      string
	Codec     string // none gz snappy lz4 lzo zstd
	BlockSize int    // bytes before compression
}

// Tally counts the rows of sampled events of one table. It is not safe for concurrent use: workers have one each, merged at the end.
type Tally struct {
	table  Table
	events int
	last   int64   // the place of the last event
	writes []int64 // by region
	seen   distinct
	kept   kept
	cells  cells
	ties   ties
}

// NewTally returns an empty Tally.
func NewTally(t Table) *Tally {
	return &Tally{table: t, writes: make([]int64, len(t.Splits)+1), seen: newDistinct(maxDistinct), kept: kept{limit: maxKept},
		cells: newCells(t.Families), ties: newTies()}
}

// MeasuredEvents is the number of events whose cells are to be passed to AddCells: the first ones of a sample.
const MeasuredEvents = 1 << 16

// Add counts a row of the event at a place of the sample: its line, or any number that orders the events. If the event has several rows,
// they are added consecutively. content is the event's content: two events with one row and different contents collide. Add does not retain
// row.
func (t *Tally) Add(at int64, row, content []byte) {
	region := regionOf(t.table.Splits, row)
	if t.events == 0 || at != t.last {
		t.events, t.last = t.events+1, at
	}
	t.writes[region]++
	hash := xxhash.Sum64(row)
	// A row that the set drops is none of those with the smallest hashes, of which the set has more than are kept.
	if t.seen.add(hash, mark{content: xxhash.Sum64(content), at: at, region: uint32(region)}) {
		t.kept.add(hash, row)
	}
}

// AddCells measures the cells that the event at a place writes into its row, and finds those that tie with another event's.
func (t *Tally) AddCells(at int64, row []byte, version int64, all []Cell) {
	row = bytes.Clone(row)
	t.cells.add(row, version, all)
	if !t.table.EventRows {
		t.ties.add(at, row, version, all)
	}
}

// Merge adds the counts of another Tally of the same table, which must not be used afterwards.
func (t *Tally) Merge(o *Tally) {
	t.events += o.events
	for i, n := range o.writes {
		t.writes[i] += n
	}
	t.seen.merge(&o.seen)
	t.kept.merge(&o.kept)
	t.cells.merge(&o.cells)
	t.ties.merge(&o.ties)
}

// regionOf returns the region of a row; a split point is the first row of its region.
func regionOf(splits [][]byte, row []byte) int {
	i, found := slices.BinarySearchFunc(splits, row, bytes.Compare)
	if found {
		i++
	}
	return i
}
