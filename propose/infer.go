package propose

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/event"
)

// Field is a field as it would be declared.
type Field struct {
	event.Field
	Note string // what the sample shows about it
}

func integer(text []byte) (int64, bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	i, err := strconv.ParseInt(string(text), 10, 64)
	return i, err == nil && text[0] != '+'
}

// number reports whether a text is a JSON number in plain digits. 007 is not, because its zeros mean something.
func number(text []byte) bool {
	whole, fraction, ok := bytes.Cut(bytes.TrimPrefix(text, []byte("-")), []byte("."))
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' || ok && len(fraction) == 0 {
		return false
	}
	return len(bytes.Trim(whole, "0123456789")) == 0 && len(bytes.Trim(fraction, "0123456789")) == 0
}

// infer declares a field for each column. texts means that all values are texts whatever they mean, as in CSV.
func (p *profile) infer(texts bool) []Field {
	columns := p.fields()
	var paths [][]string
	for _, c := range columns {
		paths = append(paths, c.path)
	}
	names := names(paths)
	var out []Field
	for i, c := range columns {
		f := Field{Field: event.Field{Name: names[i]}, Note: c.share(p.records - p.bad)}
		if len(c.path) > 1 || c.path[0] != f.Name {
			f.Path = c.path
		}
		f.Type, f.Format = c.typ(texts)
		if c.kinds['"'] > 0 && c.kinds['0'] > 0 && f.Type == event.Text {
			f.Numbers = c.kinds['"']+c.kinds['0'] == c.seen
		}
		out = append(out, f)
	}
	return out
}

// typ returns the narrowest type that takes all values of the sample.
func (c *column) typ(texts bool) (t event.Type, format string) {
	name := strings.ToLower(c.path[len(c.path)-1])
	switch {
	case c.kinds['t']+c.kinds['f'] == c.seen:
		return event.Bool, ""
	case c.kinds['0'] == c.seen && c.numbers.integers == c.seen:
		return c.numbers.time(name), ""
	case c.kinds['0'] == c.seen:
		return event.Float, ""
	case c.kinds['"'] == c.seen && len(c.texts.formats) > 0:
		return event.Time, c.texts.formats[0].name
	case c.kinds['"'] == c.seen && texts && c.texts.truths == c.seen:
		return event.Bool, ""
	case c.kinds['"'] == c.seen && texts && c.texts.integers == c.seen:
		return c.texts.time(name), ""
	case c.kinds['"'] == c.seen && texts && c.texts.floats == c.seen:
		return event.Float, ""
	case c.kinds['"']+c.kinds['0'] == c.seen:
		return event.Text, ""
	}
	return event.Nested, ""
}

// times declares whole numbers of a schema that says no more of them as the times that they are by their values, as infer does without a
// schema. It reports whether there are any.
func (p *Proposal) times(events []event.Event) (found bool) {
	for i := range p.encoding.fields { // without those of the envelope
		f, e := &p.Fields[i], evidence{}
		if f.Type != event.Int {
			continue
		}
		for j := range events {
			if v := events[j].Values[i]; !v.Null() {
				e.integer(v.Int())
			}
		}
		keys := f.Keys()
		f.Type = e.time(strings.ToLower(keys[len(keys)-1]))
		found = found || f.Type != event.Int
	}
	return found
}

// Plausible times: of the years 1990 to 2100. Only a number of milliseconds shows by itself that it is a time: many other numbers, such as
// counts and generated ids, are as large as seconds, microseconds or nanoseconds, so these must also have a name that suggests a time.
const (
	firstSecond = 631_152_000
	lastSecond  = 4_102_444_800
)

var timeNames = []string{"at", "ts", "time", "date", "created", "updated", "modified", "when", "stamp", "since", "until", "clock"}

// time returns the type of integers in this range.
func (e *evidence) time(name string) event.Type {
	named := slices.ContainsFunc(timeNames, func(part string) bool {
		return name == part || strings.HasSuffix(name, "_"+part) || len(part) > 2 && strings.Contains(name, part)
	})
	switch {
	case e.low >= firstSecond*1000 && e.high <= lastSecond*1000:
		return event.TimeMS
	case named && e.low >= firstSecond && e.high <= lastSecond:
		return event.TimeS
	case named && e.low >= firstSecond*1e6 && e.high <= lastSecond*1e6:
		return event.TimeUS
	case named && e.low >= firstSecond*1e9 && e.high <= lastSecond*1e9:
		return event.TimeNS
	}
	return event.Int
}

// share returns how many records have the field, if not all do.
func (c *column) share(records int) string {
	if c.seen == records {
		return ""
	}
	percent := 100 * c.seen / records
	if percent == 0 {
		return "in less than 1 % of the sample"
	}
	return fmt.Sprintf("in %d %% of the sample", percent)
}

// names returns distinct valid names: the last key of each path if that suffices.
func names(paths [][]string) []string {
	last := map[string]int{}
	for _, path := range paths {
		last[legal(path[len(path)-1])]++
	}
	out, taken := make([]string, len(paths)), map[string]bool{}
	for i, path := range paths {
		name := legal(path[len(path)-1])
		if last[name] > 1 {
			name = legal(strings.Join(path, "_"))
		}
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", strings.TrimSuffix(name, fmt.Sprintf("_%d", n-1)), n)
		}
		taken[name] = true
		out[i] = name
	}
	return out
}

// legal turns an object key into a valid field name.
func legal(key string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, key)
	if strings.Trim(name, "_") == "" {
		return "field"
	}
	if name[0] >= '0' && name[0] <= '9' {
		name = "f_" + name
	}
	return name
}
