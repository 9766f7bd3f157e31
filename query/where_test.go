package query

import (
	"strings"
	"testing"
	"time"

	"brine/internal/when"
	"brine/rowkey"
)

var keyFields = byName([]rowkey.Field{{Name: "waybill", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}, {Name: "n", Type: rowkey.Int},
	{Name: "ok", Type: rowkey.Bool}, {Name: "w", Type: rowkey.Float}})

// TestTimesOfIntegers checks that integers that count time are asked for by times too, exact to their unit.
func TestTimesOfIntegers(t *testing.T) {
	fields := byName([]rowkey.Field{{Name: "us", Type: rowkey.Int, Unit: time.Microsecond}, {Name: "ns", Type: rowkey.Int, Unit: time.Nanosecond},
		{Name: "day", Type: rowkey.Int, Unit: 24 * time.Hour}})
	for in, want := range map[string]int64{
		"us=1359619200000001": 1359619200000001, "us=2013-01-31T08:00:00.000001Z": 1359619200000001, "us=2013-01-31": 1359590400000000,
		"us=2013-01-31T16:00:00.0000019+08:00": 1359619200000001, "us=1969-12-31T23:59:59.9999999Z": -1, "us=0001-01-01": -62135596800000000,
		"ns=2013-01-31T08:00:00.000000001Z": 1359619200000000001, "ns=5": 5, "ns=1677-09-21T00:12:43.145224192Z": -1 << 63,
		"ns=2262-04-11T23:47:16.854775807Z": 1<<63 - 1, "day=2013-01-31": 15736, "day=15736": 15736, "day=2013-01-31T23:59:59.999Z": 15736,
		"day=1969-12-31T12:00:00Z": -1,
	} {
		where, err := parseWhere(fields, []string{in})
		name, _, _ := strings.Cut(in, "=")
		if got := where[name].Equal; err != nil || got.Type != rowkey.Int || got.Int != want {
			t.Errorf("%s: %v, %v, want %d", in, got, err, want)
		}
	}
	where, err := parseWhere(fields, []string{"us=2013-01-31..2013-02-01", "ns=2h.."})
	if us := where["us"]; err != nil || us.From.Int != 1359590400000000 || us.To.Int != 1359676800000000 || where["ns"].From.Int < 1e18 {
		t.Errorf("%+v, %v", where, err)
	}
	for in, want := range map[string]string{
		"us=soon": `us: "soon" is not a time: write 2013-01-31, 2013-01-31T08:00:00Z, microseconds since 1970, or how long ago, such as 2h or 3d`,
		"ns=2262-04-11T23:47:16.854775808Z": `ns: "2262-04-11T23:47:16.854775808Z" is out of range: ` +
			`64 bits count nanoseconds from 1677-09-22 to 2262-04-11`,
	} {
		if _, err := parseWhere(fields, []string{in}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}

func TestParseWhere(t *testing.T) {
	where, err := parseWhere(keyFields, []string{"waybill=a=b", "at=2013-01-01..2013-01-02T00:00:01Z", "n=..5", "w=1..=2"})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(where["waybill"].Equal.Text); got != "a=b" {
		t.Errorf("waybill = %q", got)
	}
	if at := where["at"]; at.From.Int != 1356998400000 || at.To.Int != 1357084801000 || at.Equal.Type != 0 {
		t.Errorf("at = %+v", at)
	}
	if w := where["w"]; w.From.Float() != 1 || w.To.Float() != 2 || !w.Through {
		t.Errorf("w = %+v", w)
	}
	if n := where["n"]; n.From.Type != 0 || n.To.Int != 5 || n.To.Type != rowkey.Int || n.Through {
		t.Errorf("n = %+v", n)
	}
}

// TestParseWhereTakesTimesBeforeNow checks that relative times are accepted, as in every command.
func TestParseWhereTakesTimesBeforeNow(t *testing.T) {
	before := time.Now()
	where, err := parseWhere(keyFields, []string{"at=2h.."})
	if err != nil {
		t.Fatal(err)
	}
	if from := time.UnixMilli(where["at"].From.Int).Add(2 * time.Hour); from.Before(before.Truncate(time.Millisecond)) || from.After(time.Now()) {
		t.Errorf("2h before %v is %v", before, where["at"].From)
	}
}

// TestParseWhereTakesAValueAsItStands checks that two equal signs bind a value whatever it contains.
func TestParseWhereTakesAValueAsItStands(t *testing.T) {
	for in, want := range map[string]string{
		"waybill==a..b": "a..b", "waybill==..": "..", "waybill===a": "=a", "waybill==a=b": "a=b", "waybill==": "", "waybill=a.b": "a.b",
	} {
		where, err := parseWhere(keyFields, []string{in})
		if b := where["waybill"]; err != nil || b.Equal.Type != rowkey.Text || string(b.Equal.Text) != want || b.From.Type != 0 || b.To.Type != 0 || b.Through {
			t.Errorf("%s: %+v, %v", in, b, err)
		}
	}
	if _, err := parseWhere(keyFields, []string{"n==1..2"}); err == nil {
		t.Error("a number was made of 1..2")
	}
}

func TestParseWhereSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"waybill", `"waybill" is not a condition: write field=value or field=from..to`},
		{"station=JFK", `no field "station" in the key; it has at, n, ok, w, waybill`},
		{"n=x", `n: "x" is not a whole number`},
		{"ok=maybe", `ok: "maybe" is not true or false`},
		{"w=heavy", `w: "heavy" is not a number`},
		{"at=yesterday", `at: "yesterday" is not a time: write ` + when.Forms},
		{"at=2013-01-01..soon", `at: "soon" is not a time: write ` + when.Forms},
	} {
		if _, err := parseWhere(keyFields, []string{tt.in}); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.in, err, tt.want)
		}
	}
	if _, err := parseWhere(keyFields, []string{"n=1", "n=2"}); err == nil {
		t.Error("a field given twice must be refused")
	}
}
