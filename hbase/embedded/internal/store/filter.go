package store

// Verdict is a filter's answer about one cell.
type Verdict uint8

// The verdicts, by how far they go on.
const (
	Include Verdict = iota
	Skip
	IncludeAndNextColumn
	NextColumn
	IncludeAndNextRow // of this family
	NextRow           // of this family
)

// Includes reports whether the cell is taken.
func (v Verdict) Includes() bool {
	return v == Include || v == IncludeAndNextColumn || v == IncludeAndNextRow
}

// Filter decides about rows and cells as HBase's filters do. It has state: one filter serves one scan of one region. For
// each row the calls are Reset, SkipRow, Cell for the cells that versions and delete markers leave, Transform for those
// that are taken, and DropRow.
type Filter interface {
	Reset()
	Done() bool              // nothing more is wanted
	SkipRow(row []byte) bool // by the row key alone
	Cell(c *Cell) Verdict
	Transform(c *Cell)
	DropCells(cells []Cell) []Cell // when the row is complete
	DropRow() bool                 // when the row is complete
	WholeRow() bool                // DropCells or DropRow need the whole row: no partial results
}

// FilterBase answers all calls of Filter with "take it"; filters embed it.
type FilterBase struct{}

// Reset does nothing.
func (FilterBase) Reset() {}

// Done is false.
func (FilterBase) Done() bool { return false }

// SkipRow is false.
func (FilterBase) SkipRow([]byte) bool { return false }

// Cell includes.
func (FilterBase) Cell(*Cell) Verdict { return Include }

// Transform leaves the cell as it is.
func (FilterBase) Transform(*Cell) {}

// DropCells keeps all.
func (FilterBase) DropCells(cells []Cell) []Cell { return cells }

// DropRow is false.
func (FilterBase) DropRow() bool { return false }

// WholeRow is false.
func (FilterBase) WholeRow() bool { return false }
