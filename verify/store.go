package verify

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
)

// Store reads a table or an index. It is safe for concurrent use.
type Store interface {
	// Splits returns keys that cut the store into ranges of work, ascending.
	Splits(ctx context.Context) ([][]byte, error)
	// Get returns the cells of each key, and none for a row that does not exist.
	Get(ctx context.Context, keys [][]byte) ([][]Cell, error)
	// Scan returns the rows from one key up to another, in order; an empty key means the end of the store. A row is valid until the next one.
	Scan(ctx context.Context, from, to []byte) iter.Seq2[Row, error]
	// Remove deletes cells, each with the older ones of its column.
	Remove(ctx context.Context, key []byte, cells []Cell) error
}

// Row is what a store holds under a key.
type Row struct {
	Key   []byte
	Cells []Cell
}

// Cell is the newest cell of a column: family:qualifier, or :field of a document.
type Cell struct {
	Column  []byte
	Version int64
	Value   uint64 // hash
}

func newest(cells []Cell) int64 {
	version := int64(-1)
	for i := range cells {
		version = max(version, cells[i].Version)
	}
	return version
}

// clone copies cells out of a row.
func clone(cells []Cell) []Cell {
	out := slices.Clone(cells)
	for i := range out {
		out[i].Column = bytes.Clone(out[i].Column)
	}
	return out
}

// columnText formats a column for people.
func columnText(column []byte) string { return strings.TrimPrefix(string(column), ":") }
