package rpc

import (
	"fmt"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// Result is the cells of one row in HBase's order; Cells is empty if the row does not exist.
type Result struct {
	Row   []byte
	Cells []wire.Cell
	Stale bool // from a replica, which may lack recent writes; only with Timeline
}

// DecodeResult returns the cells of a result, which are in the message or next in the cell block, and the rest of the block.
func DecodeResult(m *hbasepb.Result, block []byte) (r Result, rest []byte, err error) {
	r, rest, err = decodeCells(m, block)
	r.Stale = m.GetStale()
	return r, rest, err
}

// Results decodes the results of one answer, whose cells follow one another in one cell block.
type Results struct {
	block []byte
	cells chunks
}

// NewResults returns the results whose cells are in block.
func NewResults(block []byte) Results {
	return Results{block, chunks{left: len(block) / wire.CellSize(0, 0, 0, 0)}}
}

// Next decodes the next hbasepb.Result, encoded in b, as DecodeResult does. After an error there are no cells left.
func (s *Results) Next(b []byte) (r Result, err error) {
	block := s.block
	s.block = nil // without a result nobody knows whose cells are next
	head, err := wire.DecodeResultHead(b)
	if err != nil {
		return r, err
	}
	if head.Inline {
		m := new(hbasepb.Result)
		if err := proto.Unmarshal(b, m); err != nil {
			return r, err
		}
		r, s.block, err = DecodeResult(m, block)
		return r, err
	}
	r, s.block, err = takeCells(block, head.Cells, s.cells.take)
	r.Stale = head.Stale
	return r, err
}

// DecodeGet decodes the answer to a Get.
func DecodeGet(param, block []byte) (r Result, err error) {
	head, ok := wire.DecodeGetResponse(param)
	if !ok {
		m := new(hbasepb.GetResponse)
		if err := proto.Unmarshal(param, m); err != nil {
			return r, fmt.Errorf("to Get: %w", err)
		}
		r, _, err = DecodeResult(m.GetResult(), block)
		return r, err
	}
	r, _, err = takeCells(block, head.Cells, func(n int) []wire.Cell { return make([]wire.Cell, n) })
	r.Stale = head.Stale
	return r, err
}

func decodeCells(m *hbasepb.Result, block []byte) (r Result, rest []byte, err error) {
	n := len(m.GetCell())
	if n > 0 {
		r.Cells = make([]wire.Cell, n)
		for i, c := range m.Cell {
			r.Cells[i] = wire.Cell{
				Row: c.Row, Family: c.Family, Qualifier: c.Qualifier, Value: c.Value,
				Timestamp: int64(c.GetTimestamp()), Type: wire.CellType(c.GetCellType()),
			}
		}
		r.Row = r.Cells[0].Row
		return r, block, nil
	}
	return takeCells(block, int(m.GetAssociatedCellCount()), func(n int) []wire.Cell { return make([]wire.Cell, n) })
}

// takeCells decodes a row's n cells from the front of a cell block, into what room returns.
func takeCells(block []byte, n int, room func(n int) []wire.Cell) (r Result, rest []byte, err error) {
	if n <= 0 {
		return r, block, nil
	}
	if n > len(block)/wire.CellSize(0, 0, 0, 0) {
		return r, nil, fmt.Errorf("%w: %d cells announced in a block of %d bytes", wire.ErrMalformed, n, len(block))
	}
	r.Cells = room(n)
	for i := range r.Cells {
		if block, err = wire.NextCell(&r.Cells[i], block); err != nil {
			return r, nil, err
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
	most := len(block) / wire.CellSize(0, 0, 0, 0)
	pieces := make([]Piece, 0, min(len(m.CellsPerResult), most))
	cells := chunks{left: min(total(m.CellsPerResult), most)}
	for i, n := range m.CellsPerResult {
		if n == 0 {
			continue
		}
		r, rest, err := takeCells(block, int(n), cells.take)
		if err != nil {
			return nil, fmt.Errorf("row %d of scan: %w", i, err)
		}
		block, r.Stale = rest, m.GetStale()
		partial := i < len(m.PartialFlagPerResult) && m.PartialFlagPerResult[i]
		pieces = append(pieces, Piece{r, partial})
	}
	return pieces, nil
}

func total(counts []uint32) (n int) {
	for _, c := range counts {
		n += int(c)
	}
	return n
}

// chunks allocates the cells of an answer's rows: many rows at once, but not all, because the caller may keep one row for long.
type chunks struct {
	free []wire.Cell
	left int // cells of the answer that are not allocated yet, at most
}

const chunkCells = 128

func (c *chunks) take(n int) []wire.Cell {
	if n > len(c.free) {
		c.free = make([]wire.Cell, max(n, min(chunkCells, c.left)))
		c.left -= len(c.free)
	}
	cells := c.free[:n:n]
	c.free = c.free[n:]
	return cells
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
