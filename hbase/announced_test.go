package hbase

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"brine/hbase/hbasepb"
)

// allocated returns the bytes that f allocates, those of goroutines that run beside it included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Servers that announce the longest answers allowed and then send nothing, one connection after the other, are not believed.
func TestAnnouncedAnswersTakeNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		var lies atomic.Int64
		p.answer = func(c *peerCall) *reply {
			if c.method != "Get" {
				return nil
			}
			lies.Add(1)
			return &reply{raw: binary.BigEndian.AppendUint32(nil, uint32(defaults.MaxAnswerBytes))}
		}
		c := p.open(p.options())
		var err error
		took := allocated(func() { _, err = c.Get(t.Context(), "t", Get{Row: []byte("a")}) })
		told := lies.Load()
		if err == nil || told < 3 {
			t.Errorf("%d lies: %v", told, err)
		}
		if most := uint64(told) * 2 * believed; took > most {
			t.Errorf("%d bytes for %d answers that never came, want at most %d", took, told, most)
		}
		c.Close()
		p.stop()
	})
}

// What is read is the same however long it is, and takes no more memory than it is long, and what is believed; what ends too early
// before that takes only that.
func TestReadBytes(t *testing.T) {
	for _, n := range []int{0, 1, believed - 1, believed, believed + 1, 3*believed + 5} {
		in := bytes.Repeat([]byte("0123456789a"), n/11+1)
		var got []byte
		var err error
		took := allocated(func() { got, err = readBytes(bytes.NewReader(in), n) })
		if err != nil || !bytes.Equal(got, in[:n]) || took > uint64(n)+2*believed {
			t.Errorf("%d bytes: %d came, in %d: %v", n, len(got), took, err)
		}
	}
	came := bytes.NewReader(make([]byte, believed-1))
	var err error
	took := allocated(func() { _, err = readBytes(came, defaults.MaxAnswerBytes) })
	if !errors.Is(err, io.ErrUnexpectedEOF) || took > 2*believed {
		t.Errorf("%v after %d bytes", err, took)
	}
}

// A byte of a scan's answer announces a row: a million without cells are none, and take none's memory.
func TestRowsWithoutCellsTakeNoMemory(t *testing.T) {
	m := &hbasepb.ScanResponse{CellsPerResult: make([]uint32, 1_000_000)}
	var pieces []piece
	var err error
	took := allocated(func() { pieces, err = scanResults(m, nil) })
	if len(pieces) != 0 || err != nil || took > 100_000 {
		t.Errorf("%d rows in %d bytes: %v", len(pieces), took, err)
	}
}
