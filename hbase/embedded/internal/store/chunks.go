package store

import (
	"encoding/binary"
	"hash/crc32"
)

// Pebble's logs and manifests consist of blocks of 32 KiB, and those of chunks; a record is one or more chunks:
//
//	checksum, 4 bytes | length of the payload, 2 | encoding, 1 | in logs: number of the log, 4 | in some: synced offset, 8 | payload
//
// All numbers are little endian. The checksum covers everything after the length. The last bytes of a block, if too few for a header, are
// 0. A closed log ends with a header that has neither checksum nor payload, and the number of the next log.
const blockBytes = 32 << 10

// chunkHeads are the lengths of a header in bytes by encoding: four encodings without a log number, four with one, and four with an offset
// too.
var chunkHeads = [...]int{0, 7, 7, 7, 7, 11, 11, 11, 11, 19, 19, 19, 19}

const (
	endEncoding = 5
	endBytes    = 11
)

// readableTo returns the length of the leading part of a log or manifest whose chunks are as they were written.
func readableTo(file []byte) int {
	at := 0
	for at < len(file) {
		block := file[at-at%blockBytes:]
		block = block[:min(blockBytes, len(block))]
		rest := block[at%blockBytes:]
		n := chunkBytes(rest)
		if n == 0 && len(block) == blockBytes && len(rest) < 19 && allZero(rest) {
			n = len(rest)
		}
		if n == 0 {
			return at
		}
		at += n
	}
	return at
}

// chunkBytes returns the length of the chunk at the start of b, or 0 if there is no whole one.
func chunkBytes(b []byte) int {
	if len(b) < 7 || b[6] == 0 || int(b[6]) >= len(chunkHeads) {
		return 0
	}
	if len(b) >= endBytes && b[6] == endEncoding && allZero(b[:6]) {
		return endBytes
	}
	n := chunkHeads[b[6]] + int(binary.LittleEndian.Uint16(b[4:]))
	if n > len(b) || binary.LittleEndian.Uint32(b) != masked(crc32.Checksum(b[6:n], castagnoli)) {
		return 0
	}
	return n
}

// masked returns a checksum as Pebble stores it, so that the checksum of data with checksums in it is sound.
func masked(sum uint32) uint32 { return (sum>>15 | sum<<17) + 0xa282ead8 }

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
