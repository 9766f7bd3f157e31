package account

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"

	"brine/internal/datadir"
)

// SQLite's write-ahead log is a header of 32 bytes and frames, each a header of 24 bytes and a page. Both end with a checksum of two words,
// which goes on from the frame before. A frame whose second word is not zero ends a transaction, after which the log is synced. Frames of
// other salts than the header's are what is left of an earlier log.
const (
	logMagic    = 0x377f0682 // with the lowest bit set checksums are of words that begin with their highest byte
	logHeader   = 32
	frameHeader = 24
)

// checksum is SQLite's, which goes on from what came before.
type checksum struct{ a, b uint32 }

func (c checksum) over(order binary.ByteOrder, bytes []byte) checksum {
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		c.a += order.Uint32(bytes) + c.b
		c.b += order.Uint32(bytes[4:]) + c.a
	}
	return c
}

// checksumAt reads a checksum, which is stored with its highest byte first.
func checksumAt(bytes []byte) checksum {
	return checksum{binary.BigEndian.Uint32(bytes), binary.BigEndian.Uint32(bytes[4:])}
}

// extent is how far a log with these salts has transactions. It is what the file OPEN holds while the database is open: "open", the salts,
// the end with its highest byte first, and a checksum.
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

// decodeExtent reads what encode made. What a failure of power has torn says nothing of the end.
func decodeExtent(b []byte) (e extent) {
	if len(b) != 24 || binary.BigEndian.Uint32(b[20:]) != crc32.ChecksumIEEE(b[:20]) {
		return extent{}
	}
	copy(e.salts[:], b[4:])
	e.end = int64(binary.BigEndian.Uint64(b[12:]))
	return e
}

// noter notes how far the log has come, whenever a transaction is to be committed: then those before it are on disk. SQLite lets one
// commit at a time, in whatever process.
type noter struct {
	mu   sync.Mutex // connections of one process
	log  *os.File
	to   *os.File
	last extent
}

// begin notes how far a log is that was opened, and that it must be there.
func (n *noter) begin(log *os.File) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log = log
	if n.last, err = n.advance(); err == nil {
		_, err = n.to.WriteAt(n.last.encode(), 0)
	}
	return errors.Join(err, n.to.Sync())
}

// note is a commit hook of SQLite. It lets the transaction through though nothing can be noted: then the older note asks for less.
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

// advance follows the log from where it was to its last transaction.
func (n *noter) advance() (extent, error) {
	header := make([]byte, logHeader)
	switch _, err := n.log.ReadAt(header, 0); {
	case errors.Is(err, io.EOF): // nothing is in it yet
		return n.last, nil
	case err != nil:
		return n.last, err
	}
	is := extent{salts: [8]byte(header[16:]), end: logHeader}
	if is.salts == n.last.salts {
		is = n.last
	}
	pageSize := int64(binary.BigEndian.Uint32(header[8:]))
	frame := header[:frameHeader]
	for at := is.end; ; {
		_, err := n.log.ReadAt(frame, at)
		switch {
		case errors.Is(err, io.EOF):
			return is, nil
		case err != nil:
			return is, err
		case [8]byte(frame[8:]) != is.salts:
			return is, nil
		}
		at += frameHeader + pageSize
		if binary.BigEndian.Uint32(frame[4:]) != 0 {
			is.end = at
		}
	}
}

// checkLog finds what SQLite would take for the end of its log, and is not: one before what was noted, or a frame that cannot be read,
// behind which there is one of a later transaction, which began only once that frame was on disk. The last transaction may be torn.
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
			return datadir.Damaged(path, "it has %d bytes; %d were committed", info.Size(), noted.end)
		}
		return nil
	}
	header := make([]byte, logHeader)
	if _, err := io.ReadFull(f, header); err != nil {
		return err
	}
	magic, pageSize := binary.BigEndian.Uint32(header), int64(binary.BigEndian.Uint32(header[8:]))
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	last := checksumAt(header[24:])
	if magic&^1 != logMagic || pageSize < 512 || pageSize > 64<<10 || last != (checksum{}).over(order, header[:24]) {
		return datadir.Damaged(path, "its first %d bytes are not those of a log of SQLite", logHeader)
	}
	frame := make([]byte, frameHeader+pageSize)
	broken, ended := int64(-1), false // where it cannot be read, and whether a transaction has ended since
	end := int64(logHeader)           // of the last transaction before that
	for at := int64(logHeader); at+int64(len(frame)) <= info.Size(); at += int64(len(frame)) {
		if _, err := io.ReadFull(f, frame); err != nil {
			return err
		}
		sum := last.over(order, frame[:8]).over(order, frame[frameHeader:])
		last = checksumAt(frame[16:])
		switch whole := sum == last && string(frame[8:16]) == string(header[16:24]); {
		case whole && broken >= 0 && ended:
			return datadir.Damaged(path, "its page at %d is not what was written, and there are later ones", broken)
		case !whole && broken < 0:
			broken = at
		}
		if broken < 0 && binary.BigEndian.Uint32(frame[4:]) != 0 {
			end = at + int64(len(frame))
		}
		ended = ended || broken >= 0 && binary.BigEndian.Uint32(frame[4:]) != 0
	}
	if noted.salts == [8]byte(header[16:]) && noted.end > end {
		return datadir.Damaged(path, "its transactions end at %d; they were committed up to %d", end, noted.end)
	}
	return nil
}
