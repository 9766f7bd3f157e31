package broker

import (
	"bytes"
	"io"
	"testing"

	"github.com/segmentio/kafka-go/compress"
)

// compressed returns a batch of n records of size bytes each, which compress well.
func compressed(t *testing.T, n, size int) []byte {
	t.Helper()
	b := testBatch{}
	for i := range n {
		b.records = append(b.records, testRecord{delta: int64(i), value: bytes.Repeat([]byte("brine "), size/6)})
	}
	plain := b.bytes()
	var body bytes.Buffer
	w := compress.Snappy.Codec().NewWriter(&body)
	_, err := w.Write(plain[batchHeader:])
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.attributes, b.body = int16(compress.Snappy), body.Bytes()
	return b.bytes()
}

// takes reads an answer of such batches as fetches do, and returns the chunk.
func takes(t *testing.T, batches []byte) *Chunk {
	t.Helper()
	c := NewChunk(topic, 0)
	c.answer = newBuffer(len(batches))
	copy(c.answer.b, batches)
	if err := c.take(&fetchAnswer{batches: c.answer.b}, 0, -1); err != nil {
		t.Fatal(err)
	}
	return c
}

// A chunk holds at most twice the memory of its records; the answer is released once everything is decompressed from it.
func TestChunksHoldLittleMoreThanTheirRecords(t *testing.T) {
	for range 20 { // also with buffers that earlier chunks left in the pools
		for _, c := range []struct {
			name    string
			batches []byte
			answer  bool
		}{
			{"many, inflated", compressed(t, 5000, 600), false},
			{"a few, inflated", compressed(t, 50, 600), false},
			{"large, inflated", compressed(t, 3, 1_000_000), false},
			{"plain", testBatch{records: []testRecord{{value: make([]byte, 300_000)}}}.bytes(), true},
		} {
			got := takes(t, c.batches)
			if (got.answer != nil) != c.answer {
				t.Errorf("%s: the answer is kept: %t, want %t", c.name, got.answer != nil, c.answer)
			}
			if most := 2*got.Cost + bufferSlack + recordSlack*recordBytes; got.Memory() > most {
				t.Errorf("%s: holds %d bytes for records of %d, want at most %d", c.name, got.Memory(), got.Cost, most)
			}
			got.Release()
		}
	}
}

func TestInflatedHasABound(t *testing.T) {
	for n, fits := range map[int]bool{0: true, 99: true, 100: true, 101: false, 1 << 20: false} {
		b, err := inflated(bytes.NewReader(make([]byte, n)), 100)
		if fits != (err == nil) || fits && len(b.b) != n {
			t.Errorf("%d bytes of at most 100: %v", n, err)
		}
	}
	if _, err := inflated(io.MultiReader(bytes.NewReader([]byte("abc")), brokenReader{}), 100); err == nil {
		t.Error("what ends in an error was taken")
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
