package skew

import (
	"encoding/binary"
	"slices"
)

// Writer identifies who writes to a table, from what records carry.
type Writer struct {
	Pipeline  string `json:"pipeline"`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Producer  int64  `json:"producer"`       // id that Kafka gave the producer; −1: its batches carry none
	Name      string `json:"name,omitempty"` // value of the configured header
}

// HeavyWriter is a writer with the number of its records: between Records − Error and Records.
type HeavyWriter struct {
	Writer
	Records int64   `json:"records"`
	Error   int64   `json:"error"`
	Share   float64 `json:"share"` // of all records of the same time
}

// writers counts records by writer, in bounded memory.
type writers struct {
	counts [2]*sketch // of this half minute and of the one before
	ways   []way      // the index of each is its number in the keys of counts
	key    []byte
}

// way is the pipeline and topic that records come through.
type way struct{ pipeline, topic string }

const (
	mostWays = 1 << 10
	mostName = 64 // bytes kept of a name

	// A key of the counts is the way's number, the partition, the producer's id, and the name.
	partitionAt, producerAt, nameAt = 4, 8, 16
)

func newWriters() writers {
	return writers{counts: newSketches(), key: make([]byte, nameAt, nameAt+mostName)}
}

// add counts n records. If there are more ways than anybody configures, those of the rest are not counted.
func (w *writers) add(of *Writer, n int64) {
	number := slices.Index(w.ways, way{of.Pipeline, of.Topic})
	if number < 0 {
		if number = len(w.ways); number == mostWays {
			return
		}
		w.ways = append(w.ways, way{of.Pipeline, of.Topic})
	}
	binary.BigEndian.PutUint32(w.key, uint32(number))
	binary.BigEndian.PutUint32(w.key[partitionAt:], uint32(of.Partition))
	binary.BigEndian.PutUint64(w.key[producerAt:], uint64(of.Producer))
	w.counts[0].addTimes(append(w.key, of.Name[:min(len(of.Name), mostName)]...), n)
}

func (w *writers) of(key []byte) Writer {
	through := w.ways[binary.BigEndian.Uint32(key)]
	return Writer{Pipeline: through.pipeline, Topic: through.topic, Partition: int(binary.BigEndian.Uint32(key[partitionAt:])),
		Producer: int64(binary.BigEndian.Uint64(key[producerAt:])), Name: Printable(key[nameAt:])}
}

// AddWriter counts n records of one writer that were handed over to be written.
func (c *Counter) AddWriter(of Writer, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	c.writers.add(&of, int64(n))
}

// Writers returns the writers of at least 1 % of the records of the last half minute to minute.
func (c *Counter) Writers() []HeavyWriter {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	var out []HeavyWriter
	for _, h := range heavy(c.writers.counts[0], c.writers.counts[1], leastShare) {
		out = append(out, HeavyWriter{Writer: c.writers.of(h.Key), Records: h.Rows, Error: h.Error, Share: h.Share})
	}
	return out
}
