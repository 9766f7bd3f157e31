package account

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"brine/internal/datadir"
)

// logOf returns a log of SQLite with a page of 512 bytes per commit flag, which is true if the page ends a transaction. It also returns
// where transactions end.
func logOf(order binary.ByteOrder, commits []bool) (log []byte, ends []int64) {
	const pageSize = 512
	magic := uint32(logMagic)
	if order == binary.BigEndian {
		magic |= 1
	}
	log = binary.BigEndian.AppendUint32(nil, magic)
	log = binary.BigEndian.AppendUint32(log, 3007000)
	log = binary.BigEndian.AppendUint32(log, pageSize)
	log = append(log, "\x00\x00\x00\x00saltsalt"...)
	sum := checksum{}.over(order, log)
	add := func() { log = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(log, sum.a), sum.b) }
	add()
	for i, commit := range commits {
		at, size := len(log), uint32(0)
		if commit {
			size = uint32(i + 1)
		}
		log = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(log, uint32(i+1)), size)
		page := make([]byte, pageSize)
		page[i%pageSize] = byte(i)
		sum = sum.over(order, log[at:at+8]).over(order, page)
		log = append(log, "saltsalt"...)
		add()
		if log = append(log, page...); commit {
			ends = append(ends, int64(len(log)))
		}
	}
	return log, ends
}

// TestTornTransactionIsNotNoted checks that what was being written when a process was killed does not count as committed, neither when the
// log is opened nor when a shorter transaction has replaced it. Otherwise the folder would be refused as damaged after the next kill.
func TestTornTransactionIsNotNoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), walFile)
	write := func(log []byte) {
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, ends := logOf(binary.LittleEndian, []bool{true, false, false, true})
	torn := log[:len(log)-1]
	write(torn)
	opened, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	n := &noter{log: opened}
	is, err := n.advance()
	if err != nil || is.end != ends[0] {
		t.Errorf("opened, it ends at %d, %v; want %d", is.end, err, ends[0])
	}
	n.last = is
	shorter, ends := logOf(binary.LittleEndian, []bool{true, true})
	write(append(shorter, log[len(shorter):]...)) // what it does not reach stays
	if is, err = n.advance(); err != nil || is.end != ends[1] {
		t.Errorf("written again, it ends at %d, %v; want %d", is.end, err, ends[1])
	}
	if err := checkLog(path, is); err != nil {
		t.Error(err)
	}
}

// FuzzLog checks that any log is compared with any note of its length, and is either refused as damaged or accepted.
func FuzzLog(f *testing.F) {
	log, ends := logOf(binary.LittleEndian, []bool{true, false, true})
	f.Add(log, extent{salts: [8]byte([]byte("saltsalt")), end: ends[1]}.encode())
	f.Add(log[:100], []byte("open"))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, log, note []byte) {
		path := filepath.Join(t.TempDir(), walFile)
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkLog(path, decodeExtent(note)); err != nil && !errors.Is(err, datadir.ErrDamaged) {
			t.Errorf("%v, which says not that it is damaged", err)
		}
		opened, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		if is, err := (&noter{log: opened}).advance(); err != nil && !errors.Is(err, errNoLog) || is.end > int64(len(log)) && is.end > logHeader {
			t.Errorf("a log of %d bytes ends at %d, %v", len(log), is.end, err)
		}
	})
}

// FuzzLogThatLacksItsEnd checks that a log that is cut anywhere is refused if and only if a recorded part is gone, and that one with a
// changed byte in the recorded part is refused.
func FuzzLogThatLacksItsEnd(f *testing.F) {
	f.Add([]byte{1, 0, 1, 1}, uint16(600), uint8(2), false)
	f.Add([]byte{0, 0, 1}, uint16(1400), uint8(0), true)
	f.Fuzz(func(t *testing.T, commits []byte, at uint16, noted uint8, changed bool) {
		order, ended := binary.ByteOrder(binary.LittleEndian), make([]bool, min(len(commits), 20))
		for i := range ended {
			ended[i] = commits[i]&1 == 1
		}
		if len(commits) > 0 && commits[0]&2 == 2 {
			order = binary.BigEndian
		}
		log, ends := logOf(order, ended)
		note := extent{salts: [8]byte([]byte("saltsalt")), end: logHeader}
		if len(ends) > 0 {
			note.end = ends[int(noted)%len(ends)]
		}
		cut := int64(at) % int64(len(log))
		var lost bool
		if changed {
			log[cut] ^= 0x40
			lost = cut < note.end && note.end > logHeader
		} else {
			log = log[:cut]
			lost = cut < note.end && (cut > logHeader || note.end > cut)
		}
		path := filepath.Join(t.TempDir(), walFile)
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
		err := checkLog(path, note)
		if lost && !errors.Is(err, datadir.ErrDamaged) {
			t.Errorf("%d was noted, byte %d is changed (%v) or the first gone, and the log is taken: %v", note.end, cut, changed, err)
		}
		if !lost && !changed && err != nil {
			t.Errorf("%d was noted, all up to %d is there: %v", note.end, cut, err)
		}
	})
}
