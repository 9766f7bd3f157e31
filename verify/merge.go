package verify

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// each calls f with the entries of a shard in the order of their keys; buffers is the total size of its read buffers in bytes. key and
// payload are valid until f returns. Several shards may be read at the same time.
func (s *sorter) each(shard int, buffers int64, f func(key, payload []byte) error) error {
	var h cursors
	size := int(max(4<<10, min(256<<10, buffers/int64(max(1, len(s.runs))))))
	for _, run := range s.runs {
		if n := run[shard+1] - run[shard]; n > 0 {
			c := &cursor{in: bufio.NewReaderSize(io.NewSectionReader(s.file, run[shard], n), int(min(int64(size), n)))}
			if err := c.next(); err != nil {
				return err
			}
			h = append(h, c)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		c := h[0]
		if err := f(c.key, c.payload); err != nil {
			return err
		}
		switch err := c.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(&h)
		case err != nil:
			return err
		default:
			heap.Fix(&h, 0)
		}
	}
	return nil
}

// cursor is a position in one shard's part of a run.
type cursor struct {
	in           *bufio.Reader
	body         []byte
	key, payload []byte
}

// next moves to the next entry; it returns io.EOF if there is none.
func (c *cursor) next() error {
	var head [entryHead]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return fmt.Errorf("verify: temporary file: %w", err)
	}
	n := int(binary.BigEndian.Uint32(head[:])) - (entryHead - 4)
	key := int(binary.BigEndian.Uint16(head[6:]))
	if n < key {
		return errDamaged
	}
	if cap(c.body) < n {
		c.body = make([]byte, max(n, 512))
	}
	c.body = c.body[:n]
	if _, err := io.ReadFull(c.in, c.body); err != nil {
		return fmt.Errorf("verify: temporary file: %w", err)
	}
	c.key, c.payload = c.body[:key], c.body[key:]
	return nil
}

// cursors is a heap with the least key first.
type cursors []*cursor

func (h cursors) Len() int { return len(h) }
func (h cursors) Less(i, j int) bool {
	c := bytes.Compare(h[i].key, h[j].key)
	return c < 0 || c == 0 && bytes.Compare(h[i].payload, h[j].payload) < 0
}
func (h cursors) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(x any)   { *h = append(*h, x.(*cursor)) }
func (h *cursors) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
