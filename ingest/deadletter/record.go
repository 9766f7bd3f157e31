package deadletter

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"brine/event"
)

// Names of the headers that a dead letter carries after the record's own. All values are UTF-8 text, numbers in decimal. The record's key,
// value and headers are unchanged, so replaying a dead letter only removes these.
const (
	HeaderTopic     = "brine.topic"     // the record's topic: with partition and offset the dead letter's identity
	HeaderPartition = "brine.partition" //
	HeaderOffset    = "brine.offset"    //
	HeaderTimestamp = "brine.timestamp" // the record's, ms since 1970
	HeaderGroup     = "brine.group"     // the consumer group whose writer rejected it
	HeaderReason    = "brine.reason"    // one of the reasons of package event
	HeaderField     = "brine.field"     // path of the field; absent if the whole record is meant
	HeaderDetail    = "brine.detail"    // for humans
	HeaderTime      = "brine.time"      // when the dead letter was written, ms since 1970

	// HeaderReplayed makes a record a mark: null key, null value, and of the headers only the identity and this one. It records that the dead
	// letters of this identity before it in its partition have been written since; ms since 1970.
	HeaderReplayed = "brine.replayed"
	// HeaderLet is, in a mark, what the record was fixed by when it was written: the pipeline itself still rejects it.
	HeaderLet = "brine.let"
)

// record returns the dead letter as Kafka stores it.
func (l *Letter) record() event.Record {
	rec := l.Record
	headers := append(make([]event.Header, 0, len(rec.Headers)+9), rec.Headers...)
	text := func(key, value string) {
		if value != "" {
			headers = append(headers, event.Header{Key: key, Value: []byte(value)})
		}
	}
	number := func(key string, n int64) { text(key, strconv.FormatInt(n, 10)) }
	text(HeaderTopic, rec.Topic)
	number(HeaderPartition, int64(rec.Partition))
	number(HeaderOffset, rec.Offset)
	number(HeaderTimestamp, rec.Timestamp)
	text(HeaderGroup, l.Group)
	why := (&event.Error{Reason: l.Reason, Field: l.Field, Detail: l.Detail}).Short()
	text(HeaderReason, string(why.Reason))
	text(HeaderField, why.Field)
	text(HeaderDetail, why.Detail)
	number(HeaderTime, l.Time.UnixMilli())
	return event.Record{Timestamp: l.Time.UnixMilli(), Key: rec.Key, Value: rec.Value, Headers: headers}
}

// mark returns the record that closes the dead letter. let is what its record was fixed by, or empty.
func (l *Letter) mark(let string) event.Record {
	now := time.Now().UnixMilli()
	header := func(key, value string) event.Header { return event.Header{Key: key, Value: []byte(value)} }
	number := func(key string, n int64) event.Header { return header(key, strconv.FormatInt(n, 10)) }
	out := event.Record{Timestamp: now, Headers: []event.Header{
		header(HeaderTopic, l.Record.Topic), number(HeaderPartition, int64(l.Record.Partition)), number(HeaderOffset, l.Record.Offset),
		header(HeaderGroup, l.Group), number(HeaderReplayed, now),
	}}
	if let != "" {
		out.Headers = append(out.Headers, header(HeaderLet, let))
	}
	return out
}

// Read decodes a record of a dead-letter topic: the original record, its place, and why it is here. The dead letter shares rec's key and
// value. For a mark, Replayed is set, and otherwise only the identity of the dead letter that it closes.
func Read(rec *event.Record) (Letter, error) {
	original := &event.Record{Key: rec.Key, Value: rec.Value}
	l := Letter{Record: original}
	var faults []error
	number := func(name string, b []byte) int64 {
		n, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			faults = append(faults, fmt.Errorf("header %s: %w", name, err))
		}
		return n
	}
	own := len(rec.Headers) // ours are the last ones, from the last HeaderTopic on
	for own > 0 && rec.Headers[own-1].Key != HeaderTopic {
		own--
	}
	if own == 0 {
		return l, fmt.Errorf("partition %d, offset %d is not a dead letter: it has no header %s", rec.Partition, rec.Offset, HeaderTopic)
	}
	if own > 1 {
		original.Headers = rec.Headers[:own-1]
	}
	for _, h := range rec.Headers[own-1:] {
		switch h.Key {
		case HeaderTopic:
			original.Topic = string(h.Value)
		case HeaderPartition:
			original.Partition = int(number(h.Key, h.Value))
		case HeaderOffset:
			original.Offset = number(h.Key, h.Value)
		case HeaderTimestamp:
			original.Timestamp = number(h.Key, h.Value)
		case HeaderGroup:
			l.Group = string(h.Value)
		case HeaderReason:
			l.Reason = event.Reason(h.Value)
		case HeaderField:
			l.Field = event.ShortPath(string(h.Value))
		case HeaderDetail:
			l.Detail = string(h.Value)
		case HeaderTime:
			l.Time = time.UnixMilli(number(h.Key, h.Value))
		case HeaderReplayed:
			l.Replayed = time.UnixMilli(number(h.Key, h.Value))
		case HeaderLet:
			l.Let = string(h.Value)
		}
	}
	return l, errors.Join(faults...)
}
