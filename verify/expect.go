package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"brine/event"
	"brine/ingest"
	"brine/ingest/deadletter"
	"brine/ingest/eras"
)

// expecter is the Writer of a source: it sorts what the source's events would write. The replay's goroutines call it.
type expecter struct {
	check      *Check
	source     int
	reading    int  // the reading of the records
	tail       bool // for records after the range, which may be in the store
	fixed      bool // for records that replays of dead letters have fixed
	collectors sync.Pool
}

// of returns an expecter of the records of another reading.
func (x *expecter) of(reading int) *expecter {
	if reading == x.reading {
		return x
	}
	return &expecter{check: x.check, source: x.source, reading: reading, tail: x.tail, fixed: x.fixed}
}

// writer returns, for the records of each reading, the chain of the source's writers that ends in to.
func (s *Source) writer(to func(reading int) event.Writer) (event.Writer, error) {
	chain := func(reading int) (w event.Writer, err error) {
		w = to(reading)
		if through := s.at(reading).Through; through != nil {
			w, err = through(w)
		}
		return w, err
	}
	present, err := chain(eras.Present)
	if err != nil || s.Eras == nil {
		return present, err
	}
	w := &eras.Writer{Eras: s.Eras, Present: present}
	for i := range s.Former {
		former, err := chain(i)
		if err != nil {
			return nil, err
		}
		w.Former = append(w.Former, former)
	}
	return w, nil
}

// unknown reports whether it is not known what became of a record.
func (s *Source) unknown(rec *event.Record) bool {
	i := s.Eras.Of(rec)
	return i != eras.Present && s.Former[i].Unknown
}

// countUnknown counts the offsets of a plan for which it is not known what they made.
func (c *Check) countUnknown(source int, plan ingest.Plan) {
	s := &c.opts.Sources[source]
	for _, p := range plan.Partitions {
		c.unknown[source].Add(s.Eras.Within(p.Partition, p.From, p.To, func(i int) bool { return s.Former[i].Unknown }))
	}
}

// recorder makes the ops of events. Only one goroutine may use it.
type recorder interface {
	// record calls each with what the event at i of a batch changes, once for all changes of one table. They are valid until each returns.
	// record returns the failures of the events that are not written.
	record(events []event.Event, each func(i int, c *changes)) ([]event.Failure, error)
}

// changes holds what one event does: for each mutation the table, the key and the ops. The ops are concatenated, change by change.
type changes struct {
	list []change
	buf  []byte // keys and ops
}

type change struct {
	table    int // in Options.Tables
	key, ops span
}

type span struct{ from, to int }

func (c *changes) reset() { c.list, c.buf = c.list[:0], c.buf[:0] }

func (c *changes) bytes(s span) []byte { return c.buf[s.from:s.to] }

// Submit implements event.Writer. The flight is done when Submit returns.
func (x *expecter) Submit(_ context.Context, batch *event.Batch) event.Flight {
	r, err := x.collector()
	if err != nil {
		x.check.abort(err)
		return event.Done(nil)
	}
	failures, err := r.record(batch.Events, func(i int, c *changes) { x.collect(r, c, &batch.Events[i]) })
	if err == nil {
		err = x.check.sorter.addAll(&r.entries)
	}
	if err != nil {
		x.check.abort(err)
		return event.Done(nil)
	}
	x.collectors.Put(r)
	if x.unknown() {
		x.check.unplaced.Add(int64(len(failures)))
		failures = nil
	}
	if !x.fixed { // otherwise its record counts as rejected
		x.check.read(x.source, len(batch.Events))
	}
	return event.Done(failures)
}

// collector is a recorder, and the entries of a batch.
type collector struct {
	recorder
	entries
	payload []byte
}

func (x *expecter) collector() (*collector, error) {
	if r, ok := x.collectors.Get().(*collector); ok {
		return r, nil
	}
	s := x.check.opts.Sources[x.source].at(x.reading)
	r := new(collector)
	var err error
	if s.Rows != nil {
		r.recorder, err = newRowRecorder(&x.check.opts, s.Rows)
	} else {
		r.recorder, err = newDocumentRecorder(&x.check.opts, s.Documents)
	}
	return r, err
}

// unknown reports whether it is not known what became of the records.
func (x *expecter) unknown() bool { return x.check.opts.Sources[x.source].at(x.reading).Unknown }

// collect adds one entry for each key: all that one record does to one key is one entry, even if several entries of the pipeline's rows do
// it.
func (x *expecter) collect(to *collector, c *changes, ev *event.Event) {
	for i := range c.list {
		ch := &c.list[i]
		key := c.bytes(ch.key)
		if c.first(i) < i || !x.check.wanted(key) || x.tail && !x.check.suspect(ch.table, key) {
			continue
		}
		payload := appendEntry(to.payload[:0], x.flags(ev.Record), originOf(x.source, ev.Record))
		for j := i; j < len(c.list); j++ {
			switch {
			case c.first(j) != i:
			case x.unknown():
				payload = appendOp(payload, op{kind: anything, version: ev.Version})
			default:
				payload = append(payload, c.bytes(c.list[j].ops)...)
			}
		}
		to.add(x.check.shardOf(ch.table, key), key, payload)
		to.payload = payload
	}
}

// first returns the index of the first change of the same key.
func (c *changes) first(i int) int {
	for j := range i {
		if c.list[j].table == c.list[i].table && bytes.Equal(c.bytes(c.list[j].key), c.bytes(c.list[i].key)) {
			return j
		}
	}
	return i
}

func (x *expecter) flags(rec *event.Record) (flags byte) {
	if x.fixed {
		flags = asFixed
	}
	s := &x.check.opts.Sources[x.source]
	settled := s.Settled
	if x.tail || s.unknown(rec) || x.fixed && !x.check.inRange(x.source, rec) || settled != nil && rec.Offset >= settled[rec.Partition] {
		flags |= may
	}
	return flags
}

// inRange reports whether a record is in the verified range.
func (c *Check) inRange(source int, rec *event.Record) bool {
	return slices.ContainsFunc(c.plans[source].Partitions, func(p ingest.PartitionPlan) bool {
		return p.Partition == rec.Partition && p.From <= rec.Offset && rec.Offset < p.To
	})
}

func originOf(source int, rec *event.Record) origin {
	return origin{source: source, partition: rec.Partition, offset: rec.Offset}
}

// Write implements ingest.DeadLetters: records that cannot be written are expected among the dead letters.
func (x *expecter) Write(_ context.Context, letters []deadletter.Letter) error {
	if x.tail {
		return nil
	}
	for i := range letters {
		rec := letters[i].Record
		if x.check.opts.Sources[x.source].unknown(rec) {
			x.check.unplaced.Add(1)
		}
		o := originOf(x.source, rec)
		payload := append(appendEntry(nil, rejected|x.flags(rec), o), letters[i].Reason...)
		if err := x.check.sorter.add(x.check.letterShard(), o.key(), payload); err != nil {
			x.check.abort(err)
			return err
		}
		x.check.rejected.Add(1)
	}
	x.check.read(x.source, len(letters))
	return nil
}

// key returns a key that sorts origins.
func (o origin) key() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(o.source))
	b = binary.BigEndian.AppendUint32(b, uint32(o.partition))
	return binary.BigEndian.AppendUint64(b, uint64(o.offset))
}

// Release implements event.Writer. It does nothing, because nothing is held back.
func (x *expecter) Release() {}

// Hurry implements event.Writer. It does nothing, because nothing waits.
func (x *expecter) Hurry() {}
