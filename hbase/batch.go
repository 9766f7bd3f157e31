package hbase

import "context"

// CellType says what a cell does; the numbers are KeyValue's type codes.
type CellType uint8

// The types of cells.
const (
	Put                 CellType = 4
	Delete              CellType = 8  // exactly this version of a column
	DeleteFamilyVersion CellType = 10 // exactly this version of all columns of a family
	DeleteColumn        CellType = 12 // this and all older versions of a column
	DeleteFamily        CellType = 14 // this and all older versions of all columns of a family
)

// Cell is one cell as read.
type Cell struct {
	Row, Family, Qualifier, Value []byte
	Timestamp                     int64
	Type                          CellType
}

// Batch is an ordered list of mutations of one table, built in one buffer without an allocation per mutation:
//
//	b := hbase.NewBatch("logistics:scans")
//	b.Mutate(row)                                  // begins a mutation: an atomic change of one row
//	b.Put(family, qualifier, timestamp, value)     // adds a cell to it
//
// A mutation has either puts or deletes, not both. A Batch is used by one goroutine; after Submit it belongs to the client
// until its flight is done, and may then be Reset and used again.
type Batch struct {
	table string
	// the client's author decides how it is laid out
}

// NewBatch makes an empty batch for a table ("namespace:name", or "name" in the default namespace).
func NewBatch(table string) *Batch { return &Batch{table: table} }

// Table is the table that the batch is for.
func (b *Batch) Table() string { return b.table }

// Mutate begins a mutation of row; the cells that follow belong to it.
func (b *Batch) Mutate(row []byte) { panic("not implemented") }

// Put adds a cell to the current mutation. The bytes are copied.
func (b *Batch) Put(family, qualifier []byte, timestamp int64, value []byte) {
	panic("not implemented")
}

// Delete adds a delete marker of the given type to the current mutation.
func (b *Batch) Delete(t CellType, family, qualifier []byte, timestamp int64) {
	panic("not implemented")
}

// Len is the number of mutations.
func (b *Batch) Len() int { panic("not implemented") }

// Bytes is the encoded size of the cells.
func (b *Batch) Bytes() int { panic("not implemented") }

// Row is the row of mutation i.
func (b *Batch) Row(i int) []byte { panic("not implemented") }

// Reset empties the batch, keeping its buffer.
func (b *Batch) Reset(table string) { panic("not implemented") }

// Flight is a submitted batch until each of its mutations has its result.
type Flight struct{}

// Wait blocks until every mutation is durable or has failed for good, and gives nil or the failed ones in ascending order
// of Index. It returns ctx's error when ctx ends first; the flight goes on and may be waited for again.
func (f *Flight) Wait(ctx context.Context) ([]MutationError, error) { panic("not implemented") }

// MutationError is what became of one mutation that is not known to be durable.
type MutationError struct {
	Index    int    // in the batch
	Class    string // the server's exception class, empty for a connection's error
	Kind     Kind
	Attempts int
	Server   string
	Err      error
}

// Kind sorts failures by what the caller can do.
type Kind uint8

// The kinds of failure.
const (
	Transient Kind = iota + 1 // retries or time ran out, outcome unknown: submit again later
	Refused                   // do-not-retry by the server, cause not known to lie in the table: may be this mutation alone
	BadRow                    // this mutation alone can never be written: cell too large, row too long
	NoTable                   // no such table or family, table disabled
	Denied                    // access denied
	Closed                    // the client was closed before the mutation was sent
)

// Submit queues the batch's mutations in order into the lanes of their regions and returns their flight. It blocks only
// while the client's byte bound (Options.MaxBufferedBytes) is spent.
func (c *Client) Submit(ctx context.Context, b *Batch) *Flight { panic("not implemented") }
