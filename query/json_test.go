package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"brine/event"
	"brine/mask"
	"brine/rowkey"
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

// TestAppendJSON checks that a value is appended as encoding/json would write it.
func TestAppendJSON(t *testing.T) {
	for _, v := range []event.Value{
		{}, event.TextValue(""), event.TextValue(`a"b\c<d>&`), event.TextValue("\x00\n\t\u2028 é \U0001F600"), event.TextValue("not UTF-8: \xff"),
		event.IntValue(0), event.IntValue(math.MinInt64), event.IntValue(math.MaxInt64), event.BoolValue(true), event.BoolValue(false),
		event.TimeValue(0), event.TimeValue(-1), event.TimeValue(253402300800000), event.FloatValue(-0.5), event.FloatValue(1e21),
		event.FloatValue(1e-7), event.NestedValue(`[{"n": 1}, "<x>"]`), event.NestedValue(`[1`), event.NestedValue("\"\xff\""),
		event.InstantValue(event.Date, 15706), event.InstantValue(event.TimeUS, 1357035420000001),
	} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(JSONValue(v)); err != nil {
			t.Fatal(err)
		}
		var got, as any
		b := AppendJSON([]byte("["), v)
		if err := errors.Join(json.Unmarshal(b[1:], &got), json.Unmarshal(want.Bytes(), &as)); err != nil || !reflect.DeepEqual(got, as) {
			t.Errorf("%s, want %s: %v", b[1:], want.Bytes(), err)
		}
	}
	for number, want := range map[float64]string{math.Inf(-1): `"-Inf"`, math.Inf(1): `"+Inf"`} {
		if b := AppendJSON(nil, event.FloatValue(number)); string(b) != want {
			t.Errorf("%s, want %s", b, want)
		}
	}
	if b := AppendJSON(nil, event.FloatValue(math.NaN())); string(b) != `"NaN"` {
		t.Errorf("%s", b)
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

// TestKeysOfUnreadableRowsAreMasked checks that an error about a row shows its key only where tables do not mask theirs.
func TestKeysOfUnreadableRowsAreMasked(t *testing.T) {
	rules := &mask.Rules{}
	rules.Key("hidden", "user")
	for _, cause := range []error{errors.New("column e:n: a cell of type int has 8 bytes; this one has 3"), &rowkey.DecodeError{Row: []byte("ann"), Msg: "ends too early"}} {
		for table, shown := range map[string]bool{"hidden": false, "open": true} {
			err := fmt.Errorf("read: %w", &UnreadableError{Table: table, Row: []byte("ann|7"), Err: cause})
			got := MaskedError(err, rules)
			var row *UnreadableError
			if strings.Contains(got.Error(), "ann") != shown || !strings.Contains(got.Error(), table) || !errors.As(got, &row) {
				t.Errorf("%s: %v", table, got)
			}
		}
	}
	if err := errors.New("away"); !errors.Is(MaskedError(err, rules), err) || MaskedError(nil, rules) != nil {
		t.Error("other errors are changed")
	}
}

// TestAFieldOfTwoColumns checks that the first value counts, here as in all other answers.
func TestAFieldOfTwoColumns(t *testing.T) {
	f := Found{Row: Row{Fields: []Field{{Name: "a"}, {Name: "a", Value: event.IntValue(1)}, {Name: "a", Value: event.IntValue(2)}, {Name: "a"}}}}
	if v := f.Value("a"); v.Null() || v.Int() != 1 {
		t.Errorf("%v", v)
	}
	if out, err := f.MarshalJSON(); err != nil || !strings.Contains(string(out), `"fields":{"a":1}`) {
		t.Errorf("%s, %v", out, err)
	}
}
