package broker

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"brine/event"
)

// Chunk is the records of one fetch and the memory they point into. It has holds. Releasing the last one returns the chunk to the pool, and
// its bytes to the account they are charged to.
type Chunk struct {
	Records []event.Record // valid until the last hold is released
	Next    int64          // the offset to read next: after everything in the chunk, aborted records and markers included
	End     int64          // the partition's end at the time of the fetch: the last stable offset
	Cost    int64          // of the records, as counted by event.Record.Size
	Sent    int            // bytes of record batches that the broker sent
	Took    time.Duration  // time until the answer had arrived
	Blocked time.Duration  // time that the fetch waited for room

	topic     string
	partition int

	answer   *buffer // what the broker sent; nil if no record points into it
	inAnswer bool    // a record points into answer
	inflated []*buffer
	headers  []event.Header
	names    names

	charged int64
	account Account // nil until something is charged
	holds   atomic.Int32
}

// Account is what memory is charged to.
type Account interface{ Release(bytes int64) }

var chunks = sync.Pool{New: func() any { return &Chunk{names: names{}} }}

// NewChunk takes a chunk from the pool, with one hold.
func NewChunk(topic string, partition int) *Chunk {
	c := chunks.Get().(*Chunk)
	c.topic, c.partition = topic, partition
	c.holds.Store(1)
	return c
}

// NewGap returns a chunk without records: everything before next has left the log.
func NewGap(topic string, partition int, next, end int64) *Chunk {
	c := NewChunk(topic, partition)
	c.Next, c.End = next, end
	return c
}

// Charge notes that bytes were charged for the chunk. They are released with its last hold.
func (c *Chunk) Charge(to Account, bytes int64) { c.account, c.charged = to, bytes }

// Hold adds a hold.
func (c *Chunk) Hold() { c.holds.Add(1) }

// Release releases a hold.
func (c *Chunk) Release() {
	if c.holds.Add(-1) > 0 {
		return
	}
	if c.account != nil {
		c.account.Release(c.charged)
	}
	c.freeAnswer()
	c.inAnswer = false
	for _, b := range c.inflated {
		b.free()
	}
	clear(c.Records)
	clear(c.headers)
	clear(c.inflated)
	c.Records, c.headers, c.inflated = c.Records[:0], c.headers[:0], c.inflated[:0]
	c.Next, c.End, c.Cost, c.Sent, c.Took, c.charged, c.account = 0, 0, 0, 0, 0, 0, nil
	chunks.Put(c)
}

func (c *Chunk) freeAnswer() {
	if c.answer != nil {
		c.answer.free()
		c.answer = nil
	}
}

// Memory returns the bytes that c occupies: its whole buffers, and the capacity of its records.
func (c *Chunk) Memory() int64 {
	n := int64(cap(c.Records))*recordBytes + int64(cap(c.headers))*headerBytes
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

// fit gives up what is not needed: the answer if no record points into it, and room for records left from an earlier, larger fetch.
func (c *Chunk) fit() {
	if !c.inAnswer {
		c.freeAnswer()
	}
	if cap(c.Records) > 2*len(c.Records)+recordSlack {
		c.Records = slices.Clone(c.Records)
	}
}

const recordSlack = 128

// take reads a broker's answer into c, up to the offset until (−1: all of it).
func (c *Chunk) take(a *fetchAnswer, offset, until int64) error {
	if a.err != nil {
		return a.err
	}
	if err := c.read(a.batches, offset, a.aborted); err != nil {
		return err
	}
	c.End, c.Sent = a.stable, len(a.batches)
	if until >= 0 && c.Next > until {
		c.Next = until
		for n := len(c.Records); n > 0 && c.Records[n-1].Offset >= until; n-- {
			c.Cost -= int64(c.Records[n-1].Size())
			c.Records = c.Records[:n-1]
		}
	}
	c.fit()
	return nil
}

// read fills c from the record batches of an answer, from an offset on, without control records and records of aborted transactions. A
// corrupt batch is an error only if it comes first; otherwise c ends before it.
func (c *Chunk) read(batches []byte, from int64, aborted aborts) error {
	c.Next = from
	for len(batches) > 0 {
		info, records, rest, err := readBatch(batches)
		if err == nil && info.last >= from {
			err = c.readRecords(&info, records, from, aborted)
		}
		switch {
		case err == nil:
			c.Next = max(c.Next, info.last+1)
		case errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrCorrupt): // the end of the answer
			return nil
		case c.Next > from:
			return nil
		default:
			return err
		}
		batches = rest
	}
	return nil
}

// readRecords reads the records of one batch.
func (c *Chunk) readRecords(info *batchInfo, records []byte, from int64, aborted aborts) error {
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

// skip reports whether the batch has nothing for us, and tracks the ends of transactions.
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
	c := &Chunk{names: names{}}
	if err := c.appendRecords(info, records, info.base); err != nil || len(c.Records) == 0 {
		return false
	}
	r := reader{b: c.Records[0].Key}
	r.skip(2)
	return r.int16() == 0 && !r.bad
}
