package event_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
)

func TestTimesAreReadAsTheirFormatSays(t *testing.T) {
	for _, c := range []struct{ format, zone, text, want string }{
		{"", "", "2013-01-31T08:00:00Z", "2013-01-31T08:00:00.000Z"},
		{"", "", "2013-01-31T08:00:00.123456789+08:00", "2013-01-31T00:00:00.123Z"},
		{"", "", "2013-01-31T08:00:00,5-03:30", "2013-01-31T11:30:00.500Z"},
		{"", "", "1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"},
		{"", "", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"},
		{"", "", "2013-01-31T08:00:00", ""},
		{"", "", "2013-01-31T08:00:00Z ", ""},
		{"", "", "2013-01-31T08:00:00.Z", ""},
		{"", "", "2013-01-31 08:00:00Z", ""},
		{"", "", "2013-02-29T08:00:00Z", ""},
		{"", "", "2013-01-31T24:00:00Z", ""},
		{"", "", "2013-01-31T08:00:60Z", ""},
		{"", "", "2013-01-31T08:00:00+24:00", ""},
		{"", "", "2013-01-31T08:00:00+08:60", ""},
		{"", "", "13-01-31T08:00:00Z", ""},
		{"", "", "", ""},
		{"%Y-%m-%d %H:%M:%S", "", "2013-01-31 08:00:00", "2013-01-31T08:00:00.000Z"},
		{"%Y-%m-%d %H:%M:%S", "Asia/Shanghai", "2013-01-31 08:00:00.25", "2013-01-31T00:00:00.250Z"},
		{"%Y-%m-%d %H:%M:%S", "-03:30", "2013-01-31 08:00:00", "2013-01-31T11:30:00.000Z"},
		{"%F %T%z", "", "2013-01-31 08:00:00+08", "2013-01-31T00:00:00.000Z"},
		{"%F %T %z", "", "2013-01-31 08:00:00 -0800", "2013-01-31T16:00:00.000Z"},
		{"%F %T.%f", "", "2013-01-31 08:00:00.25", "2013-01-31T08:00:00.250Z"},
		{"%F %T.%f", "", "2013-01-31 08:00:00", ""},
		{"%Y%m%d%H%M%S%f", "", "20130131080000123", "2013-01-31T08:00:00.123Z"},
		{"%d/%b/%Y:%T %z", "", "31/Jan/2013:08:00:00 +0000", "2013-01-31T08:00:00.000Z"},
		{"%A, %e %B %Y %I:%M %p", "", "thursday,  3 january 2013 12:05 am", "2013-01-03T00:05:00.000Z"},
		{"%a %-m/%-d/%y %-I:%M %p", "", "Thu 1/31/13 8:00 PM", "2013-01-31T20:00:00.000Z"},
		{"%-d.%-m.%Y", "", " 1.2.2013", ""},
		{"%y%m%d", "", "690101", "1969-01-01T00:00:00.000Z"},
		{"%y%m%d", "", "680101", "2068-01-01T00:00:00.000Z"},
		{"%Y-%j", "", "2012-366", "2012-12-31T00:00:00.000Z"},
		{"%Y-%j", "", "2013-366", ""},
		{"100%% %F", "", "100% 2013-01-31", "2013-01-31T00:00:00.000Z"},
		{"%F", "", "2013-1-31", ""},
		{"epoch_s", "", "1357344000", "2013-01-05T00:00:00.000Z"},
		{"epoch_s", "", "1357344000.9999", "2013-01-05T00:00:00.999Z"},
		{"epoch_s", "", "-0.0001", "1969-12-31T23:59:59.999Z"},
		{"epoch_s", "", "-1.500", "1969-12-31T23:59:58.500Z"},
		{"epoch_ms", "", "1357344000123.9", "2013-01-05T00:00:00.123Z"},
		{"epoch_us", "", "1357344000123456", "2013-01-05T00:00:00.123Z"},
		{"epoch_us", "", "-1", "1969-12-31T23:59:59.999Z"},
		{"epoch_ns", "", "1357344000123456789", "2013-01-05T00:00:00.123Z"},
		{"epoch_s", "", "9223372036854775807", ""},
		{"epoch_s", "", "1.5e9", ""},
		{"epoch_s", "", "1.", ""},
		{"epoch_s", "", ".5", ""},
		{"epoch_s", "", "+1", ""},
		{"epoch_s", "", "", ""},
		// Clock changes: in spring 2013 in New York, 02:00 becomes 03:00; in autumn, 02:00 becomes 01:00.
		{"%F %T", "America/New_York", "2013-03-10 01:59:59", "2013-03-10T06:59:59.000Z"},
		{"%F %T", "America/New_York", "2013-03-10 02:30:00", "2013-03-10T07:30:00.000Z"},
		{"%F %T", "America/New_York", "2013-03-10 03:00:00", "2013-03-10T07:00:00.000Z"},
		{"%F %T", "America/New_York", "2013-11-03 01:30:00", "2013-11-03T05:30:00.000Z"},
		{"%F %T", "America/New_York", "2013-11-03 02:00:00", "2013-11-03T07:00:00.000Z"},
		{"%F %T", "America/New_York", "2150-07-01 00:00:00", "2150-07-01T04:00:00.000Z"},
		{"%F %T", "America/New_York", "3012-12-31 00:00:00", "3012-12-31T05:00:00.000Z"},
		{"%F %T", "Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30T22:00:00.000Z"}, // a day that did not exist
		{"%F %T", "America/New_York", "1800-01-01 00:00:00", "1800-01-01T04:56:02.000Z"},
	} {
		f, err := event.ParseTimeFormat(c.format, c.zone)
		if err != nil {
			t.Fatalf("%s: %v", c.format, err)
		}
		for range 2 { // the second time from memory
			got := ""
			if ms, ok := f.Parse([]byte(c.text)); ok {
				got = time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
			}
			if got != c.want {
				t.Errorf("%q as %s in %s is %q, expected %q", c.text, c.format, c.zone, got, c.want)
			}
		}
	}
}

func TestTimeFormatsAreChecked(t *testing.T) {
	for _, c := range []struct{ format, zone, want string }{
		{"yyyy-MM-dd", "", `no time format "yyyy-MM-dd"; write rfc3339, epoch_s, epoch_ms, epoch_us, epoch_ns, epoch_days or a pattern: a pattern is written as for strftime`},
		{"%Y-%Q", "", `time format "%Y-%Q": unknown part %Q; a pattern is written as for strftime`},
		{"%Y-%", "", `time format "%Y-%": unknown part %;`},
		{"%F %-p", "", `time format "%F %-p": unknown part %-p;`},
		{"%H:%M", "", `time format "%H:%M" has no year; add %Y`},
		{"%Y-%m", "", `time format "%Y-%m" has no month and day; add %m and %d, or %j`},
		{"%F %y", "", `time format "%F %y" has its year twice; remove one`},
		{"%F %j", "", `time format "%F %j" has its day twice; remove %j or %m and %d`},
		{"%F %I", "", `time format "%F %I" has one of %I and %p; write both, or %H`},
		{"%F %H %I %p", "", `time format "%F %H %I %p" has its hour twice; remove %H or %I`},
		{"", "Asia/Shanghai", `a time as rfc3339 has its own zone; remove zone Asia/Shanghai`},
		{"epoch_s", "UTC", `a time as epoch_s has its own zone; remove zone UTC`},
		{"%F", "Local", `no time zone "Local"; write a name such as Asia/Shanghai, or an offset such as +08:00`},
		{"%F", "Mars/Olympus", `no time zone "Mars/Olympus"; write a name`},
	} {
		if _, err := event.ParseTimeFormat(c.format, c.zone); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s in %q: %v", c.format, c.zone, err)
		}
	}
}

