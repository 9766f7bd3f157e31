package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// Cells returns the cells of mutation i as they were added. They are valid as long as the batch.
func (b *Batch) Cells(i int) iter.Seq[wire.Cell] {
	return func(yield func(wire.Cell) bool) {
		for block := b.cellsOf(i); len(block) > 0; {
			var c wire.Cell
			if c, block = nextCell(block); !yield(c) {
				return
			}
		}
	}
}

// AppendCells appends the cells that Cells returns. It does not allocate if dst has room; a loop over Cells does, for its closures.
func (b *Batch) AppendCells(dst []wire.Cell, i int) []wire.Cell {
	for block := b.cellsOf(i); len(block) > 0; {
		var c wire.Cell
		c, block = nextCell(block)
		dst = append(dst, c)
	}
	return dst
}

func nextCell(block []byte) (c wire.Cell, rest []byte) {
	rest, err := wire.NextCell(&c, block)
	if err != nil {
		panic(fmt.Sprintf("BUG: hbase: a batch holds no cells: %v", err))
	}
	return c, rest
}

// TTLOf returns the TTL of mutation i in ms, or 0 if not set.
func (b *Batch) TTLOf(i int) int64 { return b.mutations[i].ttl }

// RowAction returns a batch as one atomic action on its row, and the cells for the cell block.
func RowAction(b *Batch, maxCellBytes int) (action *hbasepb.RegionAction, cells []byte, err error) {
	if b.Len() == 0 {
		return nil, nil, errors.New("the batch is empty")
	}
	action = &hbasepb.RegionAction{Atomic: proto.Bool(true)}
	for i := range b.mutations {
		if err := b.check(i, maxCellBytes); err != nil {
			return nil, nil, fmt.Errorf("mutation %d: %w", i, err)
		}
		if !bytes.Equal(b.Row(i), b.Row(0)) {
			return nil, nil, fmt.Errorf("mutation %d is for row %q, but the first is for row %q: all must be for one row", i, b.Row(i), b.Row(0))
		}
		kind := hbasepb.MutationProto_PUT
		if b.mutations[i].delete {
			kind = hbasepb.MutationProto_DELETE
		}
		action.Action = append(action.Action, &hbasepb.Action{Index: proto.Uint32(uint32(i)), Mutation: &hbasepb.MutationProto{
			Row: b.Row(0), MutateType: &kind, AssociatedCellCount: proto.Int32(b.mutations[i].count),
		}})
	}
	return action, b.cells, nil
}
