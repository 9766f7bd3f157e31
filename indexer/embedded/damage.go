package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"

	"brine/internal/datadir"
)

// ErrDamaged is what Open returns for a folder whose documents are not those that were acknowledged; the error names the file.
var ErrDamaged = datadir.ErrDamaged

const rootFile = "root.bolt"

// folderLayout is the files of an index.
var folderLayout = datadir.Layout{rootFile, "*.zap", "BRINE-*"}

// checkIndex checks the folder of an index against its inventory, or, where it was not closed in order, reads it through, before Bleve may
// remove what it does not know of.
func checkIndex(dir string, queue *index.AnalysisQueue) error {
	if err := folderLayout.Make(dir); err != nil {
		return err
	}
	if sealed, err := datadir.Unseal(dir); sealed || err != nil {
		return err
	}
	noted, found, err := readProgress(dir)
	if err != nil {
		return err
	}
	broken, segments, err := readSegments(dir)
	if err != nil {
		return err
	}
	root := filepath.Join(dir, rootFile)
	switch info, err := os.Stat(root); {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0:
		if segments > 0 || noted.batches > 0 {
			return datadir.Damaged(root, "it is missing, or empty")
		}
		return nil
	case err != nil:
		return err
	}
	if err := checkRoot(root); err != nil {
		return err
	}
	is, err := lookInto(dir, queue)
	if err == nil {
		err = is.behind(noted, found)
	}
	for _, segment := range broken {
		if slices.Contains(is.segments, filepath.Base(segment)) {
			return datadir.Damaged(segment, "its checksum is not that of its content")
		}
	}
	switch {
	case err != nil && len(broken) > 0:
		return datadir.Damaged(root, "%v; the checksum of %s is not that of its content", err, strings.Join(broken, ", "))
	case err != nil:
		return datadir.Damaged(root, "%v", err)
	case is.marked && !found:
		return datadir.Damaged(filepath.Join(dir, progressFile), "it is missing")
	}
	return nil
}

// readSegments counts the segments of a folder, and returns those whose checksum is wrong: of Bleve's index, or what a process was killed
// over.
func readSegments(dir string) (broken []string, n int, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".zap" {
			continue
		}
		n++
		name := filepath.Join(dir, entry.Name())
		segment, err := os.ReadFile(name)
		if err != nil {
			return nil, 0, err
		}
		if end := len(segment) - 4; end < 0 || binary.BigEndian.Uint32(segment[end:]) != crc32.ChecksumIEEE(segment[:end]) {
			broken = append(broken, name)
		}
	}
	return broken, n, err
}

// content is what an index holds.
type content struct {
	at       progress
	marked   bool // whether at is there: an older brine wrote none
	docs     uint64
	segments []string // names of files
	unread   error    // of a state, the newest or an older one that is still there
}

// behind says what is missing of what was acknowledged.
func (is *content) behind(noted progress, found bool) error {
	switch {
	case is.unread != nil:
		return is.unread
	case is.at.batches < noted.batches:
		return fmt.Errorf("%d batches were acknowledged, and it has %d", noted.batches, is.at.batches)
	case (found || is.marked) && is.docs != is.at.docs:
		return fmt.Errorf("it has %d documents of %d", is.docs, is.at.docs)
	}
	return nil
}

