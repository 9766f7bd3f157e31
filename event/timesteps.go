package event

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// The parts of a time. A format has each at most once.
const (
	year = iota
	month
	day
	yearDay
	hour
	hour12
	afternoon
	minute
	second
	fraction // of the second, in ms
	offset   // seconds east of UTC
	weekday
	parts
)

var partNames = [parts]string{"year", "month", "day", "day of the year", "hour", "hour of twelve", "AM or PM", "minute", "second",
	"fraction of a second", "zone", "day of the week"}

// calendar is a time as a calendar and a clock show it, by part.
type calendar [parts]int

// timeStep reads a literal or a part of a time.
type timeStep struct {
	literal     string
	part        int
	least, most int      // number of digits
	min, max    int      // of a number, or min is the number of the first name
	names       []string // that the part may have; nil: it is a number
	padded      bool     // a space may replace the first digit
	fraction    bool     // of a second: a fraction may follow
}

// verbs are the parts by their strftime letters.
var verbs = map[byte]timeStep{
	'Y': {part: year, least: 4, most: 4, max: 9999}, 'y': {part: year, least: 2, most: 2, max: 99},
	'm': {part: month, least: 2, most: 2, min: 1, max: 12}, 'd': {part: day, least: 2, most: 2, min: 1, max: 31},
	'e': {part: day, least: 1, most: 2, min: 1, max: 31, padded: true}, 'j': {part: yearDay, least: 3, most: 3, min: 1, max: 366},
	'H': {part: hour, least: 2, most: 2, max: 23}, 'I': {part: hour12, least: 2, most: 2, min: 1, max: 12},
	'M': {part: minute, least: 2, most: 2, max: 59}, 'S': {part: second, least: 2, most: 2, max: 59},
	'B': {part: month, min: 1, names: names(9, time.Month.String, 1, 12)},
	'b': {part: month, min: 1, names: names(3, time.Month.String, 1, 12)},
	'A': {part: weekday, names: names(9, time.Weekday.String, 0, 6)}, 'a': {part: weekday, names: names(3, time.Weekday.String, 0, 6)},
	'p': {part: afternoon, names: []string{"AM", "PM"}}, 'f': {part: fraction}, 'z': {part: offset}, '%': {literal: "%"},
}

// names returns English names of at most that many letters.
func names[T ~int](letters int, name func(T) string, from, to T) (all []string) {
	for i := from; i <= to; i++ {
		all = append(all, name(i)[:min(letters, len(name(i)))])
	}
	return all
}

// shorthands stand for several parts.
var shorthands = strings.NewReplacer("%%", "%%", "%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%D", "%m/%d/%y", "%R", "%H:%M")

const patternHelp = "a pattern is written as for strftime, such as %Y-%m-%d %H:%M:%S, with %Y %y %m %b %B %d %e %j %H %I %p %M %S %f %z " +
	"%a %A %F %T %R %D and %%; %-d also accepts one digit"

// compile makes the steps of a pattern.
func (f *TimeFormat) compile(pattern string) error {
	if !strings.Contains(pattern, "%") {
		return &FormatError{fmt.Sprintf("no time format %q", pattern),
			"write rfc3339, epoch_s, epoch_ms, epoch_us, epoch_ns, epoch_days or a pattern: " + patternHelp}
	}
	for rest := shorthands.Replace(pattern); rest != ""; {
		literal, after, found := strings.Cut(rest, "%")
		if literal != "" {
			f.steps = append(f.steps, timeStep{literal: literal})
		}
		if !found {
			break
		}
		verb, loose := strings.CutPrefix(after, "-")
		step, ok := timeStep{}, false
		if verb != "" {
			step, ok = verbs[verb[0]]
		}
		if !ok || loose && step.most == 0 {
			return &FormatError{fmt.Sprintf("time format %q: unknown part %%%.4s", pattern, after), patternHelp}
		}
		if loose {
			step.least = 1
		}
		f.steps, rest = append(f.steps, step), verb[1:]
	}
	if err := f.complete(); err != nil {
		return fmt.Errorf("time format %q %w", pattern, err)
	}
	return nil
}

// complete checks that a format has each part only once, and enough of them to make a time.
func (f *TimeFormat) complete() error {
	var has [parts]bool
	for i := range f.steps {
		s := &f.steps[i]
		if s.literal != "" {
			continue
		}
		if has[s.part] {
			return &FormatError{"has its " + partNames[s.part] + " twice", "remove one"}
		}
		has[s.part] = true
		s.fraction = s.part == second && (i+1 == len(f.steps) || !f.steps[i+1].beginsFraction())
	}
	f.zoned = has[offset]
	switch {
	case !has[year]:
		return &FormatError{"has no year", "add %Y"}
	case !has[yearDay] && (!has[month] || !has[day]):
		return &FormatError{"has no month and day", "add %m and %d, or %j"}
	case has[hour12] != has[afternoon]:
		return &FormatError{"has one of %I and %p", "write both, or %H"}
	case has[hour12] && has[hour]:
		return &FormatError{"has its hour twice", "remove %H or %I"}
	case has[yearDay] && (has[month] || has[day]):
		return &FormatError{"has its day twice", "remove %j or %m and %d"}
	}
	return nil
}

// beginsFraction reports whether the format itself determines where the fraction of a second is.
func (s *timeStep) beginsFraction() bool {
	return s.literal != "" && (s.literal[0] == '.' || s.literal[0] == ',') || s.literal == "" && s.part == fraction
}