func TestFormatsSayTheirUnit(t *testing.T) {
	for format, want := range map[string]string{"": "", "epoch_s": "", "%F %T": "", "%F %R": "minute", "%F %I %p": "hour", "%F": "day", "%Y-%j": "day"} {
		f, err := event.ParseTimeFormat(format, "")
		if err != nil || f.Unit() != want {
			t.Errorf("%s is exact to a %s, expected %q: %v", format, f.Unit(), want, err)
		}
	}
}

// TestTimesOfRecords decodes fields declared time, and texts made of numbers; a reject names the field, the value and what is expected.
func TestTimesOfRecords(t *testing.T) {
	d := event.NewDecoder(event.Schema{Version: 1, Fields: []event.Field{
		{Name: "id", Type: event.Text, Numbers: true}, {Name: "at", Type: event.Time, Format: "%F %T", Zone: "Asia/Shanghai", Path: []string{"a", "t"}},
		{Name: "us", Type: event.Time, Format: "epoch_us"}, {Name: "plain", Type: event.Text},
	}})
	for _, c := range []struct{ record, want string }{
		{`{"id":1.50,"a":{"t":"2013-01-31 08:00:00"},"us":1357344000123456}`, "1.50 1359590400000 1357344000123"},
		{`{"id":"x","a":{"t":"2013-01-\u00331 08:00:00"},"us":"1357344000123456"}`, "x 1359590400000 1357344000123"},
		{`{"id":true,"a":{"t":"2013-01-31 08:00:00"}}`, "wrong_type: field id: a string is expected, found a bool"},
		{`{"plain":7}`, "wrong_type: field plain: a string is expected, found a number"},
		{`{"a":{"t":"2013-01-31T\u001b08:00:00` + strings.Repeat("é", 50) + `"}}`,
			`wrong_type: field a.t: a time as %F %T is expected, found "2013-01-31T\x1b08:00:00` + strings.Repeat("é", 20) + `"…`},
		{`{"a":{"t":1357344000000}}`, `wrong_type: field a.t: a time as %F %T is expected, found "1357344000000"`},
		{`{"a":{"t":[]}}`, "wrong_type: field a.t: a time as %F %T is expected, found an array"},
		{`{"us":1.5e9}`, `wrong_type: field us: a time in microseconds since 1970 is expected, found "1.5e9"`},
		{`{"us":null}`, "missing_field: field a.t: it is the version of the event"},
	} {
		var b event.Batch
		got := ""
		if err := d.Decode(&event.Record{Value: []byte(c.record), Timestamp: 1359590400000}, &b); err != nil {
			got = err.Error()
		} else {
			v := b.Events[0].Values
			got = fmt.Sprintf("%s %d %d", v[0].Text(), v[1].Int(), v[2].Int())
		}
		if got != c.want {
			t.Errorf("%s becomes %s, expected %s", c.record, got, c.want)
		}
	}
}

