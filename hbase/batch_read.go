package hbase

import (
	"fmt"
	"iter"

	"brine/hbase/internal/wire"
)

// Cells returns the cells of mutation i as they were added. What they hold lasts as long as the batch.
func (b *Batch) Cells(i int) iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		for block := b.cellsOf(i); len(block) > 0; {
			c, rest, err := wire.NextCell(block)
			if err != nil {
				panic(fmt.Sprintf("BUG: hbase: a batch holds no cells: %v", err))
			}
			if !yield(Cell{Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value, Timestamp: c.Timestamp, Type: CellType(c.Type)}) {
				return
			}
			block = rest
		}
	}
}

// TTLOf is what TTL has set for mutation i, in ms; 0: nothing.
func (b *Batch) TTLOf(i int) int64 { return b.mutations[i].ttl }
