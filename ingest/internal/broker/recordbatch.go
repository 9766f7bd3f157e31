package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/segmentio/kafka-go/compress"

	"brine/event"
)

// A record batch, as brokers store and send it (all integers big-endian):
//
//	 0 base offset int64 · 8 length of what follows int32 · 12 leader epoch int32 · 16 magic int8 (2)
//	17 CRC-32C of what follows uint32 · 21 attributes int16 · 23 last offset delta int32
//	27 base timestamp int64 · 35 max timestamp int64 · 43 producer id int64 · 51 producer epoch int16
//	53 base sequence int32 · 57 number of records int32 · 61 the records, compressed or not
//
// We read it ourselves since kafka-go drops the last offset delta (a batch whose records were all compacted away would be
// fetched forever), the timestamps of topics with LogAppendTime, and the producer ids of batches.
const (
	batchPrefix = 12 // base offset and length
	batchHeader = 61
	magicOffset = 16
)

// Bits of a batch's attributes.
const (
	compressionBits = 0x07
	logAppendTime   = 0x08
	transactional   = 0x10
	control         = 0x20
)

// maxInflated bounds the decompressed size of one batch.
const maxInflated = 512 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrCorrupt is in the chain of every error about bytes that are not a record batch.
var ErrCorrupt = errors.New("corrupt record batch")

type batchInfo struct {
	base, last    int64 // offsets of the first and last record when it was written
	attributes    int16
	baseTimestamp int64
	maxTimestamp  int64
	producer      int64
	count         int32
}

// readBatch checks the batch at the start of b and returns what follows it. For a batch that is cut off at the end of b, which brokers may
// send, it returns io.ErrUnexpectedEOF.
func readBatch(b []byte) (info batchInfo, records, rest []byte, err error) {
	if len(b) < batchPrefix {
		return info, nil, nil, io.ErrUnexpectedEOF
	}
	info.base = int64(binary.BigEndian.Uint64(b))
	length := int(int32(binary.BigEndian.Uint32(b[8:])))
	if len(b) > magicOffset && b[magicOffset] != 2 {
		return info, nil, nil, fmt.Errorf("%w at offset %d: format %d; only format 2 (Kafka 0.11 and later) can be read", ErrCorrupt,
			info.base, b[magicOffset])
	}
	if length < batchHeader-batchPrefix {
		return info, nil, nil, fmt.Errorf("%w at offset %d: length %d", ErrCorrupt, info.base, length)
	}
	if length > len(b)-batchPrefix {
		return info, nil, nil, io.ErrUnexpectedEOF
	}
	b, rest = b[:batchPrefix+length], b[batchPrefix+length:]
	if got, want := crc32.Checksum(b[21:], castagnoli), binary.BigEndian.Uint32(b[17:]); got != want {
		return info, nil, nil, fmt.Errorf("%w at offset %d: checksum %08x, expected %08x", ErrCorrupt, info.base, got, want)
	}
	info.attributes = int16(binary.BigEndian.Uint16(b[21:]))
	info.last = info.base + int64(int32(binary.BigEndian.Uint32(b[23:])))
	info.baseTimestamp = int64(binary.BigEndian.Uint64(b[27:]))
	info.maxTimestamp = int64(binary.BigEndian.Uint64(b[35:]))
	info.producer = int64(binary.BigEndian.Uint64(b[43:]))
	info.count = int32(binary.BigEndian.Uint32(b[57:]))
	if info.last < info.base || info.count < 0 {
		return info, nil, nil, fmt.Errorf("%w at offset %d: last offset %d, %d records", ErrCorrupt, info.base, info.last, info.count)
	}
	return info, b[batchHeader:], rest, nil
}

// inflate returns the batch's records decompressed.
func (info *batchInfo) inflate(records []byte) (*buffer, error) {
	codec := compress.Compression(info.attributes & compressionBits).Codec()
	if codec == nil {
		return nil, fmt.Errorf("%w at offset %d: unknown compression %d", ErrCorrupt, info.base, info.attributes&compressionBits)
	}
	r := codec.NewReader(bytes.NewReader(records))
	defer r.Close()
	b, err := inflated(r, maxInflated)
	if err != nil {
		return nil, fmt.Errorf("%w at offset %d: %v: %w", ErrCorrupt, info.base, codec.Name(), err)
	}
	return b, nil
}

// appendRecords reads a batch's records from offset from on into c. On error it appends nothing.
func (c *Chunk) appendRecords(info *batchInfo, b []byte, from int64) error {
	had, hadHeaders, cost, r := len(c.Records), len(c.headers), c.Cost, reader{b: b}
	for range info.count {
		if err := c.appendRecord(info, r.bytes(int(r.varint())), from); err != nil || r.bad {
			c.Records, c.headers, c.Cost = c.Records[:had], c.headers[:hadHeaders], cost
			return fmt.Errorf("%w at offset %d: a record is cut off", ErrCorrupt, info.base)
		}
	}
	return nil
}

// appendRecord reads one record: attributes int8, then varints: timestamp delta, offset delta, key, value, headers.
func (c *Chunk) appendRecord(info *batchInfo, b []byte, from int64) error {
	r := reader{b: b}
	r.skip(1)
	rec := event.Record{Topic: c.topic, Partition: c.partition, Producer: event.ProducerOf(info.producer)}
	rec.Timestamp = info.baseTimestamp + r.varint()
	if info.attributes&logAppendTime != 0 {
		rec.Timestamp = info.maxTimestamp
	}
	rec.Offset = info.base + r.varint()
	rec.Key = r.nullable()
	rec.Value = r.nullable()
	first := len(c.headers)
	for n := r.varint(); n > 0 && !r.bad; n-- {
		key := r.bytes(int(r.varint()))
		c.headers = append(c.headers, event.Header{Key: c.names.of(key), Value: r.nullable()})
	}
	if r.bad || rec.Offset > info.last {
		return ErrCorrupt
	}
	if rec.Offset < from {
		c.headers = c.headers[:first]
		return nil
	}
	if len(c.headers) > first {
		rec.Headers = c.headers[first:len(c.headers):len(c.headers)]
	}
	c.Cost += int64(rec.Size())
	c.Records = append(c.Records, rec)
	return nil
}

// names makes a string of each header name only once.
type names map[string]string

func (n names) of(b []byte) string {
	if s, ok := n[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(n) < 1000 {
		n[s] = s
	}
	return s
}
