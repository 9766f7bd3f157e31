package embedded

import (
	"encoding/binary"
	"hash/crc32"
)

// A segment file is a sequence of record batches in Kafka's wire format. These fields are read here:
//
//	first offset, 8 bytes | bytes after this field, 4 | leader epoch, 4 | magic, 1 | checksum of what follows, 4 |
//	attributes, 2 | last offset delta, 4 | …
//
// in big endian. Its index file has an entry of 15 bytes per batch, written after the batch and before the acknowledgement:
//
//	version, 1 byte | low byte of the checksum of what follows, 1 | leader epoch, 4 | an unused time, 8 | 1 if in a transaction, 1
//
// in little endian.
const (
	batchHead   = 61
	batchLimit  = 1 << 30
	entryBytes  = 15
	entryFormat = 1

	transactional = 1 << 4
	control       = 1 << 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batch is a record batch of a segment.
type batch struct {
	first, last int64 // offsets
	epoch       int32
	attributes  int16
	bytes       int
}

// state is the condition of the bytes at a position of a segment.
type state int

const (
	whole  state = iota
	torn         // the file ends before the batch does
	broken       // they are not a batch
)

// nextBatch reads the batch at the start of b.
func nextBatch(b []byte) (batch, state) {
	if len(b) < 12 {
		return batch{}, torn
	}
	n := 12 + int64(binary.BigEndian.Uint32(b[8:]))
	if n < batchHead || n > batchLimit {
		return batch{}, broken
	}
	if n > int64(len(b)) {
		return batch{}, torn
	}
	first, delta := int64(binary.BigEndian.Uint64(b)), int32(binary.BigEndian.Uint32(b[23:]))
	if b[16] != 2 || first < 0 || delta < 0 || binary.BigEndian.Uint32(b[17:]) != crc32.Checksum(b[21:n], castagnoli) {
		return batch{}, broken
	}
	return batch{
		first: first, last: first + int64(delta), epoch: int32(binary.BigEndian.Uint32(b[12:])),
		attributes: int16(binary.BigEndian.Uint16(b[21:])), bytes: int(n),
	}, whole
}

// readBatches reads the batches of a segment up to the first that is not whole, or does not follow the one before it. It returns them with
// their size in bytes, and the state of what follows: whole at the end.
func readBatches(segment []byte, base int64) (batches []batch, to int, then state) {
	for next := base; to < len(segment); {
		b, is := nextBatch(segment[to:])
		if is == whole && b.first < next {
			is = broken
		}
		if is != whole {
			return batches, to, is
		}
		batches, to, next = append(batches, b), to+b.bytes, b.last+1
	}
	return batches, to, whole
}

// entry returns the index entry of a batch.
func (b batch) entry() []byte {
	e := make([]byte, entryBytes)
	e[0] = entryFormat
	binary.LittleEndian.PutUint32(e[2:], uint32(b.epoch))
	if b.attributes&(transactional|control) == transactional {
		e[14] = 1
	}
	e[1] = byte(crc32.Checksum(e[2:], castagnoli))
	return e
}

// completeIndex returns the index of a segment with an entry for each of its batches. It keeps entries that are whole and adds new ones.
func completeIndex(index []byte, batches []batch) []byte {
	done := make([]byte, 0, len(batches)*entryBytes)
	for i, b := range batches {
		e := b.entry()
		if at := i * entryBytes; at+entryBytes <= len(index) {
			if had := index[at : at+entryBytes]; had[0] == entryFormat && had[1] == byte(crc32.Checksum(had[2:], castagnoli)) {
				e = had
			}
		}
		done = append(done, e...)
	}
	return done
}

// readableTo returns up to where a log of framed entries is as it was written, and whether it is only incomplete at its end. An entry is
// its length, 4 bytes, the checksum of the rest, 4, and the rest, in little endian.
func readableTo(log []byte) (to int, then state) {
	for to < len(log) {
		rest := log[to:]
		if len(rest) < 8 {
			return to, torn
		}
		n := 8 + int64(binary.LittleEndian.Uint32(rest))
		if n > int64(len(rest)) {
			return to, torn
		}
		if n < 10 || binary.LittleEndian.Uint32(rest[4:]) != crc32.Checksum(rest[8:n], castagnoli) {
			return to, broken
		}
		to += int(n)
	}
	return to, whole
}
