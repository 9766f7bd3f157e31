package store

// Verdict is a filter's decision about a cell.
type Verdict uint8

// The verdicts, ordered by how far they advance.
const (
	Include Verdict = iota
	Skip
	IncludeAndNextColumn
	NextColumn
	IncludeAndNextRow // of this family
	NextRow           // of this family
)

// Includes reports whether the verdict includes the cell.
func (v Verdict) Includes() bool {
	return v == Include || v == IncludeAndNextColumn || v == IncludeAndNextRow
}

// Filter decides about rows and cells as HBase's filters do. It has state: a filter serves one scan of one region. The calls for each row
// are Reset, SkipRow, Cell for the cells that remain after versions and delete markers, Transform for those included, and DropRow.
type Filter interface {
	Reset()
	Done() bool              // the scan needs nothing more
	SkipRow(row []byte) bool // decides by the row key alone
	Cell(c *Cell) Verdict
	Transform(c *Cell)
	DropCells(cells []Cell) []Cell // called once the row is complete
	DropRow() bool                 // called once the row is complete
	WholeRow() bool                // DropCells or DropRow need the whole row, so there are no partial results
}

// FilterBase is a Filter that includes everything; filters embed it.
type FilterBase struct{}

// Reset does nothing.
func (FilterBase) Reset() {}

// Done returns false.
func (FilterBase) Done() bool { return false }

// SkipRow returns false.
func (FilterBase) SkipRow([]byte) bool { return false }

// Cell returns Include.
func (FilterBase) Cell(*Cell) Verdict { return Include }

// Transform does nothing.
func (FilterBase) Transform(*Cell) {}

// DropCells returns all cells.
func (FilterBase) DropCells(cells []Cell) []Cell { return cells }

// DropRow returns false.
func (FilterBase) DropRow() bool { return false }

// WholeRow returns false.
func (FilterBase) WholeRow() bool { return false }
