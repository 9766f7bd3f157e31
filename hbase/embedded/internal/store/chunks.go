package store

import (
	"encoding/binary"
	"hash/crc32"
)

// Pebble's logs and manifests are blocks of 32 KiB of chunks; a record is one chunk or several:
//
//	checksum, 4 bytes | bytes of the payload, 2 | encoding, 1 | in logs: number of the log, 4 | in some: synced offset, 8 | payload
//
// in little endian. The checksum is of what is behind the bytes of the payload. A block's last bytes, where no header has room, are 0.
// A log that was closed ends with a header that has neither checksum nor payload, and the number of the next log.
const blockBytes = 32 << 10

// chunkHeads are the bytes of a header by encoding: four each without a log's number, with it, and with an offset too.
var chunkHeads = [...]int{0, 7, 7, 7, 7, 11, 11, 11, 11, 19, 19, 19, 19}

const (
	endEncoding = 5
	endBytes    = 11
)

// readableTo returns how far the chunks of a log or manifest, from its beginning, are what was written.
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

// chunkBytes returns the bytes of the chunk that b begins with, 0 when there is no whole one.
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

// masked is how Pebble stores a checksum, so that a checksum of checksums is none.
func masked(sum uint32) uint32 { return (sum>>15 | sum<<17) + 0xa282ead8 }

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}
