package event_test

import (
	"strings"
	"testing"
)

// TestDeepRecords checks that a record yields an event or a reject, however deeply it is nested.
func TestDeepRecords(t *testing.T) {
	read := func(value string) string {
		e, err := decode(schema, value, 0)
		if err != nil {
			return err.Error()
		}
		return show(schema, e)
	}
	for _, depth := range []int{100, 100_000, 5_000_000} {
		for _, c := range []struct{ open, end string }{{"[", "]"}, {`{"x":`, "}"}} {
			inner := strings.Repeat(c.open, depth) + "1" + strings.Repeat(c.end, depth)
			if got := read(`{"x":` + inner + `,"at":5}`); got != "version=5 at=5" && !strings.HasPrefix(got, "undecodable: ") {
				t.Errorf("%d times %s: %.200s", depth, c.open, got)
			}
			if got := read(`{"x":` + inner[:len(inner)/2]); !strings.HasPrefix(got, "undecodable: ") {
				t.Errorf("%d times %s, cut off: %.200s", depth, c.open, got)
			}
		}
	}
}
