package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
)

// Compression is how the cell blocks of a connection are compressed in both directions. The connection header sets it for the connection's
// lifetime. The length in a frame's header is that of the compressed block.
type Compression byte

// The compressions. The zero value is None.
const (
	None   Compression = iota
	Gzip               // a gzip stream
	Snappy             // Hadoop's blocks
	LZ4                // Hadoop's blocks
	Zstd               // a zstd stream
)

var compressionNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

const hadoopCodecs = "org.apache.hadoop.io.compress."

var compressionClasses = [...]string{None: "", Gzip: hadoopCodecs + "GzipCodec", Snappy: hadoopCodecs + "SnappyCodec",
	LZ4: hadoopCodecs + "Lz4Codec", Zstd: hadoopCodecs + "ZStandardCodec"}

// ParseCompression returns the compression with the given name. The empty name means None.
func ParseCompression(name string) (Compression, error) {
	if name == "" {
		return None, nil
	}
	if i := slices.Index(compressionNames[:], name); i >= 0 {
		return Compression(i), nil
	}
	return None, fmt.Errorf("no compression %q; write one of %s", name, strings.Join(compressionNames[:], ", "))
}

// CompressionOf returns the compression with the given Java class, as a connection header names it.
func CompressionOf(class string) (Compression, bool) {
	i := slices.Index(compressionClasses[:], class)
	return Compression(max(i, 0)), i >= 0
}

func (c Compression) String() string { return compressionNames[c] }

// Class returns the Java class that a connection header names; empty for None.
func (c Compression) Class() string { return compressionClasses[c] }

// Compress appends the compressed block to dst. An empty block stays empty.
func (c Compression) Compress(dst, block []byte) ([]byte, error) {
	switch {
	case c == None || len(block) == 0:
		return append(dst, block...), nil
	case c == Gzip:
		return appendGzip(dst, block)
	case c == Zstd:
		return appendZstd(dst, block), nil
	}
	return c.appendBlocks(dst, block), nil
}

// Expand returns the uncompressed block, which is block itself for None. More than max bytes are an error.
func (c Compression) Expand(block []byte, max int) (expanded []byte, err error) {
	switch {
	case c == None || len(block) == 0:
		return block, nil
	case c == Gzip:
		expanded, err = expandGzip(block, max)
	case c == Zstd:
		expanded, err = expandZstd(block, max)
	default:
		expanded, err = c.expandBlocks(block, max)
	}
	if err != nil {
		return nil, fmt.Errorf("cell block of %d bytes compressed with %s: %w", len(block), c, err)
	}
	return expanded, nil
}

// Hadoop's block format: blocks one after another, with big-endian numbers. A block of length 0, or the end of the data, ends them.
//
//	int32 n          length of the block before compression
//	├ int32 k        length of the compressed chunk
//	└ chunk          k bytes; further chunks follow until they make n bytes
const (
	hadoopBlock = 128 << 10 // size of written blocks: half the default buffer of Hadoop's decompressors
	maxRatio    = 256       // neither algorithm expands a chunk by more
)

func (c Compression) appendBlocks(dst, block []byte) []byte {
	for part := range slices.Chunk(block, hadoopBlock) {
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(part)))
		dst = append(dst, 0, 0, 0, 0)
		start := len(dst)
		if c == LZ4 {
			dst = appendLZ4(dst, part)
		} else {
			dst = slices.Grow(dst, snappy.MaxEncodedLen(len(part)))
			dst = dst[:start+len(snappy.Encode(dst[start:cap(dst)], part))]
		}
		binary.BigEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
	}
	return dst
}

func appendLZ4(dst, part []byte) []byte {
	start, most := len(dst), lz4.CompressBlockBound(len(part))
	dst = slices.Grow(dst, most)
	n, err := lz4.CompressBlock(part, dst[start:start+most], nil)
	if err != nil || n == 0 {
		panic(fmt.Sprintf("BUG: wire: %d bytes do not fit the bound of lz4: %v", len(part), err))
	}
	return dst[:start+n]
}

func (c Compression) expandBlocks(b []byte, max int) ([]byte, error) {
	var out []byte
	for len(b) > 0 {
		n, rest, err := blockLen(b)
		switch {
		case err != nil:
			return nil, err
		case n == 0:
			return out, nil
		case n > max-len(out):
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, max)
		case n > maxRatio*len(rest):
			return nil, fmt.Errorf("%w: a block of %d bytes in %d", ErrMalformed, n, len(rest))
		}
		if out == nil { // usually all blocks have the same size
			out = make([]byte, 0, min(max, n*(1+len(rest)/hadoopBlock)))
		}
		out = slices.Grow(out, n)
		for b = rest; n > 0; {
			var k int
			if k, b, err = blockLen(b); err != nil {
				return nil, err
			}
			if k > len(b) {
				return nil, fmt.Errorf("%w: a chunk of %d bytes, %d there", ErrMalformed, k, len(b))
			}
			made, err := c.expandChunk(out[len(out):len(out)+n], b[:k])
			if err != nil {
				return nil, err
			}
			out, n, b = out[:len(out)+made], n-made, b[k:]
		}
	}
	return out, nil
}

// expandChunk expands chunk to the start of dst.
func (c Compression) expandChunk(dst, chunk []byte) (made int, err error) {
	if c == LZ4 {
		if made, err = lz4.UncompressBlock(chunk, dst); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		return made, nil
	}
	if made, err = snappy.DecodedLen(chunk); err == nil && made > len(dst) {
		return 0, fmt.Errorf("%w: a chunk of %d bytes in a block that has %d left", ErrMalformed, made, len(dst))
	}
	if err == nil {
		_, err = snappy.Decode(dst, chunk)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return made, nil
}

func blockLen(b []byte) (n int, rest []byte, err error) {
	if len(b) < 4 {
		return 0, nil, fmt.Errorf("%w: %d bytes where a length is expected", ErrMalformed, len(b))
	}
	length := int32(binary.BigEndian.Uint32(b))
	if length < 0 {
		return 0, nil, fmt.Errorf("%w: length %d", ErrMalformed, length)
	}
	return int(length), b[4:], nil
}
