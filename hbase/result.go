package hbase

import "brine/hbase/internal/rpc"

// CellType says what a cell does; the numbers are KeyValue's type codes.
type CellType = rpc.CellType

// The types of cells.
const (
	Put                 = rpc.Put
	Delete              = rpc.Delete              // exactly this version of a column
	DeleteFamilyVersion = rpc.DeleteFamilyVersion // exactly this version of all columns of a family
	DeleteColumn        = rpc.DeleteColumn        // this and all older versions of a column
	DeleteFamily        = rpc.DeleteFamily        // this and all older versions of all columns of a family
)

// Cell is one cell as read: its Row, Family, Qualifier, Value, Timestamp and Type.
type Cell = rpc.Cell

// Result is the Cells of one Row in HBase's order; Cells is empty when the row does not exist.
type Result = rpc.Result
