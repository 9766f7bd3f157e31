package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Codec is the Java class that a connection header names for the cell format below: KeyValues without tags.
const Codec = "org.apache.hadoop.hbase.codec.KeyValueCodec"

// Limits of the format's length fields.
const (
	MaxRowLen    = math.MaxInt16
	MaxFamilyLen = math.MaxInt8
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

// Cell is one cell of a cell block.
type Cell struct {
	Row, Family, Qualifier, Value []byte
	Timestamp                     int64
	Type                          CellType
}

// A cell block is a sequence of cells with nothing before, between or after them. All numbers are big-endian.
//
//	int32 n                 length of what follows: a KeyValue
//	├ int32 k               length of the key
//	├ int32 v               length of the value
//	├ key (k bytes)
//	│ ├ int16 r             length of the row
//	│ ├ row (r bytes)
//	│ ├ int8  f             length of the family
//	│ ├ family (f bytes)
//	│ ├ qualifier           k − 12 − r − f bytes
//	│ ├ int64 timestamp
//	│ └ int8  type
//	└ value (v bytes)       n = 8 + k + v
const (
	cellPrefix  = 4
	keyValueLen = 8             // k and v
	keyFixed    = 2 + 1 + 8 + 1 // r, f, timestamp, type
	cellFixed   = cellPrefix + keyValueLen + keyFixed
)

// CellSize returns the number of bytes that AppendCell appends.
func CellSize(row, family, qualifier, value int) int {
	return cellFixed + row + family + qualifier + value
}

// AppendCell appends c in the format above. The row must not be longer than MaxRowLen, nor the family longer than MaxFamilyLen. Callers
// check user input, because only they can name it in an error.
func AppendCell(dst []byte, c Cell) []byte {
	key := keyFixed + len(c.Row) + len(c.Family) + len(c.Qualifier)
	dst = binary.BigEndian.AppendUint32(dst, uint32(keyValueLen+key+len(c.Value)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(key))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Value)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(c.Row)))
	dst = append(dst, c.Row...)
	dst = append(dst, byte(len(c.Family)))
	dst = append(dst, c.Family...)
	dst = append(dst, c.Qualifier...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Timestamp))
	dst = append(dst, byte(c.Type))
	return append(dst, c.Value...)
}

// NextCell decodes the first cell of a block into c, which it leaves as it is if there is an error, and returns the rest. The cell's slices
// are views into block.
func NextCell(c *Cell, block []byte) (rest []byte, err error) {
	if len(block) < cellFixed {
		return nil, fmt.Errorf("%w: %d bytes of cell block left, but a cell has at least %d", ErrMalformed, len(block), cellFixed)
	}
	n := uint64(binary.BigEndian.Uint32(block))
	key := uint64(binary.BigEndian.Uint32(block[4:]))
	value := uint64(binary.BigEndian.Uint32(block[8:]))
	if n > uint64(len(block)-cellPrefix) || n != keyValueLen+key+value || key < keyFixed {
		return nil, fmt.Errorf("%w: cell of %d bytes, key %d, value %d, in %d", ErrMalformed, n, key, value, len(block))
	}
	end := cellPrefix + int(n)
	k := block[cellPrefix+keyValueLen:][:key:key]
	row := int(binary.BigEndian.Uint16(k))
	if row > min(len(k)-keyFixed, MaxRowLen) {
		return nil, fmt.Errorf("%w: row of %d bytes in a key of %d", ErrMalformed, row, key)
	}
	family := int(k[2+row])
	if family > min(len(k)-keyFixed-row, MaxFamilyLen) {
		return nil, fmt.Errorf("%w: family of %d bytes in a key of %d", ErrMalformed, family, key)
	}
	tail := len(k) - 9
	c.Row = k[2:][:row:row]
	c.Family = k[3+row:][:family:family]
	c.Qualifier = k[3+row+family : tail : tail]
	c.Timestamp = int64(binary.BigEndian.Uint64(k[tail:]))
	c.Type = CellType(k[len(k)-1])
	c.Value = block[end-int(value) : end : end]
	return block[end:], nil
}
