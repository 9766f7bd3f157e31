package avro

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"
	twmb "github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// ContainerBegins is how an object container file begins.
const ContainerBegins = "Obj\x01"

// What is read of a container at most, in bytes: its header, each of its blocks, packed and unpacked, and all values together.
const (
	maxHeader = 16 << 20
	maxBlock  = 32 << 20
	maxValues = 64 << 20
)

// Container is what an object container file holds.
type Container struct {
	Schema string   // from its header
	Values [][]byte // each as a record in Kafka holds it, without what may precede it there
}

// ReadContainer reads an object container file, with at most so many values, and no more than fit in 64 MiB. Whatever the file says of its
// sizes, memory is bounded.
func ReadContainer(from io.Reader, most int) (*Container, error) {
	header := &io.LimitedReader{R: from, N: maxHeader}
	blocks := &tap{}
	opts := []ocf.ReaderOpt{ocf.WithMaxBlockBytes(maxBlock), ocf.WithMaxDecompressedBlockBytes(maxBlock),
		ocf.WithSchemaOpts(twmb.WithLaxNames(nil)), ocf.WithDecodeOpts(twmb.SkipUnknown()),
		ocf.WithCodec(tapped{unpacked{}, blocks}),
		ocf.WithCodec(tapped{ocf.DeflateCodec(flate.DefaultCompression), blocks}), ocf.WithCodec(tapped{ocf.SnappyCodec(), blocks}),
		ocf.WithCodec(tapped{ocf.MustZstdCodec(nil, nil), blocks})}
	r, err := ocf.NewReader(header, opts...)
	switch {
	case err != nil && header.N == 0:
		return nil, fmt.Errorf("its header has more than %d MiB", maxHeader>>20)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, errors.New("it ends within its header")
	case err != nil:
		return nil, fmt.Errorf("its header cannot be read: %w", err)
	}
	defer r.Close() //nolint:errcheck // it closes the codecs, whose errors change nothing that was read
	header.N = math.MaxInt64
	out := &Container{Schema: string(r.Metadata()["avro.schema"])}
	if s, err := Parse(out.Schema); err != nil {
		return nil, fmt.Errorf("its schema cannot be used: %w", err)
	} else if s.root.kind != record {
		return nil, errors.New("its values are not records")
	}
	for size := 0; len(out.Values) < most && size < maxValues; {
		value, err := blocks.next(r)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("it ends within a block, after %d values; copy it again, whole", len(out.Values))
		case err != nil:
			what, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "ocf: "), " (raise ") // the rest is for programmers
			return nil, fmt.Errorf("it cannot be read after %d values: %s", len(out.Values), what)
		}
		out.Values, size = append(out.Values, value), size+len(value)
	}
	return out, nil
}

// tap keeps the block that a container's reader unpacked, to cut its values from it: the reader only decodes them.
type tap struct{ block []byte }

// next returns the next value, as the container holds it.
func (t *tap) next(r *ocf.Reader) ([]byte, error) {
	var nothing struct{} // so that fields are skipped
	if err := r.Decode(&nothing); err != nil {
		return nil, err
	}
	rest, err := r.Schema().Decode(t.block, &nothing, twmb.SkipUnknown())
	if err != nil {
		return nil, err
	}
	value := slices.Clone(t.block[:len(t.block)-len(rest)])
	t.block = rest
	return value, nil
}

// tapped is a codec whose blocks are kept.
type tapped struct {
	ocf.Codec
	into *tap
}

// DecompressBounded implements ocf.BoundedDecompressor.
func (c tapped) DecompressBounded(packed []byte, most int64) (_ []byte, err error) {
	c.into.block, err = c.Codec.(ocf.BoundedDecompressor).DecompressBounded(packed, most)
	return c.into.block, err
}

// unpacked is the codec that leaves blocks as they are.
type unpacked struct{}

func (unpacked) Name() string                                            { return "null" }
func (unpacked) Compress(block []byte) ([]byte, error)                   { return block, nil }
func (unpacked) Decompress(block []byte) ([]byte, error)                 { return block, nil }
func (unpacked) DecompressBounded(block []byte, _ int64) ([]byte, error) { return block, nil }
func (unpacked) Close() error                                            { return nil }
