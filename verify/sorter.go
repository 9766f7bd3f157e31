package verify

import (
	"bufio"
	"bytes"
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
	memory int64 // of the buffer

	mu sync.Mutex
	entries

	file *os.File
	size int64
	runs [][]int64 // where each shard begins in the file, and where the last one ends
}

// entries are entries in a buffer, in the order in which they were added.
type entries struct {
	buf   []byte
	items []item
	spare []item // room for sorting
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
	return &sorter{shards: shards, memory: memory, file: file}, nil
}

func (s *sorter) close() {
	_ = s.file.Close() // nothing in it is needed any more
	_ = os.Remove(s.file.Name())
}

func (s *sorter) add(shard int, key, payload []byte) error {
	var one entries
	one.add(shard, key, payload)
	return s.addAll(&one)
}

// addAll takes over what e holds, and empties it.
func (s *sorter) addAll(e *entries) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buf == nil && len(e.items) > 0 {
		s.buf = make([]byte, 0, s.memory)
		s.items = make([]item, 0, s.memory*int64(len(e.items))/int64(len(e.buf))) // as many as fit if all are as long as these
	}
	for _, it := range e.items {
		entry := e.entry(it.at)
		if len(s.buf)+len(entry) > cap(s.buf) {
			if err := s.spill(); err != nil {
				return err
			}
		}
		s.items = append(s.items, item{it.prefix, len(s.buf)})
		s.buf = append(s.buf, entry...)
	}
	e.buf, e.items = e.buf[:0], e.items[:0]
	return nil
}

func (e *entries) add(shard int, key, payload []byte) {
	prefix := uint64(shard) << 48
	for i, b := range key[:min(len(key), prefixBytes)] {
		prefix |= uint64(b) << (40 - 8*i)
	}
	e.items = append(e.items, item{prefix, len(e.buf)})
	e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(entryHead-4+len(key)+len(payload)))
	e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(shard))
	e.buf = binary.BigEndian.AppendUint16(e.buf, uint16(len(key)))
	e.buf = append(append(e.buf, key...), payload...)
}

// flush writes the buffer, so that its entries can be read, and frees it: while the collector has to keep it, it has little room to let
// garbage gather, and runs all the time.
func (s *sorter) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.spill()
	if err == nil {
		s.entries = entries{}
	}
	return err
}

// spill writes the buffer as a run. The caller holds mu.
func (s *sorter) spill() error {
	if len(s.items) == 0 {
		return nil
	}
	s.sort()
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

// sort sorts the items by shard, key and payload.
func (e *entries) sort() {
	e.sortPrefixes()
	for rest := e.items; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].prefix == rest[0].prefix {
			n++
		}
		if n > 1 {
			slices.SortFunc(rest[:n], func(a, b item) int {
				if c := bytes.Compare(e.key(a.at), e.key(b.at)); c != 0 {
					return c
				}
				return bytes.Compare(e.entry(a.at)[entryHead:], e.entry(b.at)[entryHead:]) // so that the same entry is reported each time
			})
		}
		rest = rest[n:]
	}
}

// sortPrefixes sorts the items by their prefixes: by one byte after another, the last first, which keeps the order of those before.
func (e *entries) sortPrefixes() {
	var starts [8][256]int
	for _, it := range e.items {
		for i := range starts {
			starts[i][byte(it.prefix>>(8*i))]++
		}
	}
	e.spare = slices.Grow(e.spare[:0], len(e.items))[:len(e.items)]
	for i := range starts {
		if starts[i][byte(e.items[0].prefix>>(8*i))] == len(e.items) {
			continue // all have the same
		}
		at := 0
		for b, n := range starts[i] {
			starts[i][b], at = at, at+n
		}
		for _, it := range e.items {
			b := byte(it.prefix >> (8 * i))
			e.spare[starts[i][b]] = it
			starts[i][b]++
		}
		e.items, e.spare = e.spare, e.items
	}
}

func (e *entries) key(at int) []byte {
	n := int(binary.BigEndian.Uint16(e.buf[at+6:]))
	return e.buf[at+entryHead:][:n]
}

// entry returns the entry at a position in the buffer.
func (e *entries) entry(at int) []byte {
	return e.buf[at:][:4+binary.BigEndian.Uint32(e.buf[at:])]
}
