package verify

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// merge reads the entries of a shard in the order of their keys, from all runs at once.
type merge struct {
	cursors cursors
	read    bool // the entry of the first cursor has been returned
}

// merge begins to read a shard; buffers is the total size of its read buffers in bytes. Several shards may be read at the same time.
func (s *sorter) merge(shard int, buffers int64) (*merge, error) {
	m := new(merge)
	size := max(4<<10, min(256<<10, buffers/int64(max(1, len(s.runs)))))
	for _, run := range s.runs {
		n := run[shard+1] - run[shard]
		c := &cursor{in: bufio.NewReaderSize(io.NewSectionReader(s.file, run[shard], n), int(min(size, n))), left: n}
		switch more, err := c.next(); {
		case err != nil:
			return nil, err
		case more:
			m.cursors = append(m.cursors, c)
		}
	}
	for i := len(m.cursors) / 2; i >= 0; i-- {
		m.cursors.down(i)
	}
	return m, nil
}

// next returns the next entry; more is false after the last one. key and payload are valid until the next call.
func (m *merge) next() (key, payload []byte, more bool, err error) {
	if m.read {
		m.read = false
		more, err := m.cursors[0].next()
		if err != nil {
			return nil, nil, false, err
		}
		if !more {
			last := len(m.cursors) - 1
			m.cursors[0] = m.cursors[last]
			m.cursors = m.cursors[:last]
		}
		m.cursors.down(0)
	}
	if len(m.cursors) == 0 {
		return nil, nil, false, nil
	}
	m.read = true
	return m.cursors[0].key, m.cursors[0].payload, true, nil
}

// each calls f with all entries of a shard; see merge.
func (s *sorter) each(shard int, buffers int64, f func(key, payload []byte) error) error {
	m, err := s.merge(shard, buffers)
	for err == nil {
		key, payload, more, failed := m.next()
		if failed != nil || !more {
			return failed
		}
		err = f(key, payload)
	}
	return err
}

// cursor is a position in one shard's part of a run.
type cursor struct {
	in           *bufio.Reader
	left         int64  // bytes of the part from the current entry on
	size         int    // of the current entry
	held         bool   // the current entry is in the buffer of in
	body         []byte // otherwise it is here
	key, payload []byte // of the current entry
	prefix       uint64 // the first bytes of key
}

// next moves to the next entry, which ends the validity of the current one. more is false if there is none.
func (c *cursor) next() (more bool, err error) {
	if c.held {
		_, _ = c.in.Discard(c.size) // it is in the buffer
	}
	if c.left -= int64(c.size); c.left == 0 {
		return false, nil
	}
	head, err := c.in.Peek(entryHead)
	if err != nil {
		return false, fmt.Errorf("verify: temporary file: %w", err)
	}
	c.size = int(binary.BigEndian.Uint32(head)) + 4
	key := int(binary.BigEndian.Uint16(head[6:]))
	if c.size < entryHead+key || int64(c.size) > c.left {
		return false, errDamaged
	}
	entry, err := c.entry()
	if err != nil {
		return false, fmt.Errorf("verify: temporary file: %w", err)
	}
	c.key, c.payload = entry[entryHead:][:key], entry[entryHead+key:]
	c.prefix = prefixOf(c.key)
	return true, nil
}

// entry returns the bytes of the current entry.
func (c *cursor) entry() ([]byte, error) {
	if c.held = c.size <= c.in.Size(); c.held {
		return c.in.Peek(c.size)
	}
	c.body = slices.Grow(c.body[:0], c.size)[:c.size]
	_, err := io.ReadFull(c.in, c.body)
	return c.body, err
}

// prefixOf returns the first bytes of a key as a number, whose order is that of the keys where it differs.
func prefixOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var first [8]byte
	copy(first[:], key)
	return binary.BigEndian.Uint64(first[:])
}

// less reports whether a cursor's entry comes before another's.
func (c *cursor) less(o *cursor) bool {
	if c.prefix != o.prefix {
		return c.prefix < o.prefix
	}
	by := bytes.Compare(c.key, o.key)
	return by < 0 || by == 0 && bytes.Compare(c.payload, o.payload) < 0
}

// cursors is a heap with the least entry first.
type cursors []*cursor

// down restores the order of the heap below i.
func (h cursors) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].less(h[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
