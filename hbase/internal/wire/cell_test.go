package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One cell, written by hand from the layout.
func TestCellLayout(t *testing.T) {
	c := Cell{
		Row: []byte("row1"), Family: []byte("e"), Qualifier: []byte("st"), Value: []byte("上海"),
		Timestamp: 0x0102030405060708, Type: 4,
	}
	const want = "00000021" + // 33 = 8 + 19 + 6
		"00000013" + "00000006" + // key, value
		"0004" + "726f7731" + "01" + "65" + "7374" + "0102030405060708" + "04" +
		"e4b88ae6b5b7"
	got := AppendCell(nil, c)
	if hex.EncodeToString(got) != want {
		t.Errorf("got  %x\nwant %s", got, want)
	}
	if n := CellSize(4, 1, 2, 6); n != len(got) {
		t.Errorf("CellSize = %d, encoded %d", n, len(got))
	}
}

func TestCellsRoundTrip(t *testing.T) {
	cells := []Cell{
		{Row: []byte("a"), Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("v"), Timestamp: 1, Type: 4},
		{Row: []byte("a"), Family: []byte("f"), Qualifier: []byte{}, Value: []byte{}, Timestamp: -1, Type: 14},
		{Row: bytes.Repeat([]byte("r"), MaxRowLen), Family: bytes.Repeat([]byte("f"), MaxFamilyLen), Qualifier: []byte{0, 255}, Value: []byte{}, Type: 8},
	}
	var block []byte
	for _, c := range cells {
		block = AppendCell(block, c)
	}
	var got []Cell
	for len(block) > 0 {
		var c Cell
		rest, err := NextCell(&c, block)
		if err != nil {
			t.Fatal(err)
		}
		got, block = append(got, c), rest
	}
	if diff := cmp.Diff(cells, got); diff != "" {
		t.Error(diff)
	}
}

// Every length in a valid cell is corrupted in turn, and the cell is cut at every byte.
func TestNextCellRefusesBrokenLengths(t *testing.T) {
	good := AppendCell(nil, Cell{Row: []byte("row"), Family: []byte("fam"), Qualifier: []byte("q"), Value: []byte("value"), Type: 4})
	for cut := range good {
		if _, err := NextCell(new(Cell), good[:cut]); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	for _, at := range []int{0, 1, 2, 3, 4, 7, 8, 11, 12, 13, 17} {
		for _, v := range []byte{0x7f, 0x80, 0xff} {
			bad := bytes.Clone(good)
			bad[at] = v
			if _, err := NextCell(new(Cell), bad); !errors.Is(err, ErrMalformed) {
				t.Errorf("byte %d = %#x: %v", at, v, err)
			}
		}
	}
}

// Whatever decodes also encodes to the same bytes: nothing is lost and nothing invented.
func FuzzNextCell(f *testing.F) {
	f.Add(AppendCell(nil, Cell{Row: []byte("row"), Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("v"), Timestamp: 7, Type: 4}))
	f.Add(AppendCell(nil, Cell{Row: []byte("row"), Family: []byte("f"), Type: 14}))
	f.Add([]byte{0, 0, 0, 20, 0, 0, 0, 12, 0, 0, 0, 0, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			var c Cell
			rest, err := NextCell(&c, b)
			if err != nil {
				return
			}
			if got := AppendCell(nil, c); !bytes.Equal(got, b[:len(b)-len(rest)]) {
				t.Fatalf("%x became %x", b[:len(b)-len(rest)], got)
			}
			b = rest
		}
	})
}

func TestCellsDoNotAllocate(t *testing.T) {
	c := Cell{Row: []byte("row"), Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("value")}
	buf := make([]byte, 0, 1024)
	n := testing.AllocsPerRun(100, func() {
		block := AppendCell(buf, c)
		if _, err := NextCell(new(Cell), block); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppendCell(b *testing.B) {
	c := Cell{Row: make([]byte, 32), Family: []byte("e"), Qualifier: []byte("s"), Value: make([]byte, 40), Timestamp: 1}
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendCell(buf[:0], c)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkNextCell(b *testing.B) {
	block := AppendCell(nil, Cell{Row: make([]byte, 32), Family: []byte("e"), Qualifier: []byte("s"), Value: make([]byte, 40)})
	b.ReportAllocs()
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		if _, err := NextCell(new(Cell), block); err != nil {
			b.Fatal(err)
		}
	}
}
