package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

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

	answer   []byte // what the broker sent; uncompressed records point into it
	inflated []*bytes.Buffer
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
	clear(c.records)
	clear(c.headers)
	c.records, c.headers, c.answer = c.records[:0], c.headers[:0], c.answer[:0]
	c.next, c.end, c.cost, c.charged, c.budget = 0, 0, 0, 0, nil
	chunks.Put(c)
}

// read fills c from the record batches of an answer, from the offset on, leaving out control records and those of aborted
// transactions. A faulty batch is an error only when it comes first; else c ends before it.
func (c *chunk) read(batches []byte, from int64, aborted aborts) error {
	c.next = from
	for used := 0; len(batches) > 0; {
		info, records, rest, err := readBatch(batches)
		if err == nil && info.last >= from {
			used, err = c.readRecords(&info, records, from, aborted, used)
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

// readRecords reads one batch's records; used counts the buffers of c that are taken.
func (c *chunk) readRecords(info *batchInfo, records []byte, from int64, aborted aborts, used int) (int, error) {
	if aborted.skip(info, records) {
		return used, nil
	}
	if info.attributes&compressionBits != 0 {
		if used == len(c.inflated) {
			c.inflated = append(c.inflated, new(bytes.Buffer))
		}
		var err error
		if records, err = info.inflate(records, c.inflated[used]); err != nil {
			return used, err
		}
		used++
	}
	return used, c.appendRecords(info, records, from)
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
