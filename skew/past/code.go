package past

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/bits"
	"time"

	"brine/skew"
)

// A stored bucket is one cell, or two. The first is: the format, the number of ranges, the table's MB; then, per range, the number of bytes
// that its start has in common with the start before, the number of bytes that follow, these bytes, and rows and bytes per second. Numbers
// are uvarints except for the last two, which are IEEE 754 float32, big-endian.
//
// The second has the other series: the format, the first cell's CRC-32, and a byte with a bit for each series that follows, in the order of
// all; per series, a float32 per range of the first cell. Earlier brines wrote the first cell alone and read nothing else, so that either
// reads what the other has written. They may write the first cell again, which the sum reveals: then the second counts as missing. Series
// of later brines, which have the higher bits, are skipped.
const format = 1

// named is how many series the first cell has.
const named = 2

// ErrFormat is the error for a stored bucket that cannot be decoded.
var ErrFormat = errors.New("it is not a bucket of a map, or it comes from a newer brine")

// mostKey is the longest possible key: HBase has no longer ones.
const mostKey = math.MaxInt16

// Encode returns the bucket's first cell. Its time is stored elsewhere.
func (b *Bucket) Encode() []byte {
	out := binary.AppendUvarint([]byte{format}, uint64(len(b.Starts)))
	out = binary.AppendUvarint(out, uint64(max(0, b.MB)))
	var before skew.Key
	for i, start := range b.Starts {
		n := common(before, start)
		out = binary.AppendUvarint(out, uint64(n))
		out = binary.AppendUvarint(out, uint64(len(start)-n))
		out = append(out, start[n:]...)
		out = binary.BigEndian.AppendUint32(out, math.Float32bits(b.Rows[i]))
		out = binary.BigEndian.AppendUint32(out, math.Float32bits(b.Bytes[i]))
		before = start
	}
	return out
}

// EncodeMore returns the cell beside the first; nil: there is nothing more.
func (b *Bucket) EncodeMore(first []byte) []byte {
	has := byte(0)
	var values []byte
	for i, s := range all[named:] {
		if *s.of(b) == nil {
			continue
		}
		has |= 1 << i
		for _, n := range *s.of(b) {
			values = binary.BigEndian.AppendUint32(values, math.Float32bits(n))
		}
	}
	if has == 0 {
		return nil
	}
	out := binary.BigEndian.AppendUint32([]byte{format}, crc32.ChecksumIEEE(first))
	return append(append(out, has), values...)
}

// DecodeMore adds what the cell beside the first has. It adds nothing unless b is what Decode returned for the first cell.
func (b *Bucket) DecodeMore(first, text []byte) error {
	d := decoder{text: text}
	if d.byte() != format || binary.BigEndian.Uint32(d.take(4)) != crc32.ChecksumIEEE(first) {
		return ErrFormat
	}
	has := d.byte()
	if len(d.text) != bits.OnesCount8(has)*len(b.Starts)*4 {
		return ErrFormat
	}
	more := *b
	for i, s := range all[named:] {
		if has&(1<<i) == 0 {
			continue
		}
		values := make([]float32, len(b.Starts))
		for r := range values {
			values[r] = d.float()
		}
		*s.of(&more) = values
	}
	if d.bad {
		return ErrFormat
	}
	*b = more
	return nil
}

func common(a, b skew.Key) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Decode decodes a bucket that was stored for a time.
func Decode(at time.Time, text []byte) (Bucket, error) {
	d := decoder{text: text}
	if d.byte() != format {
		return Bucket{}, ErrFormat
	}
	n, mb := d.number(skew.MostRanges), d.number(math.MaxInt64)
	b := Bucket{At: at, MB: int64(mb)}
	var before skew.Key
	for range n {
		start := d.key(before)
		rows, bytes := d.float(), d.float()
		if d.bad || len(b.Starts) > 0 && compare(before, start) >= 0 {
			return Bucket{}, ErrFormat
		}
		b.Starts, b.Rows, b.Bytes = append(b.Starts, start), append(b.Rows, rows), append(b.Bytes, bytes)
		before = start
	}
	if d.bad || len(d.text) > 0 {
		return Bucket{}, ErrFormat
	}
	return b, nil
}

// decoder reads values from a text. It sets bad if a value is missing or wrong.
type decoder struct {
	text []byte
	bad  bool
}

func (d *decoder) take(n int) []byte {
	if d.bad = d.bad || n > len(d.text); d.bad {
		return make([]byte, min(n, 8))
	}
	out := d.text[:n]
	d.text = d.text[n:]
	return out
}

func (d *decoder) byte() byte { return d.take(1)[0] }

func (d *decoder) number(most uint64) uint64 {
	v, n := binary.Uvarint(d.text)
	if d.bad = d.bad || n <= 0 || v > most; d.bad {
		return 0
	}
	d.text = d.text[n:]
	return v
}

// most is more than any table takes per second. It keeps sums finite.
const most = 1e18

// float reads a number of at least 0.
func (d *decoder) float() float32 {
	f := math.Float32frombits(binary.BigEndian.Uint32(d.take(4)))
	if d.bad = d.bad || !(f >= 0 && f <= most); d.bad {
		return 0
	}
	return f
}

func (d *decoder) key(before skew.Key) skew.Key {
	n, more := d.number(uint64(len(before))), d.number(mostKey)
	tail := d.take(int(more))
	if d.bad {
		return nil
	}
	return append(before[:n:n], tail...)
}
