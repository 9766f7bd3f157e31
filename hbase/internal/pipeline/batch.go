package pipeline

import (
	"errors"
	"fmt"

	"brine/hbase/internal/wire"
)

// Batch is an ordered list of mutations of one table, built in one buffer without an allocation per mutation:
//
//	b := hbase.NewBatch("logistics:scans")
//	b.Mutate(row)                                  // begins a mutation: an atomic change of one row
//	b.Put(family, qualifier, timestamp, value)     // adds a cell to it
//
// The puts and deletes of a mutation are applied atomically. Only one goroutine may use a Batch. After Submit, it belongs to the client
// until its flight is done; then it may be Reset and used again.
type Batch struct {
	table     string
	cells     []byte // cells of all mutations, in order and in the format of the wire's cell block
	rows      []byte // rows of the mutations, concatenated
	mutations []mutation
}

// mutation locates one mutation's parts in the buffers of its batch.
type mutation struct {
	cells, cellsEnd int
	row, rowEnd     int
	count           int32 // number of cells
	largest         int32 // KeyValue bytes of the largest cell
	ttl             int64 // of its cells, in ms; 0: not set
	delete          bool  // only deletes; to HBase, a mutation with a put is a put, which may contain delete markers
	fault           fault
}

// fault is why a mutation can never be written. Submit reports it as the mutation's result.
type fault uint8

const (
	noFault fault = iota
	emptyRow
	longRow
	longFamily
	noMutation
)

var faults = map[fault]error{
	emptyRow:   errors.New("the row is empty"),
	longRow:    fmt.Errorf("the row is longer than %d bytes", wire.MaxRowLen),
	longFamily: fmt.Errorf("a family is longer than %d bytes", wire.MaxFamilyLen),
	noMutation: errors.New("the mutation has no cells"),
}

// NewBatch returns an empty batch for a table ("namespace:name", or "name" in the default namespace).
func NewBatch(table string) *Batch { return &Batch{table: table} }

// Table returns the batch's table.
func (b *Batch) Table() string { return b.table }

// Mutate begins a mutation of row. The cells added next belong to it.
func (b *Batch) Mutate(row []byte) {
	m := mutation{cells: len(b.cells), cellsEnd: len(b.cells), row: len(b.rows)}
	switch {
	case len(row) == 0:
		m.fault = emptyRow
	case len(row) > wire.MaxRowLen:
		m.fault = longRow
	}
	b.rows = append(b.rows, row...)
	m.rowEnd = len(b.rows)
	b.mutations = append(b.mutations, m)
}

// Put adds a cell to the current mutation. It copies the bytes.
func (b *Batch) Put(family, qualifier []byte, timestamp int64, value []byte) {
	b.add(wire.Cell{Family: family, Qualifier: qualifier, Timestamp: timestamp, Type: wire.Put, Value: value})
}

// TTL makes all cells of the current mutation expire the given number of milliseconds after their timestamps, unless their family's TTL is
// shorter; 0 means the family's TTL. Delete markers expire too, and what they hid reappears.
func (b *Batch) TTL(ms int64) {
	if n := len(b.mutations); n > 0 {
		b.mutations[n-1].ttl = ms
	}
}

// Delete adds a delete marker of the given type to the current mutation.
func (b *Batch) Delete(t wire.CellType, family, qualifier []byte, timestamp int64) {
	b.add(wire.Cell{Family: family, Qualifier: qualifier, Timestamp: timestamp, Type: t})
}

func (b *Batch) add(c wire.Cell) {
	if len(b.mutations) == 0 {
		b.Mutate(nil) // cells before the first Mutate: a mutation with an empty row, which Submit rejects
	}
	m := &b.mutations[len(b.mutations)-1]
	isDelete := c.Type != wire.Put
	if len(c.Family) > wire.MaxFamilyLen {
		m.fault = longFamily
	}
	if m.fault != noFault {
		return
	}
	c.Row = b.rows[m.row:m.rowEnd]
	b.cells = wire.AppendCell(b.cells, c)
	m.delete = isDelete && (m.count == 0 || m.delete)
	m.count++
	m.largest = max(m.largest, int32(len(b.cells)-m.cellsEnd-wire.PrefixLen))
	m.cellsEnd = len(b.cells)
}

// Len returns the number of mutations.
func (b *Batch) Len() int { return len(b.mutations) }

// Bytes returns the encoded size of the cells.
func (b *Batch) Bytes() int { return len(b.cells) }

// Row returns the row of mutation i.
func (b *Batch) Row(i int) []byte {
	m := &b.mutations[i]
	return b.rows[m.row:m.rowEnd:m.rowEnd]
}

// size returns what mutation i counts against the byte bounds.
func (b *Batch) size(i int) int { return b.mutations[i].cellsEnd - b.mutations[i].cells }

func (b *Batch) cellsOf(i int) []byte { return b.cells[b.mutations[i].cells:b.mutations[i].cellsEnd] }

// check returns why mutation i can never be written, or nil.
func (b *Batch) check(i, maxCellBytes int) error {
	m := &b.mutations[i]
	switch {
	case m.fault != noFault:
		return faults[m.fault]
	case m.count == 0:
		return faults[noMutation]
	case int(m.largest) > maxCellBytes:
		return fmt.Errorf("a cell of %d bytes, but MaxCellBytes is %d", m.largest, maxCellBytes)
	}
	return nil
}

// only returns a batch of the given mutations with its own buffers.
func (b *Batch) only(indexes []int32) *Batch {
	to := &Batch{table: b.table, mutations: make([]mutation, 0, len(indexes))}
	for _, i := range indexes {
		m := b.mutations[i]
		m.row, m.cells = len(to.rows), len(to.cells)
		to.rows = append(to.rows, b.Row(int(i))...)
		to.cells = append(to.cells, b.cellsOf(int(i))...)
		m.rowEnd, m.cellsEnd = len(to.rows), len(to.cells)
		to.mutations = append(to.mutations, m)
	}
	return to
}

// Reset empties the batch and keeps its buffers.
func (b *Batch) Reset(table string) {
	b.table = table
	b.cells, b.rows, b.mutations = b.cells[:0], b.rows[:0], b.mutations[:0]
}
