package store

import (
	"bytes"
	"encoding/binary"
)

const (
	recordPrefix = 0x01
	cellPrefix   = 0x02

	escape     = 0x00
	endByte    = 0x01 // after escape: the end of a row or qualifier
	partByte   = 0x02 // after escape: the end of a part of a row of hbase:meta
	literal    = 0xFF // after escape: a 0x00 of the data
	afterAll   = 0xFF // greater than any byte that can follow a row (a family's first byte is printable)
	headLen    = 5    // prefix and space
	tailLen    = 9    // timestamp and type
	familyEnd  = 0x00
	familyNext = 0x01 // after a family's name: greater than every key of the family
)

// Space identifies the cells of one table.
type Space uint32

// MetaSpace is the space of hbase:meta, the only one whose rows are compared part by part.
const MetaSpace Space = 1

// appendHead appends the start of a key of the space.
func appendHead(k []byte, s Space) []byte {
	k = append(k, cellPrefix)
	return binary.BigEndian.AppendUint32(k, uint32(s))
}

// appendRowKey appends the start of a key of the row: greater than every key of the preceding rows, and a prefix of all keys of the row.
func appendRowKey(k []byte, s Space, row []byte) []byte {
	k = appendHead(k, s)
	if s == MetaSpace {
		return appendMetaRow(k, row)
	}
	return appendEscaped(k, row)
}

// appendMetaRow appends table, start key and id as parts that are compared one after the other, like HBase's comparator of hbase:meta: a
// start key may contain commas and bytes smaller than the comma.
func appendMetaRow(k, row []byte) []byte {
	first := bytes.IndexByte(row, ',')
	if first < 0 {
		return appendEscaped(k, row)
	}
	k = appendEscapedOpen(k, row[:first])
	k = append(k, escape, partByte)
	rest := row[first+1:]
	if last := bytes.LastIndexByte(rest, ','); last >= 0 {
		k = appendEscapedOpen(k, rest[:last])
		k = append(k, escape, partByte)
		rest = rest[last+1:]
	}
	return appendEscaped(k, rest)
}

func appendEscaped(k, b []byte) []byte {
	return append(appendEscapedOpen(k, b), escape, endByte)
}

func appendEscapedOpen(k, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, escape)
		if i < 0 {
			return append(k, b...)
		}
		k = append(k, b[:i]...)
		k = append(k, escape, literal)
		b = b[i+1:]
	}
}

// appendTail appends the end of a key.
func appendTail(k []byte, timestamp int64, t Type) []byte {
	k = binary.BigEndian.AppendUint64(k, ^(uint64(timestamp) ^ 1<<63))
	return append(k, ^byte(t))
}

// appendCellKey appends the whole key of a cell.
func appendCellKey(k []byte, s Space, row, family, qualifier []byte, timestamp int64, t Type) []byte {
	k = appendRowKey(k, s, row)
	k = append(k, family...)
	k = append(k, familyEnd)
	k = appendEscaped(k, qualifier)
	return appendTail(k, timestamp, t)
}

// parsedKey has the parts of a cell's key as offsets: key[:rowEnd] is the row's prefix, key[:familyEnd] the family's, with its end byte,
// and key[:columnEnd] the column's.
type parsedKey struct {
	rowEnd, familyEnd, columnEnd int
	timestamp                    int64
	typ                          Type
}

// endOfEscaped returns the end of a row or qualifier that begins at i, after its end bytes.
func endOfEscaped(k []byte, i int) (int, bool) {
	for i < len(k) {
		j := bytes.IndexByte(k[i:], escape)
		if j < 0 || i+j+1 >= len(k) {
			return 0, false
		}
		i += j + 2
		if k[i-1] == endByte {
			return i, true
		}
	}
	return 0, false
}

// parse parses a cell's key.
func parse(k []byte) (p parsedKey, ok bool) {
	if len(k) < headLen+tailLen || k[0] != cellPrefix {
		return p, false
	}
	if p.rowEnd, ok = endOfEscaped(k, headLen); !ok {
		return p, false
	}
	f := bytes.IndexByte(k[p.rowEnd:], familyEnd)
	if f < 0 {
		return p, false
	}
	p.familyEnd = p.rowEnd + f + 1
	if p.columnEnd, ok = endOfEscaped(k, p.familyEnd); !ok || len(k)-p.columnEnd != tailLen {
		return p, false
	}
	p.timestamp = int64(^binary.BigEndian.Uint64(k[p.columnEnd:]) ^ 1<<63)
	p.typ = Type(^k[p.columnEnd+8])
	return p, true
}

// appendUnescaped reverses appendEscaped; k must not have the end bytes.
func appendUnescaped(dst, k []byte) []byte {
	for {
		i := bytes.IndexByte(k, escape)
		if i < 0 || i+1 >= len(k) {
			return append(dst, k...)
		}
		dst = append(dst, k[:i]...)
		if k[i+1] == partByte {
			dst = append(dst, ',')
		} else {
			dst = append(dst, escape)
		}
		k = k[i+2:]
	}
}
