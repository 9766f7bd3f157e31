package verify

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
)

// origin is the position of a record.
type origin struct {
	source    int // in Options.Sources
	partition int
	offset    int64
	fixed     bool // as fixed by a replay: a dead letter does not explain that its writes are missing
}

// The flags of an entry.
const (
	may      = 1 << iota // the record lies beyond the watermark: it may have been written
	probe                // requests a look at the key, and expects nothing
	rejected             // in the letters' shard: the record cannot be written
	lettered             // in the letters' shard: the record is a dead letter
	asFixed              // a replay of dead letters wrote this for the record, with a fix
)

// An entry is what one record does to one key:
//
//	byte     flags
//	uvarint  source
//	uvarint  partition
//	uvarint  offset
//	ops, up to the end
type entry struct {
	flags  byte
	origin origin
	ops    []byte
}

func appendEntry(dst []byte, flags byte, o origin) []byte {
	dst = binary.AppendUvarint(append(dst, flags), uint64(o.source))
	dst = binary.AppendUvarint(dst, uint64(o.partition))
	return binary.AppendUvarint(dst, uint64(o.offset))
}

var errDamaged = errors.New("verify: an entry of the temporary file is damaged")

func readEntry(b []byte) (e entry, err error) {
	if len(b) == 0 {
		return e, errDamaged
	}
	e.flags, b = b[0], b[1:]
	var fields [3]uint64
	for i := range fields {
		if fields[i], b, err = nextUvarint(b); err != nil {
			return e, err
		}
	}
	e.origin, e.ops = origin{int(fields[0]), int(fields[1]), int64(fields[2]), e.flags&asFixed != 0}, b
	return e, nil
}

// opKind is what an op does to a row or a document.
type opKind byte

const (
	put          opKind = iota + 1
	deleteColumn        // the column's cells up to the version
	deleteFamily        // all cells of the family up to the version
	replace             // a whole document: all fields of older versions
	anything            // not known: cells of the version, and what these may hide
)

// An op is one cell, or one delete:
//
//	byte     kind
//	uvarint  length of the column, and the column: family:qualifier; of deleteFamily the family; of documents :field
//	uvarint  version
//	uvarint  TTL in ms, 0: none of its own
//	uint64   of a put: hash of the value
type op struct {
	kind    opKind
	column  []byte
	version int64
	ttl     int64
	value   uint64
}

func appendOp(dst []byte, o op) []byte {
	dst = binary.AppendUvarint(append(dst, byte(o.kind)), uint64(len(o.column)))
	dst = append(dst, o.column...)
	dst = binary.AppendUvarint(dst, uint64(o.version))
	dst = binary.AppendUvarint(dst, uint64(o.ttl))
	if o.kind == put {
		dst = binary.LittleEndian.AppendUint64(dst, o.value)
	}
	return dst
}

func nextOp(b []byte) (o op, rest []byte, err error) {
	if len(b) == 0 {
		return o, nil, errDamaged
	}
	o.kind, b = opKind(b[0]), b[1:]
	n, b, err := nextUvarint(b)
	if err != nil || n > uint64(len(b)) {
		return o, nil, errDamaged
	}
	o.column, b = b[:n:n], b[n:]
	version, b, err1 := nextUvarint(b)
	ttl, b, err2 := nextUvarint(b)
	if o.version, o.ttl = int64(version), int64(ttl); err1 != nil || err2 != nil {
		return o, nil, errDamaged
	}
	if o.kind == put {
		if len(b) < 8 {
			return o, nil, errDamaged
		}
		o.value, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	return o, b, nil
}

func nextUvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errDamaged
	}
	return v, b[n:], nil
}

// hash hashes values and keys. It is the same in every process, so samples and digests can be compared.
func hash(b []byte) uint64 { return xxhash.Sum64(b) }

// cellHasher computes the contributions of one row's cells to a digest, which is the sum over all cells. A contribution is the hash of
//
//	uint64  length of the key, and the key
//	uint64  length of the column, and the column
//	uint64  version
//	uint64  hash of the value
type cellHasher struct {
	buf []byte
	row int // length of what all cells of the row have in common
}

// begin begins a row.
func (h *cellHasher) begin(key []byte) {
	h.buf = append(binary.LittleEndian.AppendUint64(h.buf[:0], uint64(len(key))), key...)
	h.row = len(h.buf)
}

func (h *cellHasher) cell(column []byte, version int64, value uint64) uint64 {
	b := append(binary.LittleEndian.AppendUint64(h.buf[:h.row], uint64(len(column))), column...)
	b = binary.LittleEndian.AppendUint64(b, uint64(version))
	h.buf = binary.LittleEndian.AppendUint64(b, value)
	return hash(h.buf)
}