func BenchmarkTimeFormat(b *testing.B) {
	for _, c := range []struct{ format, zone, text string }{
		{"rfc3339", "", "2013-01-31T08:00:00.123+08:00"}, {"%Y-%m-%d %H:%M:%S", "Asia/Shanghai", "2013-01-31 08:00:00"}, {"epoch_us", "", "1357344000123456"},
	} {
		b.Run(c.format, func(b *testing.B) {
			f, err := event.ParseTimeFormat(c.format, c.zone)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := f.Parse([]byte(c.text)); !ok {
					b.Fatal("refused")
				}
			}
		})
	}
}

// layouts are formats that package time has too.
var layouts = map[string]string{"rfc3339": time.RFC3339, "%Y-%m-%d %H:%M:%S": time.DateTime, "%d/%b/%Y:%H:%M:%S": "02/Jan/2006:15:04:05",
	"%a %b %e %H:%M:%S %Y": time.ANSIC, "%Y-%j": "2006-002", "%B %-d, %Y %-I:%M %p": "January 2, 2006 3:04 PM"}

// FuzzTimeFormat compares with package time, in UTC and in a zone with clock changes.
func FuzzTimeFormat(f *testing.F) {
	for _, text := range []string{"2013-01-31T08:00:00.123+08:00", "2013-03-10 02:30:00", "31/Jan/2013:08:00:00", "2013-01-31T08:00:00.5", "Thu Jan  3 08:00:00 2013", "2012-366", "May 3, 2013 8:00 PM"} {
		f.Add(text)
	}
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToUpper(text) // package time does not accept pm
		for format, layout := range layouts {
			got, ok := parseTime(t, format, "", text)
			want, err := time.Parse(layout, text)
			for _, offset := range []string{"Z0700", "Z07"} {
				if err != nil {
					want, err = time.Parse(strings.Replace(layout, "Z07:00", offset, 1), text)
				}
			}
			switch {
			case err == nil && !ok && strings.EqualFold(want.Format(layout), text):
				t.Fatalf("%q as %s is refused, and package time reads %v", text, format, want)
			case !ok:
				continue
			case err != nil || got.UnixMilli() != want.UnixMilli():
				t.Fatalf("%q as %s is %v, and package time reads %v: %v", text, format, got, want, err)
			case format == "rfc3339":
				continue
			}
			there, _ := parseTime(t, format, "America/New_York", text)
			clock := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.000") }
			if at, err := time.ParseInLocation(layout, text, newYork); err != nil || clock(there.In(newYork)) != clock(got) && clock(at) == clock(want) {
				t.Fatalf("%q as %s in New York is %v, and package time reads %v: %v", text, format, there.In(newYork), at, err)
			}
		}
	})
}

