package query

import (
	"testing"
	"time"

	"brine/internal/when"
	"brine/rowkey"
)

var keyFields = map[string]rowkey.Type{"waybill": rowkey.Text, "at": rowkey.Time, "n": rowkey.Int, "ok": rowkey.Bool, "w": rowkey.Float}

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
