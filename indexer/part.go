package indexer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"brine/event"
)

// Every is the span of time whose documents are one part of an index.
type Every string

// The spans, in UTC.
const (
	Day   Every = "day"
	Month Every = "month"
	Year  Every = "year"
)

func (e Every) String() string {
	if e == "" {
		return "as one"
	}
	return "in parts by the " + string(e)
}

// Partitioned is an Engine that keeps an index in parts, each an index of its own with the documents of one span of time. All parts are
// read by the index's name. With any other Engine, an index has no parts.
type Partitioned interface {
	// EnsurePart creates a part of the index m.Index, unless it exists.
	EnsurePart(ctx context.Context, m Mapping, part string) error
	// Expire drops the parts of an index that hold documents, but none of version before or newer, and returns their names. A document that is
	// written meanwhile is refused for a while or ends up in a new part, and is never lost.
	Expire(ctx context.Context, index string, before int64) ([]string, error)
}

// Part returns the name of the part of an index for documents of a time, in ms since 1970.
func (e Every) Part(index string, ms int64) string {
	return string(e.appendPart(append(make([]byte, 0, len(index)+11), index...), time.UnixMilli(ms).UTC()))
}

func (e Every) appendPart(dst []byte, t time.Time) []byte {
	switch e {
	case Day:
		return t.AppendFormat(dst, "-2006.01.02")
	case Month:
		return t.AppendFormat(dst, "-2006.01")
	default:
		return t.AppendFormat(dst, "-2006")
	}
}

// bounds returns the first ms of the span that holds t, and of the next one.
func (e Every) bounds(t time.Time) (from, to int64) {
	y, m, d := t.Date()
	date := func(y int, m time.Month, d int) int64 { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMilli() }
	switch e {
	case Day:
		return date(y, m, d), date(y, m, d+1)
	case Month:
		return date(y, m, 1), date(y, m+1, 1)
	default:
		return date(y, 1, 1), date(y+1, 1, 1)
	}
}

// span is the last requested part; times usually arrive in order.
type span struct {
	from, to int64
	part     string
}

// aheadAtMost is how far a document's time may be ahead of its record's: a single clock in 2099 must not create a part.
const aheadAtMost = 24 * time.Hour

// part returns the index that an event's document is written to.
func (d *document) part(s *span, ev *event.Event) (string, *event.Error) {
	if !d.parted {
		return d.Index, nil
	}
	v := ev.Values[d.timeAt]
	if v.Null() {
		return "", &event.Error{Reason: event.MissingField, Field: d.Time, Detail: "it determines the document's part of the index"}
	}
	ms := v.Int()
	if ms < 0 || ms >= 253_402_300_800_000 { // from year 10000 on
		return "", &event.Error{Reason: event.WrongType, Field: d.Time, Detail: strconv.FormatInt(ms, 10) + " is not a time from 1970 to 9999"}
	}
	if ms > ev.Record.Timestamp+aheadAtMost.Milliseconds() {
		return "", &event.Error{Reason: event.FutureVersion, Field: d.Time,
			Detail: "it is more than a day ahead of the record, and would create an extra part of the index"}
	}
	if ms < s.from || ms >= s.to {
		s.from, s.to = d.Every.bounds(time.UnixMilli(ms).UTC())
		s.part = d.Every.Part(d.Index, ms)
	}
	return s.part, nil
}

// makePart creates the missing part that a document belongs to, once per round. It returns nil if the document has to be sent again.
func (l *lane) makePart(g *group) error {
	o := g.first
	if err, made := l.parts[o.index]; made {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(l.w.ctx, l.w.opts.CallTimeout,
		fmt.Errorf("no answer within %v (call_timeout)", l.w.opts.CallTimeout))
	defer cancel()
	err := l.w.engine.(Partitioned).EnsurePart(ctx, l.w.mappings[o.doc.place], o.index)
	if err != nil {
		err = cause(ctx, fmt.Errorf("create the part %s of index %s: %w", o.index, o.doc.Index, err))
	}
	l.parts[o.index] = err
	return err
}

// remedyOfPart creates the missing part of a document, and returns the remedy for the document.
func (l *lane) remedyOfPart(g *group, absent error) (remedy, error) {
	err := l.makePart(g)
	if err == nil {
		return wait, absent // once, before it is sent again
	}
	switch r := remedyOfCall(err); r {
	case split, isolate:
		return noIndex, err // the server refuses to create it: too many shards, or an unknown mapping
	default:
		return r, err
	}
}