func parseTime(t *testing.T, format, zone, text string) (time.Time, bool) {
	f, err := event.ParseTimeFormat(format, zone)
	if err != nil {
		t.Fatal(err)
	}
	ms, ok := f.Parse([]byte(text))
	return time.UnixMilli(ms).UTC(), ok
}

// TestPatternsMatchWhatIsRead checks that what a format's pattern matches can be read, except for days that a month does not have.
func TestPatternsMatchWhatIsRead(t *testing.T) {
	for _, c := range []struct {
		format string
		good   []string
		bad    []string
	}{
		{"", []string{"2024-01-31T08:00:00Z", "2024-01-31T08:00:00.123456+08:00"}, []string{"2024-01-31", "2024-13-01T00:00:00Z", "2024-01-31 08:00:00Z"}},
		{"%Y-%m-%d %H:%M:%S", []string{"2024-02-29 23:59:59", "2024-02-29 23:59:59.5"}, []string{"2024-2-29 23:59:59", "2024-02-29 24:00:00"}},
		{"%-d.%-m.%Y", []string{"1.2.2024", "31.12.2024", "01.02.2024"}, []string{"32.1.2024", "1.13.2024", "1/2/2024"}},
		{"%d %b %Y %I:%M %p", []string{"31 Jan 2024 08:00 PM"}, []string{"31 Foo 2024 08:00 PM", "31 Jan 2024 13:00 PM"}},
		{"epoch_ms", []string{"1700000000123", "-5"}, []string{"soon", "1e9"}},
	} {
		f, err := event.ParseTimeFormat(c.format, "")
		if err != nil {
			t.Fatal(err)
		}
		pattern := regexp.MustCompile(f.Pattern())
		for _, text := range append(slices.Clone(c.good), c.bad...) {
			_, read := f.Parse([]byte(text))
			if good := slices.Contains(c.good, text); pattern.MatchString(text) != good || good && !read {
				t.Errorf("%s: %q: matches %v, read %v", c.format, text, pattern.MatchString(text), read)
			}
		}
	}
}
