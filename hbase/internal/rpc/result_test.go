package rpc

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"brine/hbase/hbasepb"
)

// allocatedBy returns the number of bytes that f allocates, including those of concurrent goroutines.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// readBytes returns the same data whatever its length, and takes no more memory than that plus believed; if the data ends early, only
// believed.
func TestReadBytes(t *testing.T) {
	for _, n := range []int{0, 1, believed - 1, believed, believed + 1, 3*believed + 5} {
		in := bytes.Repeat([]byte("0123456789a"), n/11+1)
		var got []byte
		var err error
		took := allocatedBy(func() { got, err = readBytes(bytes.NewReader(in), n) })
		if err != nil || !bytes.Equal(got, in[:n]) || took > uint64(n)+2*believed {
			t.Errorf("%d bytes: %d came, in %d: %v", n, len(got), took, err)
		}
	}
	came := bytes.NewReader(make([]byte, believed-1))
	var err error
	took := allocatedBy(func() { _, err = readBytes(came, 128<<20) })
	if !errors.Is(err, io.ErrUnexpectedEOF) || took > 2*believed {
		t.Errorf("%v after %d bytes", err, took)
	}
}

// One byte of a scan's answer announces a row: a million rows without cells yield no pieces and take no memory.
func TestRowsWithoutCellsTakeNoMemory(t *testing.T) {
	m := &hbasepb.ScanResponse{CellsPerResult: make([]uint32, 1_000_000)}
	var pieces []Piece
	var err error
	took := allocatedBy(func() { pieces, err = DecodeScan(m, nil) })
	if len(pieces) != 0 || err != nil || took > 100_000 {
		t.Errorf("%d rows in %d bytes: %v", len(pieces), took, err)
	}
}
