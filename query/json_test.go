package query

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"brine/event"
	"brine/search"
)

// TestRowsAsJSON checks a row as JSON: nested values as they are, and invalid ones as text.
func TestRowsAsJSON(t *testing.T) {
	for _, tt := range []struct {
		value event.Value
		want  string
	}{
		{event.NestedValue(`[{"n": 1}, "x"]`), `[{"n":1},"x"]`},
		{event.NestedValue(`[1`), `"[1"`},
		{event.TextValue("a<b"), `"a<b"`},
		{event.Value{}, `null`},
	} {
		found := Found{Row: Row{Key: []byte("r\x00"), Version: 1, Fields: []Field{{Name: "items", Value: tt.value}, {Name: "other", Value: event.TextValue("x")}}}}
		var out strings.Builder
		err := WriteJSON(&out, func(yield func(Found, error) bool) { yield(found, nil) }, "items")
		if want := `{"fields":{"items":` + tt.want + `},"row":"r\\x00","version":1}` + "\n"; err != nil || out.String() != want {
			t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
		}
	}
	found := Found{Row: Row{Key: []byte("r"), Version: 2}, State: NoRow, After: search.Cursor("c")}
	if b, err := json.Marshal(found); err != nil || string(b) != `{"after":"c","fields":{},"row":"r","state":"not in HBase","version":2}` {
		t.Errorf("%s, %v", b, err)
	}
}

// An answer that breaks off is written up to that point.
func TestJSONOfAnAnswerThatFails(t *testing.T) {
	broken := errors.New("broken")
	var out strings.Builder
	err := WriteJSON(&out, func(yield func(Found, error) bool) { _ = yield(Found{}, nil) && yield(Found{}, broken) })
	if !errors.Is(err, broken) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v after %q", err, out.String())
	}
}

func TestTallyAsJSON(t *testing.T) {
	b, err := json.Marshal(Tally{Rows: 3, Values: []ValueCounts{{"status", []search.Count{{Value: "paid", N: 2}}}}})
	if want := `{"rows":3,"status":[{"rows":2,"value":"paid"}]}`; err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}
