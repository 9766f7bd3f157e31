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

// ErrDamaged is returned by Open for a folder whose documents are not those that were acknowledged; the error names the file.
var ErrDamaged = datadir.ErrDamaged

const rootFile = "root.bolt"

// folderLayout lists the files of an index.
var folderLayout = datadir.Layout{rootFile, "*.zap", "BRINE-*"}

// checkIndex checks the folder of an index against its inventory. If the index was not closed properly, checkIndex reads all of it, before
// Bleve may remove unknown files.
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
			return datadir.Damaged(segment, "its checksum does not match its content")
		}
	}
	switch {
	case err != nil && len(broken) > 0:
		return datadir.Damaged(root, "%v; the checksum of %s does not match its content", err, strings.Join(broken, ", "))
	case err != nil:
		return datadir.Damaged(root, "%v", err)
	case is.marked && !found:
		return datadir.Damaged(filepath.Join(dir, progressFile), "it is missing")
	}
	return nil
}

// readSegments counts the segments of a folder, and returns those with a wrong checksum: segments of Bleve's index, or partial files left
// by a process that was killed.
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
	marked   bool // whether at exists: older versions of brine did not write it
	docs     uint64
	segments []string // file names
	unread   error    // an error from reading a state: the newest, or an older one that still exists
}

// behind returns an error that describes what is missing of what was acknowledged, or nil.
func (is *content) behind(noted progress, found bool) error {
	switch {
	case is.unread != nil:
		return is.unread
	case is.at.batches < noted.batches:
		return fmt.Errorf("%d batches were acknowledged, but it has %d", noted.batches, is.at.batches)
	case (found || is.marked) && is.docs != is.at.docs:
		return fmt.Errorf("it has %d documents of %d", is.docs, is.at.docs)
	}
	return nil
}

// lookInto opens an index to read it. Bleve trusts the files that it has mapped: damage in them may cause a memory fault or a panic.
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
		return content{}, errors.New("its progress record is damaged")
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

// readStates reads all states of an index. Bleve itself skips a state that it cannot read, and uses an earlier one.
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

// The first pages of root.bolt, a file of bbolt, are two meta pages, of which the newer counts. The layout of a page, in the byte order of
// the machine:
//
//	its number, 8 bytes | kind, 2 | count, 2 | pages that follow and belong to it, 4 | content
//
// The content of a meta page: magic, 4 | version, 4 | bytes of a page, 4 | flags, 4 | root, 16 | page of the free pages, 8 | pages in use,
// 8 | transaction, 8 | checksum, 8. The list of free pages has no checksum: a page that is in it by mistake would be overwritten.
const (
	pageHead     = 16
	metaBytes    = 64
	freeListKind = 0x10
	noFreeList   = ^uint64(0)
)

// checkRoot checks what bbolt does not: that the file has its declared length, and that the list of free pages is valid.
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
		return datadir.Damaged(name, "its first page is not valid")
	}
	var list, pages, newest uint64
	for _, page := range [][]byte{file, file[size:]} {
		meta := page[pageHead:min(uint64(len(page)), size)]
		if order.Uint64(meta[56:]) != metaSum(meta[:56]) {
			return datadir.Damaged(name, "the checksum of one of its first two pages does not match its content")
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
		return datadir.Damaged(name, "its list of free pages is not valid")
	}
	return nil
}

// freeList reports whether a page is a list of free pages: their numbers, in order. If there are too many for the page's count, the first
// number is the count.
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

// metaSum returns the checksum of a meta page.
func metaSum(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // it cannot fail
	return h.Sum64()
}
