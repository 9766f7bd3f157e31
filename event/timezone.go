package event

import (
	"fmt"
	"math"
	"time"
	_ "time/tzdata" // zones are known where the system has no files of them
)

// parseZone finds a zone by its name, as Asia/Shanghai, or by its offset, as +08:00; empty means UTC.
func parseZone(name string) (*time.Location, error) {
	var c calendar
	if n := c.readOffset([]byte(name)); n > 0 && n == len(name) {
		return time.FixedZone(name, c[offset]), nil
	}
	if name != "Local" { // differs from machine to machine
		if location, err := time.LoadLocation(name); err == nil {
			return location, nil
		}
	}
	return nil, &FormatError{fmt.Sprintf("no time zone %q", name), "write a name such as Asia/Shanghai, or an offset such as +08:00"}
}

// timeZone turns what clocks of a place showed into instants, and remembers the span of time without a change of its offset that it
// used last.
type timeZone struct {
	location *time.Location
	from, to int64 // of what clocks showed, in seconds; to is behind it
	offset   int64 // seconds east of UTC
}

// instant is when clocks showed local, a number of seconds. At a change of the clocks, the later of its two readings is the first one
// after it.
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