// read reads the step's part of a time and returns what follows it.
func (s *timeStep) read(text []byte, c *calendar) (rest []byte, ok bool) {
	n := 0
	switch {
	case s.literal != "":
		return bytes.CutPrefix(text, []byte(s.literal))
	case s.names != nil:
		n = s.readName(text, c)
	case s.part == fraction:
		n = c.readFraction(text)
	case s.part == offset:
		n = c.readOffset(text)
	default:
		n = s.readNumber(text, c)
	}
	return text[n:], n > 0
}

// readName returns how many bytes the part takes; 0: it is missing.
func (s *timeStep) readName(text []byte, c *calendar) int {
	for i, name := range s.names {
		if len(text) >= len(name) && strings.EqualFold(string(text[:len(name)]), name) {
			c[s.part] = s.min + i
			return len(name)
		}
	}
	return 0
}

// readNumber returns how many bytes the part takes; 0: it is missing.
func (s *timeStep) readNumber(text []byte, c *calendar) int {
	from := 0
	if s.padded && len(text) > 0 && text[0] == ' ' {
		from = 1
	}
	v, n := number(text[from:], s.most)
	if n < s.least || v < s.min || v > s.max {
		return 0
	}
	if s.max == 99 { // %y: 1969 to 2068
		if v += 1900; v < 1969 {
			v += 100
		}
	}
	c[s.part] = v
	n += from
	if s.fraction && len(text) > n+1 && (text[n] == '.' || text[n] == ',') {
		if digits := c.readFraction(text[n+1:]); digits > 0 {
			n += 1 + digits
		}
	}
	return n
}

// number reads a number of at most most digits.
func number(text []byte, most int) (v, digits int) {
	for digits < min(most, len(text)) && text[digits] >= '0' && text[digits] <= '9' {
		v = v*10 + int(text[digits]-'0')
		digits++
	}
	return v, digits
}

// readFraction returns how many bytes the digits of a fraction take.
func (c *calendar) readFraction(text []byte) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	c[fraction] = milliseconds(text[:n])
	return n
}

// readOffset returns how many bytes Z, +hh:mm, +hhmm or +hh takes; 0: there is none.
func (c *calendar) readOffset(text []byte) int {
	switch {
	case len(text) > 0 && text[0] == 'Z':
		c[offset] = 0
		return 1
	case len(text) < 3 || text[0] != '+' && text[0] != '-':
		return 0
	}
	hours, n := number(text[1:], 2)
	if n < 2 || hours > 23 {
		return 0
	}
	at := 3
	if at < len(text) && text[at] == ':' {
		at++
	}
	minutes, n := number(text[at:], 2)
	if n == 2 && minutes > 59 || n < 2 && at > 3 || n == 1 {
		return 0
	}
	c[offset] = (hours*60 + minutes) * 60
	if text[0] == '-' {
		c[offset] = -c[offset]
	}
	return at + n
}

// seconds returns the seconds since 1970 that the calendar would show in UTC; ok is false if there is no such day.
func (c *calendar) seconds() (s int64, ok bool) {
	h := c[hour]
	if c[hour12] > 0 {
		h = c[hour12]%12 + 12*c[afternoon]
	}
	t := time.Date(c[year], time.Month(c[month]), c[day], h, c[minute], c[second], 0, time.UTC)
	if c[yearDay] > 0 {
		t = t.AddDate(0, 0, c[yearDay]-1)
		return t.Unix(), t.Year() == c[year]
	}
	return t.Unix(), t.Day() == c[day]
}

// Pattern returns a regular expression (ECMA-262) for texts that are times in this format, for publishers. It may be narrower than what is
// accepted, and has no calendar: the 31st of February matches.
func (f *TimeFormat) Pattern() string {
	if f.epoch > 0 {
		return `^-?[0-9]+(\.[0-9]+)?$`
	}
	out := "^"
	for i := range f.steps {
		out += f.steps[i].pattern()
	}
	return out + "$"
}

// partPatterns are the regular expressions of parts that are numbers.
var partPatterns = [parts]string{year: `[0-9]{4}`, month: `(0[1-9]|1[0-2])`, day: `(0[1-9]|[12][0-9]|3[01])`, yearDay: `[0-3][0-9]{2}`,
	hour: `([01][0-9]|2[0-3])`, hour12: `(0[1-9]|1[0-2])`, minute: `[0-5][0-9]`, second: `[0-5][0-9]`, fraction: `[0-9]{1,9}`,
	offset: `(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`}

func (s *timeStep) pattern() string {
	switch {
	case s.literal != "":
		return regexp.QuoteMeta(s.literal)
	case s.names != nil:
		return "(" + strings.Join(s.names, "|") + ")"
	case s.part == year && s.most == 2:
		return `[0-9]{2}`
	case s.padded:
		return `( [1-9]|[12][0-9]|3[01])`
	case s.fraction:
		return partPatterns[s.part] + `(\.[0-9]{1,9})?`
	case s.least == 1:
		return oneDigit.Replace(partPatterns[s.part])
	}
	return partPatterns[s.part]
}

// oneDigit makes the first of two digits optional.
var oneDigit = strings.NewReplacer("(0[", "(0?[", "([01][", "([01]?[", "[0-5][", "[0-5]?[")
