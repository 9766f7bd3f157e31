package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"brine/internal/datadir"
)

// lengths records the minimum lengths of the files that Pebble appends to: its logs and manifests. Pebble takes the place where one of them
// becomes unreadable for its end; lengths knows how much was acknowledged.
//
// The file has two slots, written in turn, so that one of them is whole whenever the process ends. A slot is
//
//	checksum of the rest, 4 bytes | bytes of the rest, 4 | number of the write, 8 | for each file: length, 8 | bytes of its name, 1 | name
//
// in big endian. A write waits only for the operating system: it survives kill -9. After a power failure a recorded length is at worst too
// small if Options.Fsync is set.
type lengths struct {
	mu   sync.Mutex
	f    *os.File
	turn uint64
	of   []length
	buf  []byte
}

type length struct {
	name  string
	bytes int64
}

const (
	lengthsFile = "BRINE-LENGTHS"
	slotBytes   = 64 << 10
	slotHead    = 4 + 4 + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openLengths opens the file of a folder, or creates one without entries.
func openLengths(dir string) (*lengths, error) {
	path := filepath.Join(dir, lengthsFile)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l := &lengths{buf: make([]byte, 0, 512)}
	if err == nil && len(text) > 0 && !l.decode(text) { // an empty file is left by a start that was interrupted
		return nil, datadir.Damaged(path, "neither half of it is intact")
	}
	if l.f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := errors.Join(l.write(), l.write(), l.f.Sync()); err != nil {
		return nil, errors.Join(err, l.f.Close())
	}
	return l, nil
}

// follows reports whether lengths are recorded for a file of that name.
func follows(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "MANIFEST-")
}

// note raises a file's length.
func (l *lengths) note(name string, n int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.find(name)
	if i < 0 {
		l.of = append(l.of, length{name, n})
	} else {
		if n <= l.of[i].bytes {
			return nil
		}
		l.of[i].bytes = n
	}
	return l.write()
}

// drop removes the entry of a file that is about to be removed for good.
func (l *lengths) drop(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.find(name)
	if i < 0 {
		return nil
	}
	l.of = slices.Delete(l.of, i, i+1)
	return errors.Join(l.write(), l.f.Sync())
}

func (l *lengths) find(name string) int {
	return slices.IndexFunc(l.of, func(o length) bool { return o.name == name })
}

func (l *lengths) write() error {
	l.turn++
	b := binary.BigEndian.AppendUint64(l.buf[:0], 0) // room for the checksum and the size, set below
	b = binary.BigEndian.AppendUint64(b, l.turn)
	for _, o := range l.of {
		b = binary.BigEndian.AppendUint64(b, uint64(o.bytes))
		b = append(b, byte(len(o.name)))
		b = append(b, o.name...)
	}
	if len(b) > slotBytes {
		return fmt.Errorf("%s has no room for %d files", lengthsFile, len(l.of))
	}
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-8))
	binary.BigEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	l.buf = b
	_, err := l.f.WriteAt(b, int64(l.turn%2)*slotBytes)
	return err
}

// decode reads the newer of the whole slots, and reports whether there is one.
func (l *lengths) decode(text []byte) bool {
	for _, slot := range [][]byte{text[:min(slotBytes, len(text))], text[min(slotBytes, len(text)):]} {
		if turn, of, ok := decodeSlot(slot); ok && turn > l.turn {
			l.turn, l.of = turn, of
		}
	}
	return l.turn > 0
}

func decodeSlot(b []byte) (turn uint64, of []length, ok bool) {
	if len(b) < slotHead {
		return 0, nil, false
	}
	n := int(binary.BigEndian.Uint32(b[4:]))
	if n < 8 || n > len(b)-8 || binary.BigEndian.Uint32(b) != crc32.Checksum(b[4:8+n], castagnoli) {
		return 0, nil, false
	}
	turn = binary.BigEndian.Uint64(b[8:])
	for rest := b[slotHead : 8+n]; len(rest) > 0; {
		if len(rest) < 9 || len(rest) < 9+int(rest[8]) {
			return 0, nil, false
		}
		end := 9 + int(rest[8])
		of = append(of, length{string(rest[9:end]), int64(binary.BigEndian.Uint64(rest))})
		rest = rest[end:]
	}
	return turn, of, true
}

func (l *lengths) close() error { return l.f.Close() }
