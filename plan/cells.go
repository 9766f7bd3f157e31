package plan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// Cell is one cell of a row, as it would be written.
type Cell struct {
	Family, Qualifier string
	Value             []byte
}

// cellOverhead is the size of a cell without its row, family, qualifier and value. A KeyValue is
//
//	int32 key length, int32 value length, int16 row length, row, int8 family length, family, qualifier, int64 timestamp, int8 type, value
const cellOverhead = 4 + 4 + 2 + 1 + 8 + 1

// RowSize is the size of a row before compression: means over the measured rows.
type RowSize struct {
	Measured  int     `json:"measured_rows"`
	Cells     float64 `json:"cells"`
	Bytes     float64 `json:"bytes"`
	Key       float64 `json:"key_bytes_per_cell"`
	Family    float64 `json:"family_bytes_per_cell"`
	Qualifier float64 `json:"qualifier_bytes_per_cell"`
	Overhead  float64 `json:"overhead_bytes_per_cell"` // lengths, timestamp and type
	Value     float64 `json:"value_bytes_per_cell"`
}

// cells holds the cells of the measured rows: at most MeasuredEvents rows over all Tallies.
type cells struct {
	families []Family
	rows     []measured
	sums     struct{ cells, key, family, qualifier, value int }
}

// measured holds the cells that one event writes into a row, as the KeyValues of each family.
type measured struct {
	row      []byte
	families [][]byte // by position in the table's families
}

func newCells(families []Family) cells { return cells{families: families} }

// add stores the row.
func (c *cells) add(row []byte, version int64, all []Cell) {
	size := 0
	for _, cell := range all {
		c.sums.cells++
		c.sums.key += len(row)
		c.sums.family += len(cell.Family)
		c.sums.qualifier += len(cell.Qualifier)
		c.sums.value += len(cell.Value)
		size += cellOverhead + len(row) + len(cell.Family) + len(cell.Qualifier) + len(cell.Value)
	}
	m := measured{row: row, families: make([][]byte, len(c.families))}
	stored := make([]byte, 0, size) // of all families
	for i, f := range c.families {
		begin := len(stored)
		for _, cell := range all {
			if cell.Family == f.Name {
				stored = appendKeyValue(stored, row, version, cell)
			}
		}
		m.families[i] = stored[begin:]
	}
	c.rows = append(c.rows, m)
}

func (c *cells) merge(o *cells) {
	c.rows = append(c.rows, o.rows...)
	c.sums.cells += o.sums.cells
	c.sums.key += o.sums.key
	c.sums.family += o.sums.family
	c.sums.qualifier += o.sums.qualifier
	c.sums.value += o.sums.value
}

func (c *cells) size() RowSize {
	rows, n := float64(max(1, len(c.rows))), float64(max(1, c.sums.cells))
	s := RowSize{
		Measured: len(c.rows), Cells: float64(c.sums.cells) / rows, Overhead: cellOverhead,
		Key: float64(c.sums.key) / n, Family: float64(c.sums.family) / n, Qualifier: float64(c.sums.qualifier) / n,
		Value: float64(c.sums.value) / n,
	}
	s.Bytes = s.Cells * (s.Overhead + s.Key + s.Family + s.Qualifier + s.Value)
	return s
}

func appendKeyValue(dst, row []byte, version int64, c Cell) []byte {
	keyLength := 2 + len(row) + 1 + len(c.Family) + len(c.Qualifier) + 8 + 1
	dst = binary.BigEndian.AppendUint32(dst, uint32(keyLength))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Value)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(row)))
	dst = append(dst, row...)
	dst = append(dst, byte(len(c.Family)))
	dst = append(dst, c.Family...)
	dst = append(dst, c.Qualifier...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(version))
	dst = append(dst, 4) // Put
	return append(dst, c.Value...)
}

// Packing is the result of compressing a family's cells.
type Packing struct {
	Family string  `json:"family"`
	Codec  string  `json:"codec"`
	As     string  `json:"measured_as,omitempty"` // another codec that was measured instead
	Before int     `json:"bytes_before"`
	After  int     `json:"bytes_after"`
	Ratio  float64 `json:"ratio"` // before ÷ after; 1 if nothing was measured
}

// pack compresses the measured cells in the order of an HFile: by key, block by block.
func (c *cells) pack() []Packing {
	slices.SortStableFunc(c.rows, func(a, b measured) int {
		if n := bytes.Compare(a.row, b.row); n != 0 {
			return n
		}
		return slices.CompareFunc(a.families, b.families, bytes.Compare)
	})
	out := make([]Packing, len(c.families))
	for i, f := range c.families {
		compress, as := codec(f.Codec)
		p := Packing{Family: f.Name, Codec: cmp.Or(f.Codec, "none"), As: as, Ratio: 1}
		var block []byte
		flush := func() {
			if len(block) > 0 {
				p.Before += len(block)
				p.After += compress(block)
				block = block[:0]
			}
		}
		for _, r := range c.rows {
			if block = append(block, r.families[i]...); len(block) >= max(f.BlockSize, 1<<10) {
				flush()
			}
		}
		flush()
		if p.After > 0 {
			p.Ratio = float64(p.Before) / float64(p.After)
		}
		out[i] = p
	}
	return out
}
