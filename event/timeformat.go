package event

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // zones are known even if the system has no zone files
)

// RFC3339 is the default format of a Time, such as 2013-01-31T08:00:00.123+08:00.
const RFC3339 = "rfc3339"

// epochs are the formats of numbers since 1970: their units per second and names.
var epochs = map[string]epoch{"epoch_s": {1, "seconds"}, "epoch_ms": {1e3, "milliseconds"}, "epoch_us": {1e6, "microseconds"},
	"epoch_ns": {1e9, "nanoseconds"}, epochDays: {1, "days"}}

const (
	epochDays  = "epoch_days"
	daySeconds = 24 * 60 * 60
)

type epoch struct {
	perSecond uint64
	name      string
}

// TimeFormat reads times in a field's format. It remembers the part of its zone that it used last, so it is not safe for concurrent use.
//
// A format is RFC3339, epoch_s, epoch_ms, epoch_us, epoch_ns or epoch_days, or a strftime pattern. Times are truncated to the millisecond.
// A time without a zone is in the format's zone. When a clock is set forward or back, times from the earlier of the two readings to the
// later one are read with the offset before the change: a time that occurs twice means the first one, and one that does not occur is read
// as if the clock had not been changed yet.
type TimeFormat struct {
	format string
	epoch  uint64 // units per second; 0: read by steps
	steps  []timeStep
	zoned  bool // times contain their zone
	zone   timeZone
}

// FormatError is a time format or a zone that cannot be used.
type FormatError struct {
	Msg string // what is wrong
	Fix string // what to write instead
}

func (e *FormatError) Error() string { return e.Msg + "; " + e.Fix }

// Advice returns the fix, which the error's text ends with.
func (e *FormatError) Advice() string { return e.Fix }

// ParseTimeFormat compiles a format; empty means RFC3339. zone is a name such as Asia/Shanghai or an offset such as +08:00; empty means
// UTC.
func ParseTimeFormat(format, zone string) (*TimeFormat, error) {
	f := &TimeFormat{format: cmp.Or(format, RFC3339), epoch: epochs[format].perSecond}
	if f.epoch == 0 {
		pattern := f.format
		if pattern == RFC3339 {
			pattern = "%FT%T%z"
		}
		if err := f.compile(pattern); err != nil {
			return nil, err
		}
	}
	if zone != "" && (f.epoch > 0 || f.zoned) {
		return nil, &FormatError{"a time as " + f.format + " has its own zone", "remove zone " + zone}
	}
	location, err := parseZone(zone)
	f.zone.location = location
	return f, err
}

// Expects describes a time in this format.
func (f *TimeFormat) Expects() string {
	switch e, ok := epochs[f.format]; {
	case ok:
		return "a time in " + e.name + " since 1970"
	case f.format == RFC3339:
		return "a time as 2013-01-31T08:00:00Z (RFC 3339)"
	}
	return "a time as " + f.format
}

// Unit returns the resolution of a time: day, hour or minute; empty if it may be exact to the millisecond.
func (f *TimeFormat) Unit() string {
	has := func(part int) bool {
		return slices.ContainsFunc(f.steps, func(s timeStep) bool { return s.literal == "" && s.part == part })
	}
	switch {
	case f.format == epochDays:
		return "day"
	case f.epoch > 0 || has(second):
		return ""
	case has(minute):
		return "minute"
	case has(hour), has(hour12):
		return "hour"
	}
	return "day"
}

// Parse parses a time as milliseconds since 1970.
func (f *TimeFormat) Parse(text []byte) (ms int64, ok bool) {
	if f.epoch > 0 {
		ms, ok = parseEpoch(text, f.epoch)
		if f.format == epochDays {
			return ms * daySeconds, ok && ms <= math.MaxInt64/daySeconds && ms >= math.MinInt64/daySeconds
		}
		return ms, ok
	}
	c := calendar{month: 1, day: 1}
	for i := range f.steps {
		if text, ok = f.steps[i].read(text, &c); !ok {
			return 0, false
		}
	}
	seconds, ok := c.seconds()
	switch {
	case !ok || len(text) > 0:
		return 0, false
	case f.zoned:
		seconds -= int64(c[offset])
	default:
		seconds = f.zone.instant(seconds)
	}
	return seconds*1000 + int64(c[fraction]), true
}

// parseEpoch parses a decimal number with perSecond units per second.
func parseEpoch(text []byte, perSecond uint64) (ms int64, ok bool) {
	digits, negative := bytes.CutPrefix(text, []byte{'-'})
	whole, fraction, point := bytes.Cut(digits, []byte{'.'})
	n, err := strconv.ParseUint(string(whole), 10, 63)
	if err != nil || point && !isDigits(fraction) {
		return 0, false
	}
	var rest uint64 // of a millisecond
	if perSecond >= 1000 {
		n, rest = n/(perSecond/1000), n%(perSecond/1000)
	} else if n <= math.MaxInt64/1000-1 {
		n, fraction = n*1000+uint64(milliseconds(fraction)), fraction[min(3, len(fraction)):]
	} else {
		return 0, false
	}
	ms = int64(n)
	if negative {
		ms = -ms
		if rest > 0 || len(bytes.Trim(fraction, "0")) > 0 {
			ms-- // truncated towards the past, like other times
		}
	}
	return ms, true
}

func isDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// milliseconds reads the first three digits of a fraction of a second.
func milliseconds(fraction []byte) (ms int) {
	for i := range 3 {
		ms *= 10
		if i < len(fraction) {
			ms += int(fraction[i] - '0')
		}
	}
	return ms
}

// parseZone finds a zone by its name, such as Asia/Shanghai, or its offset, such as +08:00; empty means UTC.
func parseZone(name string) (*time.Location, error) {
	var c calendar
	if n := c.readOffset([]byte(name)); n > 0 && n == len(name) {
		return time.FixedZone(name, c[offset]), nil
	}
	if name != "Local" { // it differs between machines
		if location, err := time.LoadLocation(name); err == nil {
			return location, nil
		}
	}
	return nil, &FormatError{fmt.Sprintf("no time zone %q", name), "write a name such as Asia/Shanghai, or an offset such as +08:00"}
}

// timeZone turns clock readings of a place into instants, and remembers the last span of time it used in which the offset does not change.
type timeZone struct {
	location *time.Location
	from, to int64 // of clock readings, in seconds; without to
	offset   int64 // seconds east of UTC
}

// instant returns when clocks showed local, a number of seconds. A change of the clocks has two readings; the time after it begins with the
// later one.
func (z *timeZone) instant(local int64) int64 {
	if local < z.from || local >= z.to {
		z.find(local)
	}
	return local - z.offset
}

const maxOffset = 26 * 60 * 60 // clocks differ from UTC by less

func (z *timeZone) find(local int64) {
	at := time.Unix(local-maxOffset, 0).In(z.location)
	start, _ := at.ZoneBounds()
	z.from = math.MinInt64
	if !start.IsZero() {
		z.from = start.Unix() + max(offsetOf(at), offsetOf(start.Add(-time.Second)))
	}
	for {
		_, end := at.ZoneBounds()
		if !end.IsZero() && !end.After(at) { // far ahead, where zones are rules, package time has years of 365 days
			end = at.Add(24 * time.Hour)
		}
		z.offset, z.to = offsetOf(at), math.MaxInt64
		if !end.IsZero() {
			z.to = end.Unix() + max(offsetOf(at), offsetOf(end))
		}
		if local < z.to {
			return
		}
		at, z.from = end, z.to
	}
}

func offsetOf(t time.Time) int64 {
	_, offset := t.Zone()
	return int64(offset)
}
