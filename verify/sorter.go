package verify

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// sorter sorts entries by shard and key. What does not fit into its buffer is sorted and written to a temporary file, run by run; reading a
// shard merges its parts of the runs. Entries may be added again after reading.
//
// The layout of an entry in buffer and file:
//
//	uint32  length of what follows
//	uint16  shard
//	uint16  length of the key
//	key, payload
type sorter struct {
	shards int

	mu    sync.Mutex
	buf   []byte
	items []item
	count int64

	file *os.File
	size int64
	runs [][]int64 // where each shard begins in the file, and where the last one ends
}

// item is an entry in the buffer. Its prefix is the shard and the first bytes of the key, which usually decide the order.
type item struct {
	prefix uint64
	at     int
}

const (
	entryHead   = 8
	prefixBytes = 6
)

// newSorter creates its file in dir; "" means the system's directory for temporary files.
func newSorter(dir string, memory int64, shards int) (*sorter, error) {
	file, err := os.CreateTemp(dir, "brine-verify-*")
	if err != nil {
		return nil, fmt.Errorf("verify: a temporary file: %w", err)
	}
	_ = os.Remove(file.Name()) // the open file has no name, so it ends with the process; if that is not possible, close removes it
	return &sorter{shards: shards, buf: make([]byte, 0, memory), file: file}, nil
}

func (s *sorter) close() {
	_ = s.file.Close() // nothing in it is needed any more
	_ = os.Remove(s.file.Name())
}

func (s *sorter) add(shard int, key, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if need := entryHead + len(key) + len(payload); len(s.buf)+need > cap(s.buf) {
		if err := s.spill(); err != nil {
			return err
		}
	}
	prefix := uint64(shard) << 48
	for i, b := range key[:min(len(key), prefixBytes)] {
		prefix |= uint64(b) << (40 - 8*i)
	}
	s.items = append(s.items, item{prefix, len(s.buf)})
	s.buf = binary.BigEndian.AppendUint32(s.buf, uint32(entryHead-4+len(key)+len(payload)))
	s.buf = binary.BigEndian.AppendUint16(s.buf, uint16(shard))
	s.buf = binary.BigEndian.AppendUint16(s.buf, uint16(len(key)))
	s.buf = append(append(s.buf, key...), payload...)
	s.count++
	return nil
}

// flush writes the buffer, so that its entries can be read.
func (s *sorter) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spill()
}

// spill writes the buffer as a run. The caller holds mu.
func (s *sorter) spill() error {
	if len(s.items) == 0 {
		return nil
	}
	slices.SortFunc(s.items, func(a, b item) int {
		if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
			return c
		}
		if c := bytes.Compare(s.key(a.at), s.key(b.at)); c != 0 {
			return c
		}
		return bytes.Compare(s.entry(a.at)[entryHead:], s.entry(b.at)[entryHead:]) // so that the same entry is reported each time
	})
	out := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.size), 256<<10)
	starts := make([]int64, 0, s.shards+1)
	at := s.size
	for _, it := range s.items {
		for shard := int(it.prefix >> 48); len(starts) <= shard; {
			starts = append(starts, at)
		}
		entry := s.entry(it.at)
		_, _ = out.Write(entry) // Flush returns the error
		at += int64(len(entry))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("verify: %w; name a folder with more room", err)
	}
	for len(starts) <= s.shards {
		starts = append(starts, at)
	}
	s.runs = append(s.runs, starts)
	s.size, s.buf, s.items = at, s.buf[:0], s.items[:0]
	return nil
}

func (s *sorter) key(at int) []byte {
	n := int(binary.BigEndian.Uint16(s.buf[at+6:]))
	return s.buf[at+entryHead:][:n]
}

// entry returns the entry at a position in the buffer.
func (s *sorter) entry(at int) []byte {
	return s.buf[at:][:4+binary.BigEndian.Uint32(s.buf[at:])]
}