// lookInto opens an index to read it. Bleve reads files that it has mapped, and trusts them: that they are damaged may show as a fault of
// memory, or as a panic.
func lookInto(dir string, queue *index.AnalysisQueue) (is content, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	opened, err := scorch.NewScorch(scorch.Name, map[string]any{"path": dir, "read_only": true, "bolt_timeout": "1s"}, queue)
	if err != nil {
		return content{}, err
	}
	if err := opened.Open(); err != nil {
		return content{}, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	reader, err := opened.Reader()
	if err != nil {
		return content{}, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	text, err := reader.GetInternal(progressKey)
	if err != nil {
		return content{}, err
	}
	if is.at, is.marked = decodeProgress(text); len(text) > 0 && !is.marked {
		return content{}, errors.New("what it says of its progress is damaged")
	}
	if snapshot, ok := reader.(*scorch.IndexSnapshot); ok {
		for _, segment := range snapshot.Segments() {
			is.segments = append(is.segments, fmt.Sprintf("%012x.zap", segment.Id()))
		}
	}
	is.unread = readStates(opened.(*scorch.Scorch))
	is.docs, err = reader.DocCount()
	return is, err
}

// readStates reads all states of an index. Bleve skips one that it cannot read, and takes one before it.
func readStates(opened *scorch.Scorch) error {
	epochs, err := opened.RootBoltSnapshotEpochs()
	if err != nil {
		return err
	}
	for _, epoch := range epochs {
		snapshot, err := opened.LoadSnapshot(epoch)
		if err != nil {
			return err
		}
		if err := snapshot.Close(); err != nil {
			return err
		}
	}
	return nil
}

// The first pages of root.bolt, a file of bbolt's: two that say where everything is, of which the newer counts. Of a page, in the byte
// order of the machine:
//
//	its number, 8 bytes | kind, 2 | count, 2 | pages that follow and belong to it, 4 | content
//
// and a meta page's content: magic, 4 | version, 4 | bytes of a page, 4 | flags, 4 | root, 16 | page of the free pages, 8 | pages in
// use, 8 | transaction, 8 | checksum, 8. The list of free pages has no checksum: a page that it names by mistake would be written
// over.
const (
	pageHead     = 16
	metaBytes    = 64
	freeListKind = 0x10
	noFreeList   = ^uint64(0)
)

// checkRoot checks what bbolt takes on trust: that the file is as long as it says, and that the free pages are pages.
func checkRoot(name string) error {
	file, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if len(file) < pageHead+metaBytes {
		return datadir.Damaged(name, "it has %d bytes", len(file))
	}
	order := binary.NativeEndian
	size := uint64(order.Uint32(file[pageHead+8:]))
	if size < 512 || size > 1<<16 || uint64(len(file)) < 2*size {
		return datadir.Damaged(name, "its first page is none")
	}
	var list, pages, newest uint64
	for _, page := range [][]byte{file, file[size:]} {
		meta := page[pageHead:min(uint64(len(page)), size)]
		if order.Uint64(meta[56:]) != metaSum(meta[:56]) {
			return datadir.Damaged(name, "the checksum of one of its first two pages is not that of its content")
		}
		if turn := order.Uint64(meta[48:]); turn >= newest {
			newest, list, pages = turn, order.Uint64(meta[32:]), order.Uint64(meta[40:])
		}
	}
	if pages > uint64(len(file))/size {
		return datadir.Damaged(name, "it has %d bytes; it had %d", len(file), pages*size)
	}
	if list == noFreeList {
		return nil
	}
	if list < 2 || list >= pages || !freeList(file[list*size:pages*size], list, pages) {
		return datadir.Damaged(name, "its list of free pages is none")
	}
	return nil
}

// freeList reports whether a page is a list of free pages: their numbers, in order. Where they are too many for the page's count the
// first number is the count.
func freeList(page []byte, id, pages uint64) bool {
	order := binary.NativeEndian
	n, rest := uint64(order.Uint16(page[10:])), page[pageHead:]
	if order.Uint64(page) != id || order.Uint16(page[8:]) != freeListKind {
		return false
	}
	if n == 0xFFFF {
		n, rest = order.Uint64(rest), rest[8:]
	}
	if n > uint64(len(rest))/8 {
		return false
	}
	for last := uint64(1); n > 0; n, rest = n-1, rest[8:] {
		free := order.Uint64(rest)
		if free <= last || free >= pages {
			return false
		}
		last = free
	}
	return true
}

// metaSum is the checksum of a meta page.
func metaSum(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // it cannot fail
	return h.Sum64()
}
