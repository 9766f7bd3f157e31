package embedded

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"brine/internal/datadir"
)

// progress is the state of an index. It is kept twice: in the index, as of its newest batch, and in a file beside it, as of the newest
// acknowledged batch. Bleve opens an index at the newest state that it can read. The comparison shows if that is not the newest state there
// was, or if documents are missing from it.
type progress struct {
	batches uint64 // applied since the index was created
	docs    uint64 // documents in the index after them
}

const (
	progressFile  = "BRINE-PROGRESS"
	progressBytes = 8 + 8 + 4 // the two fields and a checksum
)

var progressKey = []byte("brine progress")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (p progress) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, progressBytes), p.batches)
	b = binary.BigEndian.AppendUint64(b, p.docs)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeProgress(b []byte) (p progress, ok bool) {
	if len(b) != progressBytes || binary.BigEndian.Uint32(b[16:]) != crc32.Checksum(b[:16], castagnoli) {
		return progress{}, false
	}
	return progress{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, true
}

// readProgress reads the progress file of an index's folder, which does not exist before its first start.
func readProgress(dir string) (p progress, found bool, err error) {
	name := filepath.Join(dir, progressFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return progress{}, false, nil
	}
	if err != nil {
		return progress{}, false, err
	}
	if p, found = decodeProgress(text); !found {
		return progress{}, false, datadir.Damaged(name, "its checksum does not match its content")
	}
	return p, true, nil
}

// acknowledged is the progress file of an open index.
type acknowledged struct {
	mu sync.Mutex
	f  *os.File
	at progress
}

func openProgress(dir string, at progress) (*acknowledged, error) {
	f, err := os.OpenFile(filepath.Join(dir, progressFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	a := &acknowledged{f: f, at: at}
	if err := errors.Join(a.write(), f.Sync()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

// note raises the acknowledged progress. It does not sync the file, which only has to survive kill -9.
func (a *acknowledged) note(p progress) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.batches <= a.at.batches {
		return nil
	}
	a.at = p
	return a.write()
}

func (a *acknowledged) write() error {
	_, err := a.f.WriteAt(a.at.encode(), 0)
	return err
}

func (a *acknowledged) close() error { return a.f.Close() }
