package plan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"brine/skew"
)

// Tie is two events of one version that disagree about one cell: the one applied last wins.
type Tie struct {
	Row     skew.Key `json:"row"`
	Version int64    `json:"version"`
	Events  [2]int64 `json:"events"` // their places in the sample
}

// ties finds the ties among the measured events, independently of the order of the events.
type ties struct {
	rows  []versionedRow
	cells map[uint64]versionedCell // by the hash of row, version and column
	cell  []byte                   // what is hashed
}

// versionedRow is what an event writes into one row.
type versionedRow struct {
	row     []byte
	version int64
	at      int64 // the event's place
}

// versionedCell is one version of a cell: of the values that events set it to, the two different ones with the smallest places. A sample
// has a million of them, so they are small and hold no pointers.
type versionedCell [2]versionedValue

type versionedValue struct {
	value uint64 // its hash
	row   int32  // 1 + the index of the row with the smallest place; 0: there is no such value
}

func newTies() ties { return ties{cells: map[uint64]versionedCell{}} }

func (t *ties) add(at int64, row []byte, version int64, all []Cell) {
	t.rows = append(t.rows, versionedRow{row, version, at})
	t.cell = binary.BigEndian.AppendUint64(t.cell[:0], uint64(version))
	t.cell = binary.BigEndian.AppendUint32(t.cell, uint32(len(row)))
	t.cell = append(t.cell, row...)
	prefix := len(t.cell)
	for _, c := range all {
		t.cell = append(append(append(t.cell[:prefix], c.Family...), ':'), c.Qualifier...)
		t.set(xxhash.Sum64(t.cell), xxhash.Sum64(c.Value), int32(len(t.rows)))
	}
}

// set adds a value of a cell. A dropped value was behind both that are held, and still is.
func (t *ties) set(cell, value uint64, row int32) {
	v := t.cells[cell]
	i := slices.IndexFunc(v[:], func(c versionedValue) bool { return c.row == 0 || c.value == value })
	if i < 0 {
		i = len(v) - 1
	}
	if v[i].row > 0 && t.at(v[i].row) <= t.at(row) {
		return
	}
	v[i] = versionedValue{value, row}
	if i > 0 && t.at(row) < t.at(v[0].row) {
		v[0], v[i] = v[i], v[0]
	}
	t.cells[cell] = v
}

func (t *ties) at(row int32) int64 { return t.rows[row-1].at }

func (t *ties) merge(o *ties) {
	before := int32(len(t.rows))
	t.rows = append(t.rows, o.rows...)
	for cell, values := range o.cells {
		for _, v := range values {
			if v.row > 0 {
				t.set(cell, v.value, before+v.row)
			}
		}
	}
}

// tied returns the number of rows that tie, and the tie whose second event is the first in the sample.
func (t *ties) tied() (n int, first *Tie) {
	rows := map[string]bool{}
	for _, v := range t.cells {
		if v[1].row == 0 {
			continue
		}
		a, b := t.rows[v[0].row-1], t.rows[v[1].row-1]
		rows[string(a.row)] = true
		if first == nil || cmp.Or(cmp.Compare(b.at, first.Events[1]), bytes.Compare(a.row, first.Row)) < 0 {
			first = &Tie{Row: skew.Key(a.row), Version: a.version, Events: [2]int64{a.at, b.at}}
		}
	}
	return len(rows), first
}
