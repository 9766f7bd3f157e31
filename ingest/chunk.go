package ingest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"brine/event"
)

// chunk is the records of one fetch and the memory they point into. The flights made of it share it; who gives back the
// last hold returns it to the pool, and its bytes to the budget.
type chunk struct {
	topic     string
	partition int
	records   []event.Record
	next      int64 // the offset to read next: after everything in it, aborted records and markers included
	end       int64 // the partition's end when it was fetched: the last stable offset
	cost      int64 // of the records, as event.Record.Size counts

	answer   *buffer // what the broker sent; nil when no record points into it
	inAnswer bool    // a record does
	sent     int     // how many bytes of record batches it had
	inflated []*buffer
	headers  []event.Header
	names    names

	charged int64 // of budget.holds
	holds   atomic.Int32
	budget  *Budget
}

var chunks = sync.Pool{New: func() any { return &chunk{names: names{}} }}

// newChunk takes a chunk from the pool, with one hold.
func newChunk(topic string, partition int) *chunk {
	c := chunks.Get().(*chunk)
	c.topic, c.partition = topic, partition
	c.holds.Store(1)
	return c
}

// release gives back one hold.
func (c *chunk) release() {
	if c.holds.Add(-1) > 0 {
		return
	}
	if c.charged > 0 {
		c.budget.holds.release(c.charged)
	}
	c.freeAnswer()
	c.inAnswer = false
	for _, b := range c.inflated {
		b.free()
	}
	clear(c.records)
	clear(c.headers)
	clear(c.inflated)
	c.records, c.headers, c.inflated = c.records[:0], c.headers[:0], c.inflated[:0]
	c.next, c.end, c.sent, c.cost, c.charged, c.budget = 0, 0, 0, 0, 0, nil
	chunks.Put(c)
}

func (c *chunk) freeAnswer() {
	if c.answer != nil {
		c.answer.free()
		c.answer = nil
	}
}

// holding is the memory that c keeps from others: its buffers whole, and records where it has room for them.
func (c *chunk) holding() int64 {
	n := int64(cap(c.records))*recordBytes + int64(cap(c.headers))*headerBytes
	if c.answer != nil {
		n += int64(cap(c.answer.b))
	}
	for _, b := range c.inflated {
		n += int64(cap(b.b))
	}
	return n
}

const (
	recordBytes = int64(unsafe.Sizeof(event.Record{}))
	headerBytes = int64(unsafe.Sizeof(event.Header{}))
)

// fit gives up what is not needed: the answer when no record points into it, room for records that an earlier, larger fetch had.
func (c *chunk) fit() {
	if !c.inAnswer {
		c.freeAnswer()
	}
	if cap(c.records) > 2*len(c.records)+recordSlack {
		c.records = slices.Clone(c.records)
	}
}

const recordSlack = 128

// read fills c from the record batches of an answer, from the offset on, leaving out control records and those of aborted
// transactions. A faulty batch is an error only when it comes first; else c ends before it.
func (c *chunk) read(batches []byte, from int64, aborted aborts) error {
	c.next = from
	for len(batches) > 0 {
		info, records, rest, err := readBatch(batches)
		if err == nil && info.last >= from {
			err = c.readRecords(&info, records, from, aborted)
		}
		switch {
		case err == nil:
			c.next = max(c.next, info.last+1)
		case errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errCorrupt): // the answer's end
			return nil
		case c.next > from:
			return nil
		default:
			return err
		}
		batches = rest
	}
	return nil
}

// readRecords reads one batch's records.
func (c *chunk) readRecords(info *batchInfo, records []byte, from int64, aborted aborts) error {
	if aborted.skip(info, records) {
		return nil
	}
	if info.attributes&compressionBits == 0 {
		c.inAnswer = true
		return c.appendRecords(info, records, from)
	}
	b, err := info.inflate(records)
	if err != nil {
		return err
	}
	c.inflated = append(c.inflated, b)
	return c.appendRecords(info, b.b, from)
}

// aborts is the aborted transactions of one answer: per producer, the first offsets of those that have not begun yet.
type aborts struct {
	begin map[int64][]int64
	open  map[int64]bool // producers whose records are being left out
}

func (a *aborts) add(producer, first int64) {
	if a.begin == nil {
		a.begin, a.open = map[int64][]int64{}, map[int64]bool{}
	}
	a.begin[producer] = append(a.begin[producer], first)
}

// skip reports whether the batch has nothing for us, and follows the transactions' ends.
func (a *aborts) skip(info *batchInfo, records []byte) bool {
	for first := a.begin[info.producer]; len(first) > 0 && first[0] <= info.last; first = first[1:] {
		a.open[info.producer] = true
		a.begin[info.producer] = first[1:]
	}
	if info.attributes&control != 0 {
		if a.open != nil && isAbort(info, records) {
			delete(a.open, info.producer)
		}
		return true
	}
	return info.attributes&transactional != 0 && a.open[info.producer]
}

// isAbort reads a control record: its key is a version int16 and a type int16, 0 for an abort and 1 for a commit.
func isAbort(info *batchInfo, records []byte) bool {
	c := &chunk{names: names{}}
	if err := c.appendRecords(info, records, info.base); err != nil || len(c.records) == 0 {
		return false
	}
	r := reader{b: c.records[0].Key}
	r.skip(2)
	return r.int16() == 0 && !r.bad
}

// errNothingFits is a batch that is larger than any answer we take.
func errNothingFits(offset int64, asked int) error {
	return fmt.Errorf("no whole record batch at offset %d within %d bytes", offset, asked)
}
