package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The coders are pooled because each has its own tables. All use the fastest level: the bottleneck here is the CPU.
var (
	gzipWriters = sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return orBug(w, err)
	}}
	gzipReaders  = sync.Pool{New: func() any { return new(gzip.Reader) }}
	zstdEncoders = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		return orBug(e, err)
	}}
	zstdDecoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		return orBug(d, err)
	}}
)

func orBug[T any](v T, err error) T {
	if err != nil {
		panic("BUG: wire: " + err.Error())
	}
	return v
}

// appending is a Writer that appends to a slice.
type appending struct{ bytes []byte }

func (a *appending) Write(p []byte) (int, error) {
	a.bytes = append(a.bytes, p...)
	return len(p), nil
}

func appendGzip(dst, block []byte) ([]byte, error) {
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	out := &appending{dst}
	w.Reset(out)
	if _, err := w.Write(block); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.bytes, nil
}

func expandGzip(block []byte, max int) ([]byte, error) {
	r := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(r)
	if err := r.Reset(bytes.NewReader(block)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	out := bytes.NewBuffer(make([]byte, 0, min(max, 3*len(block))+bytes.MinRead))
	n, err := out.ReadFrom(io.LimitReader(r, int64(max)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	case n > int64(max):
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, max)
	}
	return out.Bytes(), nil
}

func appendZstd(dst, block []byte) []byte {
	e := zstdEncoders.Get().(*zstd.Encoder)
	defer zstdEncoders.Put(e)
	return e.EncodeAll(block, dst)
}

// expandZstd tries ever larger buffers, because a stream need not have its content's size.
func expandZstd(block []byte, max int) ([]byte, error) {
	d := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(d)
	for room := min(max, 4*len(block)+512); ; room = min(max, 4*room) {
		out, err := d.DecodeAll(block, make([]byte, 0, room))
		switch {
		case err == nil:
			return out, nil
		case !errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		case room == max:
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, max)
		}
	}
}
