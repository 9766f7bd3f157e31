package protobuf

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"brine/event"
)

// wellKnown is a message type that stands for a single value.
type wellKnown uint8

const (
	timestamp wellKnown = iota + 1
	duration
	wrapper
	date
	decimal
)

var wellKnownTypes = map[protoreflect.FullName]wellKnown{
	"google.protobuf.Timestamp":   timestamp,
	"google.protobuf.Duration":    duration,
	"google.type.Date":            date,
	"confluent.type.Decimal":      decimal,
	"google.protobuf.DoubleValue": wrapper, "google.protobuf.FloatValue": wrapper,
	"google.protobuf.Int64Value": wrapper, "google.protobuf.UInt64Value": wrapper,
	"google.protobuf.Int32Value": wrapper, "google.protobuf.UInt32Value": wrapper,
	"google.protobuf.BoolValue": wrapper, "google.protobuf.StringValue": wrapper, "google.protobuf.BytesValue": wrapper,
}

// shapes are the kinds of the fields 1, 2, … that these types must have.
var shapes = map[wellKnown][]protoreflect.Kind{
	timestamp: {protoreflect.Int64Kind, protoreflect.Int32Kind},
	duration:  {protoreflect.Int64Kind, protoreflect.Int32Kind},
	date:      {protoreflect.Int32Kind, protoreflect.Int32Kind, protoreflect.Int32Kind},
	decimal:   {protoreflect.BytesKind, protoreflect.Uint32Kind, protoreflect.Int32Kind}, // value, precision, scale
}

// wellKnownType returns which of them a message is, or 0: another message may have the name of one.
func wellKnownType(md protoreflect.MessageDescriptor) wellKnown {
	if md == nil {
		return 0
	}
	w := wellKnownTypes[md.FullName()]
	for i, kind := range shapes[w] {
		if fd := md.Fields().ByNumber(protoreflect.FieldNumber(i + 1)); fd == nil || fd.Kind() != kind || fd.IsList() {
			return 0
		}
	}
	if w == wrapper {
		if fd := md.Fields().ByNumber(1); fd == nil || fd.Message() != nil || fd.IsList() {
			return 0
		}
	}
	return w
}

// setKnown sets the node to the value of the held contents.
func (f *field) setKnown(b *event.Builder) *event.Error {
	if f.well == timestamp || f.well == duration {
		if s, ns, ok := inOrder(f.held); ok && f.well == timestamp {
			return f.setTimestamp(s, ns, b)
		} else if ok {
			return f.setDuration(s, ns, b)
		}
	}
	return f.setAnyKnown(b)
}

// inOrder reads seconds and nanoseconds as they are normally written. It returns false if they are written otherwise.
func inOrder(p []byte) (s int64, ns int32, ok bool) {
	var bits uint64
	i := 0
	if len(p) > 0 && p[0] == 1<<3|byte(protowire.VarintType) {
		if bits, i = varint(p, 1); i < 0 {
			return 0, 0, false
		}
		s = int64(bits)
	}
	if i < len(p) && p[i] == 2<<3|byte(protowire.VarintType) {
		if bits, i = varint(p, i+1); i < 0 {
			return 0, 0, false
		}
		ns = int32(bits)
	}
	return s, ns, i == len(p)
}

// setAnyKnown is setKnown for contents that are to be checked in full.
func (f *field) setAnyKnown(b *event.Builder) *event.Error {
	var values [3]value
	var o occurrence
	for left := f.held; len(left) > 0; {
		number, n := next(left, &o)
		if number == 0 {
			return broken(f.node, f.held, len(f.held)-len(left))
		}
		left = left[n:]
		switch {
		case number > 3:
		case number == 1 && o.wire != f.inner.wire, number > 1 && f.well != wrapper && o.wire != protowire.VarintType:
			return &event.Error{Reason: event.WrongType, Field: f.node.Path(), Detail: fmt.Sprintf("field number %d of %s is %s",
				number, f.desc.Message().FullName(), wireNames[o.wire])}
		case number == 1 && f.inner.kind == protoreflect.StringKind && !utf8.Valid(o.bytes):
			return &event.Error{Reason: event.Undecodable, Field: f.node.Path(), Detail: "invalid UTF-8 in a string"}
		default:
			values[number-1] = o.value
		}
	}
	switch f.well {
	case wrapper:
		return f.inner.set(values[0], b)
	case date:
		return f.setDate(int32(values[0].bits), int32(values[1].bits), int32(values[2].bits), b)
	case duration:
		return f.setDuration(int64(values[0].bits), int32(values[1].bits), b)
	case decimal:
		return f.setDecimal(values[0].bytes, int32(values[2].bits), b)
	}
	return f.setTimestamp(int64(values[0].bits), int32(values[1].bits), b)
}

