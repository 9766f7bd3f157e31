package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var allCompressions = []Compression{None, Gzip, Snappy, LZ4, Zstd}

// someCells returns a cell block of about n bytes that resembles scans.
func someCells(n int) []byte {
	var block []byte
	r := rand.New(rand.NewPCG(1, 1))
	for len(block) < n {
		row := []byte("1545UA-1545-20130101-EWR|" + string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(26))) + "|DEPART")
		for _, q := range []string{"s", "a", "c"} {
			block = AppendCell(block, Cell{Row: row, Family: []byte("e"), Qualifier: []byte(q), Timestamp: 1357034220000 + r.Int64N(1e9), Type: 4, Value: []byte("Newark Liberty Intl"[:r.IntN(20)])})
		}
	}
	return block
}

func TestCompressedBlocksComeBack(t *testing.T) {
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for _, c := range allCompressions {
		for _, block := range [][]byte{nil, {7}, someCells(100), someCells(100_000), someCells(1_000_000), noise, make([]byte, 2*hadoopBlock)} {
			packed, err := c.Compress([]byte("x"), block)
			if err != nil || packed[0] != 'x' {
				t.Fatalf("%s, %d bytes: %q, %v", c, len(block), packed[:1], err)
			}
			got, err := c.Expand(packed[1:], len(block))
			if err != nil || !bytes.Equal(got, block) {
				t.Errorf("%s: %d bytes became %d, %v", c, len(block), len(got), err)
			}
			if c == None || len(block) == 0 {
				continue
			}
			if _, err := c.Expand(packed[1:], len(block)-1); !errors.Is(err, ErrTooLong) {
				t.Errorf("%s, %d bytes, one more than allowed: %v", c, len(block), err)
			}
			if _, err := c.Expand(packed[1:len(packed)-1], len(block)); !errors.Is(err, ErrMalformed) {
				t.Errorf("%s, %d bytes, the last one cut off: %v", c, len(block), err)
			}
		}
	}
}

// A compression bomb is recognized by its first bytes or during expansion, and never produces more than permitted.
func TestBombs(t *testing.T) {
	for _, c := range allCompressions[1:] {
		bomb, err := c.Compress(nil, make([]byte, 64<<20))
		if err != nil {
			t.Fatal(err)
		}
		const max = 1 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := c.Expand(bomb, max); !errors.Is(err, ErrTooLong) {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8*max {
			t.Errorf("%s: %d bytes were allocated for a bomb of %d that may make %d", c, allocated, len(bomb), max)
		}
	}
}

// The files were written by the codecs of Hadoop 3.4.2, like a region server writes them.
func TestBlocksOfHadoop(t *testing.T) {
	for _, c := range []Compression{Gzip, Snappy, LZ4} {
		block, err := os.ReadFile(filepath.Join("testdata", "hadoop", c.String()))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("brine and salt, ", 20_000)
		if got, err := c.Expand(block, len(want)); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", c, len(got), err)
		}
	}
}

func TestMalformedBlocks(t *testing.T) {
	for _, tt := range []struct {
		c    Compression
		hex  string
		want string
	}{
		{Snappy, "000000", "3 bytes where a length is expected"},
		{Snappy, "ffffffff", "length -1"},
		{Snappy, "0000000500000001", "a chunk of 1 bytes, 0 there"},
		{Snappy, "7fffffff00000001", "a block of 2147483647 bytes in 4"},
		{Snappy, "0000000200000003ff0100", "a chunk of 255 bytes in a block that has 2 left"},
		{LZ4, "0000000200000003ff0100", "lz4"},
		{Gzip, "1f8b", "EOF"},
		{Zstd, "28b52ffd", "EOF"},
	} {
		block, err := hex.DecodeString(tt.hex)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tt.c.Expand(block, 1<<31-1); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v", tt.c, tt.hex, err)
		}
	}
	if got, err := Snappy.Expand([]byte{0, 0, 0, 0, 1, 2, 3}, 10); err != nil || len(got) > 0 {
		t.Errorf("a block of length 0 ends the blocks: %v, %v", got, err)
	}
}

func TestCompressionNames(t *testing.T) {
	for _, c := range allCompressions {
		if got, err := ParseCompression(c.String()); err != nil || got != c {
			t.Errorf("%s: %v, %v", c, got, err)
		}
		if got, ok := CompressionOf(c.Class()); !ok || got != c {
			t.Errorf("%s: %v, %v", c.Class(), got, ok)
		}
	}
	if _, err := ParseCompression("lzo"); err == nil || err.Error() != `no compression "lzo"; write one of none, gzip, snappy, lz4, zstd` {
		t.Error(err)
	}
	if _, ok := CompressionOf(hadoopCodecs + "BZip2Codec"); ok {
		t.Error("bzip2 is not spoken")
	}
}

// FuzzExpand checks that any bytes expand to no more than permitted, and that the result can be compressed again.
func FuzzExpand(f *testing.F) {
	for _, c := range allCompressions {
		packed, err := c.Compress(nil, someCells(1000))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(c), packed)
	}
	f.Fuzz(func(t *testing.T, kind byte, block []byte) {
		c := allCompressions[int(kind)%len(allCompressions)]
		const max = 1 << 16
		got, err := c.Expand(block, max)
		if c == None || err != nil {
			return
		}
		if len(got) > max {
			t.Fatalf("%s: %d bytes", c, len(got))
		}
		again, err := c.Compress(nil, got)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := c.Expand(again, max); err != nil || !bytes.Equal(back, got) {
			t.Errorf("%s: %d bytes came back as %d, %v", c, len(got), len(back), err)
		}
	})
}

// BenchmarkCompress measures what a compression costs and saves for a cell block of 256 KiB of scans.
func BenchmarkCompress(b *testing.B) {
	block := someCells(256 << 10)
	for _, c := range allCompressions {
		packed, err := c.Compress(nil, block)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.String()+"/compress", func(b *testing.B) {
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if packed, err = c.Compress(packed[:0], block); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(packed))/float64(len(block)), "of-size")
		})
		b.Run(c.String()+"/expand", func(b *testing.B) {
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Expand(packed, len(block)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
