package rpc

import (
	"fmt"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"
)

// CellType is what a cell does. The numbers are the type codes of KeyValue.
type CellType uint8

// The cell types.
const (
	Put                 CellType = 4
	Delete              CellType = 8  // exactly this version of a column
	DeleteFamilyVersion CellType = 10 // exactly this version of all columns of a family
	DeleteColumn        CellType = 12 // this and all older versions of a column
	DeleteFamily        CellType = 14 // this and all older versions of all columns of a family
)

// Cell is a cell as read.
type Cell struct {
	Row, Family, Qualifier, Value []byte
	Timestamp                     int64
	Type                          CellType
}

// Result is the cells of one row in HBase's order; Cells is empty if the row does not exist.
type Result struct {
	Row   []byte
	Cells []Cell
	Stale bool // from a replica, which may lack recent writes; only with Timeline
}

// DecodeResult returns the cells of a result, which are in the message or next in the cell block, and the rest of the block.
func DecodeResult(m *hbasepb.Result, block []byte) (r Result, rest []byte, err error) {
	r, rest, err = decodeCells(m, block)
	r.Stale = m.GetStale()
	return r, rest, err
}

func decodeCells(m *hbasepb.Result, block []byte) (r Result, rest []byte, err error) {
	n := len(m.GetCell())
	if n > 0 {
		r.Cells = make([]Cell, n)
		for i, c := range m.Cell {
			r.Cells[i] = Cell{
				Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value,
				Timestamp: int64(c.GetTimestamp()), Type: CellType(c.GetCellType()),
			}
		}
		r.Row = r.Cells[0].Row
		return r, block, nil
	}
	return takeCells(block, int(m.GetAssociatedCellCount()))
}

// takeCells decodes a row's n cells from the front of a cell block.
func takeCells(block []byte, n int) (r Result, rest []byte, err error) {
	if n <= 0 {
		return r, block, nil
	}
	if n > len(block)/wire.CellSize(0, 0, 0, 0) {
		return r, nil, fmt.Errorf("%w: %d cells announced in a block of %d bytes", wire.ErrMalformed, n, len(block))
	}
	r.Cells = make([]Cell, n)
	for i := range r.Cells {
		var c wire.Cell
		if c, block, err = wire.NextCell(block); err != nil {
			return r, nil, err
		}
		r.Cells[i] = Cell{
			Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value,
			Timestamp: c.Timestamp, Type: CellType(c.Type),
		}
	}
	r.Row = r.Cells[0].Row
	return r, block, nil
}

// Piece is a row or a part of a row in a scan's answer.
type Piece struct {
	Result
	Partial bool // more cells of the row follow
}

// DecodeScan returns the rows of a scan's answer.
func DecodeScan(m *hbasepb.ScanResponse, block []byte) ([]Piece, error) {
	if len(m.CellsPerResult) == 0 {
		return scanResultMessages(m, block)
	}
	// HBase does not send rows without cells; each would cost a Piece for one byte of the answer.
	pieces := make([]Piece, 0, min(len(m.CellsPerResult), len(block)/wire.CellSize(0, 0, 0, 0)))
	for i, n := range m.CellsPerResult {
		if n == 0 {
			continue
		}
		r, rest, err := takeCells(block, int(n))
		if err != nil {
			return nil, fmt.Errorf("row %d of scan: %w", i, err)
		}
		block, r.Stale = rest, m.GetStale()
		partial := i < len(m.PartialFlagPerResult) && m.PartialFlagPerResult[i]
		pieces = append(pieces, Piece{r, partial})
	}
	return pieces, nil
}

func scanResultMessages(m *hbasepb.ScanResponse, block []byte) ([]Piece, error) {
	pieces := make([]Piece, 0, len(m.Results))
	for i, message := range m.Results {
		r, rest, err := DecodeResult(message, block)
		if err != nil {
			return nil, fmt.Errorf("row %d of scan: %w", i, err)
		}
		block, r.Stale = rest, m.GetStale()
		pieces = append(pieces, Piece{r, message.GetPartial()})
	}
	return pieces, nil
}
