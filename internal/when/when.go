// Package when parses durations and points in time as people write them, and formats points in time: in configurations, on command lines
// and in queries.
package when

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Duration parses what time.ParseDuration does, optionally preceded by weeks and days: 92d, 1d12h, 10s, 5ms. A number without a unit is an
// error, except 0.
func Duration(text string) (time.Duration, error) {
	rest, total := text, time.Duration(0)
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"w", week}, {"d", day}} {
		number, after, ok := strings.Cut(rest, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, errors.New("is not a duration")
		}
		if n < 0 || n > int64((math.MaxInt64-total)/u.unit) {
			return 0, errors.New("is out of range")
		}
		total += time.Duration(n) * u.unit
		rest = after
	}
	if rest == "" && text != "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	switch {
	case err != nil && strings.Contains(err.Error(), "missing unit"):
		return 0, errors.New("has no unit")
	case err != nil:
		return 0, errors.New("is not a duration")
	case d < 0 || d > math.MaxInt64-total:
		return 0, errors.New("is out of range")
	}
	return total + d, nil
}

// Time parses a point in time: RFC 3339 (UTC if it has no zone), a date (its first moment, UTC), milliseconds since 1970, or a duration
// before now, such as 2h or 1d12h.
func Time(text string, now time.Time) (time.Time, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.UnixMilli(ms), nil
	}
	if ago, err := Duration(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write %s", text, Forms)
}

// Count parses a point in time as Time does, and returns how many of a unit (a day, a microsecond or a nanosecond) it is after 1970,
// rounded down.
func Count(text string, now time.Time, unit time.Duration) (int64, error) {
	at, err := Time(text, now)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time: write %s", text, FormsOf(unit))
	}
	switch unit {
	case day:
		n := at.Unix() / int64(day/time.Second)
		if at.Unix()%int64(day/time.Second) < 0 {
			n--
		}
		return n, nil
	case time.Microsecond:
		return at.UnixMicro(), nil
	}
	n := at.UnixNano()
	if !time.Unix(0, n).Equal(at) {
		return 0, fmt.Errorf("%q is out of range: 64 bits count nanoseconds from 1677-09-22 to 2262-04-11", text)
	}
	return n, nil
}

// Forms describes the forms that Time parses.
const Forms = "2013-01-31, 2013-01-31T08:00:00Z, milliseconds since 1970, or how long ago, such as 2h or 3d"

// FormsOf describes the forms of times whose numbers count a unit.
func FormsOf(unit time.Duration) string { return strings.Replace(Forms, Counted(0), Counted(unit), 1) }

// Counted returns what the numbers of times count; 0 is milliseconds.
func Counted(unit time.Duration) string {
	switch unit {
	case day:
		return "days"
	case time.Microsecond:
		return "microseconds"
	case time.Nanosecond:
		return "nanoseconds"
	}
	return "milliseconds"
}

// Ago reports whether Time parses a text as a duration before now, so that its result depends on now.
func Ago(text string) bool {
	_, err := Duration(text)
	return err == nil && text != "0"
}

// Text formats milliseconds since 1970 in a form that Time parses: RFC 3339 in UTC.
func Text(ms int64) string { return string(Append(nil, ms)) }

// Append appends what Text returns.
func Append(dst []byte, ms int64) []byte {
	return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}
