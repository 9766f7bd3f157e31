package plan

import (
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// headBytes is what stands before the compressed bytes of a block of snappy, lz4 and lzo: two lengths, as Hadoop writes them.
// gzipBytes is what gzip's header and trailer take.
const (
	headBytes = 8
	gzipBytes = 18
)

// codec returns a function that says how long a block is once it is compressed, at the level that HBase uses by default. For lzo,
// of which there is no library, lz4 stands: it packs alike.
func codec(name string) (packed func(block []byte) int, as string) {
	switch name {
	case "gz":
		var out counter
		w, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err != nil {
			panic("BUG: the default level of flate is none: " + err.Error())
		}
		return func(block []byte) int {
			out = 0
			w.Reset(&out)
			_, _ = w.Write(block) // a counter takes everything
			_ = w.Close()
			return int(out) + gzipBytes
		}, ""
	case "snappy":
		var buf []byte
		return func(block []byte) int {
			buf = snappy.Encode(buf[:cap(buf)], block)
			return len(buf) + headBytes
		}, ""
	case "lzo":
		packed, _ = codec("lz4")
		return packed, "lz4"
	case "lz4":
		var c lz4.Compressor
		var buf []byte
		return func(block []byte) int {
			if need := lz4.CompressBlockBound(len(block)); len(buf) < need {
				buf = make([]byte, need)
			}
			n, err := c.CompressBlock(block, buf)
			if err != nil || n == 0 { // it cannot be made shorter
				n = len(block)
			}
			return n + headBytes
		}, ""
	case "zstd":
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic("BUG: zstd refuses to be made: " + err.Error())
		}
		var buf []byte
		return func(block []byte) int {
			buf = w.EncodeAll(block, buf[:0])
			return len(buf)
		}, ""
	}
	return func(block []byte) int { return len(block) }, ""
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
