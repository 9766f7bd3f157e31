package account

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"

	"brine/internal/datadir"
)

// SQLite's write-ahead log is a header of 32 bytes and frames, each a header of 24 bytes and a page. Both end with a checksum of two words,
// which continues from the frame before. A frame whose second word is not zero ends a transaction, after which the log is synced. Frames
// whose salts differ from the header's are left over from an earlier log.
const (
	logMagic    = 0x377f0682 // with the lowest bit set, checksums are over big-endian words
	logHeader   = 32
	frameHeader = 24
)

// checksum is SQLite's running checksum.
type checksum struct{ a, b uint32 }

func (c checksum) over(order binary.ByteOrder, bytes []byte) checksum {
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		c.a += order.Uint32(bytes) + c.b
		c.b += order.Uint32(bytes[4:]) + c.a
	}
	return c
}

// checksumAt reads a checksum, which is stored big-endian.
func checksumAt(bytes []byte) checksum {
	return checksum{binary.BigEndian.Uint32(bytes), binary.BigEndian.Uint32(bytes[4:])}
}

// extent is how far a log with these salts has transactions. The file OPEN holds it while the database is open: "open", the salts, the
// big-endian end, and a checksum.
type extent struct {
	salts [8]byte
	end   int64
}

const begun = "open"

func (e extent) encode() []byte {
	b := append([]byte(begun), e.salts[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.end))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// decodeExtent decodes the result of encode. If a power failure tore it, the extent has no end.
func decodeExtent(b []byte) (e extent) {
	if len(b) != 24 || binary.BigEndian.Uint32(b[20:]) != crc32.ChecksumIEEE(b[:20]) {
		return extent{}
	}
	copy(e.salts[:], b[4:])
	e.end = int64(binary.BigEndian.Uint64(b[12:]))
	return e
}

// frames reads a log frame by frame.
type frames struct {
	log   io.ReaderAt
	order binary.ByteOrder
	salts [8]byte
	at    int64    // of the next frame
	sum   checksum // of everything before it
	frame []byte
}

// errNoLog is the error for a file that does not begin like a log of SQLite.
var errNoLog = fmt.Errorf("its first %d bytes are not those of an SQLite log", logHeader)

// readFrames reads a log's header. It returns io.EOF if the header is incomplete.
func readFrames(log io.ReaderAt) (frames, error) {
	header := make([]byte, logHeader)
	if n, err := log.ReadAt(header, 0); n < len(header) {
		return frames{}, err
	}
	f := frames{log: log, order: binary.LittleEndian, salts: [8]byte(header[16:]), at: logHeader, sum: checksumAt(header[24:])}
	magic, pageSize := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[8:])
	if magic&1 == 1 {
		f.order = binary.BigEndian
	}
	if magic&^1 != logMagic || pageSize < 512 || pageSize > 64<<10 || f.sum != (checksum{}).over(f.order, header[:24]) {
		return frames{}, errNoLog
	}
	f.frame = make([]byte, frameHeader+pageSize)
	return f, nil
}

// next reads the next frame, and reports whether it was written after the one before, and whether it ends a transaction. It returns io.EOF
// if the frame is incomplete.
func (f *frames) next() (whole, commits bool, err error) {
	if n, err := f.log.ReadAt(f.frame, f.at); n < len(f.frame) {
		return false, false, err
	}
	sum := f.sum.over(f.order, f.frame[:8]).over(f.order, f.frame[frameHeader:])
	f.at, f.sum = f.at+int64(len(f.frame)), checksumAt(f.frame[16:])
	return sum == f.sum && [8]byte(f.frame[8:]) == f.salts, binary.BigEndian.Uint32(f.frame[4:]) != 0, nil
}

// noter records how far the log has come whenever a transaction is about to commit: at that time, those before it are on disk. SQLite lets
// only one process and connection commit at a time.
type noter struct {
	mu   sync.Mutex // among the connections of one process
	log  *os.File
	to   *os.File
	past frames // after the last transaction
	last extent
}

// begin records how far a newly opened log has come, and that it must exist.
func (n *noter) begin(log *os.File) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log = log
	if n.last, err = n.advance(); err == nil {
		_, err = n.to.WriteAt(n.last.encode(), 0)
	}
	return errors.Join(err, n.to.Sync())
}

// note is a commit hook of SQLite. It lets the transaction through even if it cannot record anything: the older record then only demands
// less.
func (n *noter) note() int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.log == nil {
		return 0
	}
	if is, err := n.advance(); err == nil && is != n.last {
		if _, err := n.to.WriteAt(is.encode(), 0); err == nil {
			n.last = is
		}
	}
	return 0
}

// advance follows the log from its last position to its last transaction. What lies after that may be from a torn transaction, and may look
// whole except for its checksums.
func (n *noter) advance() (extent, error) {
	f, err := readFrames(n.log)
	switch {
	case errors.Is(err, io.EOF): // it is still empty
		return n.last, nil
	case err != nil:
		return n.last, err
	case n.past.log != nil && f.salts == n.past.salts:
		f = n.past
	default:
		n.past = f
	}
	for {
		whole, commits, err := f.next()
		if errors.Is(err, io.EOF) || err == nil && !whole {
			break
		}
		if err != nil {
			return n.last, err
		}
		if commits {
			n.past = f
		}
	}
	return extent{salts: n.past.salts, end: n.past.at}, nil
}

// checkLog finds what SQLite would wrongly take for the end of its log: an end before the recorded one, or an unreadable frame followed by
// a frame of a later transaction, which began only once the unreadable one was on disk. The last transaction may be torn.
func checkLog(path string, noted extent) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() <= logHeader {
		if noted.end > info.Size() {
			return datadir.Damaged(path, "it has %d bytes, but %d were committed", info.Size(), noted.end)
		}
		return nil
	}
	read, err := readFrames(f)
	if errors.Is(err, errNoLog) {
		return datadir.Damaged(path, "%v", err)
	}
	if err != nil {
		return err
	}
	broken, ended := int64(-1), false // where it cannot be read, and whether a transaction has ended since
	end := read.at                    // of the last transaction before broken
	for {
		at := read.at
		whole, commits, err := read.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case whole && broken >= 0 && ended:
			return datadir.Damaged(path, "its page at %d differs from what was written, and there are later ones", broken)
		case !whole && broken < 0:
			broken = at
		}
		if broken < 0 && commits {
			end = read.at
		}
		ended = ended || broken >= 0 && commits
	}
	if noted.salts == read.salts && noted.end > end {
		return datadir.Damaged(path, "its transactions end at %d, but they were committed up to %d", end, noted.end)
	}
	return nil
}