// The years 1 to 9999 in seconds since 1970.
const (
	firstSecond = -62_135_596_800
	lastSecond  = 253_402_300_799
)

func (f *field) setTimestamp(s int64, ns int32, b *event.Builder) *event.Error {
	n := f.node
	if s < firstSecond || s > lastSecond || ns < 0 || ns > 999_999_999 {
		return &event.Error{Reason: event.WrongType, Field: n.Path(),
			Detail: fmt.Sprintf("%d s and %d ns is not a time in the years 1 to 9999", s, ns)}
	}
	nanoseconds := s*1_000_000_000 + int64(ns)
	exact := s >= -9_223_372_037 && s <= 9_223_372_036 && (nanoseconds >= 0) == (s >= 0) // they fit 64 bits
	switch {
	case n.Type() == event.Text:
		return b.Text(n, b.Keep(appendTime(nil, s, ns)))
	case n.Type() == event.TimeMS:
		return b.Time(n, s*1_000+int64(ns/1_000_000), event.Milliseconds)
	case !n.Type().TakesTimes():
		return n.Wrong("a time")
	case exact:
		return b.Time(n, nanoseconds, event.Nanoseconds)
	case n.Type() == event.TimeNS:
		return &event.Error{Reason: event.WrongType, Field: n.Path(), Detail: "the time does not fit 64 bits of nanoseconds"}
	}
	return b.Time(n, s*1_000_000+int64(ns/1000), event.Microseconds)
}

// appendTime appends a time as Protobuf's JSON writes it: with a fraction of 0, 3, 6 or 9 digits.
func appendTime(dst []byte, s int64, ns int32) []byte {
	dst = time.Unix(s, 0).UTC().AppendFormat(dst, "2006-01-02T15:04:05")
	return append(appendFraction(dst, ns), 'Z')
}

func appendFraction(dst []byte, ns int32) []byte {
	switch {
	case ns == 0:
		return dst
	case ns%1_000_000 == 0:
		return fmt.Appendf(dst, ".%03d", ns/1_000_000)
	case ns%1_000 == 0:
		return fmt.Appendf(dst, ".%06d", ns/1_000)
	}
	return fmt.Appendf(dst, ".%09d", ns)
}

// mostSeconds is the limit of a Duration: 10,000 years.
const mostSeconds = 315_576_000_000

func (f *field) setDuration(s int64, ns int32, b *event.Builder) *event.Error {
	n := f.node
	if s < -mostSeconds || s > mostSeconds || ns < -999_999_999 || ns > 999_999_999 || s > 0 && ns < 0 || s < 0 && ns > 0 {
		return &event.Error{Reason: event.WrongType, Field: n.Path(), Detail: fmt.Sprintf("%d s and %d ns is not a duration", s, ns)}
	}
	switch n.Type() {
	case event.Float:
		return b.Float(n, float64(s)+float64(ns)/1e9)
	case event.Text:
		var text []byte
		if s < 0 || ns < 0 {
			text, s, ns = append(text, '-'), -s, -ns
		}
		text = append(appendFraction(strconv.AppendInt(text, s, 10), ns), 's')
		return b.Text(n, b.Keep(text))
	}
	return n.Wrong("a duration")
}

func (f *field) setDate(year, month, day int32, b *event.Builder) *event.Error {
	n := f.node
	t := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if year < 1 || year > 9999 || t.Year() != int(year) || t.Month() != time.Month(month) || t.Day() != int(day) {
		return &event.Error{Reason: event.WrongType, Field: n.Path(),
			Detail: fmt.Sprintf("year %d, month %d, day %d is not a date", year, month, day)}
	}
	switch {
	case n.Type() == event.Text:
		return b.Text(n, b.Keep(t.AppendFormat(nil, time.DateOnly)))
	case n.Type().TakesTimes():
		return b.Time(n, t.Unix()/86400, event.Days)
	}
	return n.Wrong("a date")
}

// setDecimal sets unscaled × 10^-scale, where unscaled is a big-endian two's complement, as Kafka Connect writes it.
func (f *field) setDecimal(unscaled []byte, scale int32, b *event.Builder) *event.Error {
	if len(unscaled) == 0 {
		return &event.Error{Reason: event.WrongType, Field: f.node.Path(), Detail: "a decimal without digits"}
	}
	return b.Decimal(f.node, unscaled, int(scale))
}
