package plan

import (
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// headBytes is the size of the header of a compressed block of snappy, lz4 and lzo: two lengths, as Hadoop writes them. gzipBytes is the
// size of gzip's header and trailer.
const (
	headBytes = 8
	gzipBytes = 18
)

// codec returns a function that returns the compressed length of a block, at HBase's default level. lz4 stands in for lzo, for which there
// is no library, because their ratios are similar.
func codec(name string) (packed func(block []byte) int, as string) {
	switch name {
	case "gz":
		var out counter
		w, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err != nil {
			panic("BUG: flate refuses its default level: " + err.Error())
		}
		return func(block []byte) int {
			out = 0
			w.Reset(&out)
			_, _ = w.Write(block) // a counter's Write never fails
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
			if err != nil || n == 0 { // it cannot be compressed
				n = len(block)
			}
			return n + headBytes
		}, ""
	case "zstd":
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic("BUG: zstd returns no encoder: " + err.Error())
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
