package eventkey

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"brine/event"
	"brine/rowkey"
)

func encoder(t *testing.T) *Encoder {
	t.Helper()
	key, err := rowkey.Parse(`waybill + "|" + desc(at, ms)`, []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "waybill", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(key, event.Schema{Version: -1, Fields: []event.Field{{Name: "at", Type: event.TimeMS}, {Name: "n", Type: event.Int}, {Name: "waybill", Type: event.Text}}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAppendTakesTheKeysFieldsOutOfTheEvent(t *testing.T) {
	e := encoder(t)
	ev := &event.Event{Values: []event.Value{event.TimeValue(7), event.IntValue(1), event.TextValue("AB")}}
	row, err := e.Append([]byte("before "), ev)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before AB|\x7f\xff\xff\xff\xff\xff\xff\xf8"; string(row) != want {
		t.Errorf("got %q, want %q", row, want)
	}
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { _, _ = e.Append(buf, ev) }); n > 0 {
		t.Errorf("%g allocations per key", n)
	}
}

func TestAppendSaysWhyAnEventHasNoRow(t *testing.T) {
	e := encoder(t)
	for _, tt := range []struct {
		waybill event.Value
		reason  event.Reason
	}{
		{event.Value{}, event.MissingField},
		{event.TextValue("A|B"), event.BadKey},
		{event.TextValue(strings.Repeat("x", 40_000)), event.KeyTooLong},
	} {
		dst := []byte("x")
		row, err := e.Append(dst, &event.Event{Values: []event.Value{event.TimeValue(7), event.IntValue(1), tt.waybill}})
		var fault *event.Error
		if !errors.As(err, &fault) || fault.Reason != tt.reason || fault.Field != "waybill" || string(row) != "x" {
			t.Errorf("got %q, %v; want %s of waybill", row, err, tt.reason)
		}
	}
}

func TestNewNamesTheFieldThatIsMissing(t *testing.T) {
	key, err := rowkey.Parse("user", []rowkey.Field{{Name: "user", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(key, event.Schema{}); err == nil || !strings.Contains(err.Error(), `"user"`) {
		t.Errorf("got %v", err)
	}
}

func TestValuesSurviveTheWayToTheKeyAndBack(t *testing.T) {
	for _, v := range []event.Value{event.TextValue("a"), event.IntValue(-5), event.TimeValue(9), event.FloatValue(-1.5), event.BoolValue(true), event.BoolValue(false), {},
		event.InstantValue(event.Date, -719528), event.InstantValue(event.TimeUS, math.MinInt64), event.InstantValue(event.TimeNS, math.MaxInt64)} {
		k := Value(v)
		back := FieldValue(k, Unit(v.Type))
		if back.Type != v.Type || back.Int() != v.Int() || string(back.Text()) != string(v.Text()) {
			t.Errorf("%+v became %+v", v, back)
		}
		if k.Type != Type(v.Type) {
			t.Errorf("type of %+v is %v", v, k.Type)
		}
	}
}

// TestExactTimesInKeys has the bytes of dates and of times in µs and ns in keys: they sort as the times do, from the year 0 to the last one
// of the type, and are read back as the same times.
func TestExactTimesInKeys(t *testing.T) {
	for _, c := range []struct {
		typ   event.Type
		part  string
		texts []string // in the order of their keys
		rows  []string
	}{
		{event.Date, "asc(at, 32)", []string{"0000-01-01", "0001-01-01", "1969-12-31", "1970-01-01", "9999-12-31"},
			[]string{"7ff50558", "7ff506c6", "7fffffff", "80000000", "802cc0a0"}},
		{event.Date, "desc(at)", []string{"9999-12-31", "1970-01-01", "0000-01-01"}, []string{"7fffffffffd33f5f", "7fffffffffffffff", "80000000000afaa7"}},
		{event.TimeUS, "asc(at)", []string{"0000-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"},
			[]string{"7f23233e56e90000", "7fffffffffffffff", "8000000000000000", "8384440ccc735fff"}},
		{event.TimeNS, "desc(at)", []string{"2262-04-11T23:47:16.854775807Z", "1969-12-31T23:59:59.999999999Z", "1677-09-21T00:12:43.145224192Z"},
			[]string{"0000000000000000", "8000000000000000", "ffffffffffffffff"}},
	} {
		schema := event.Schema{Version: -1, Fields: []event.Field{{Name: "at", Type: c.typ}}}
		key, err := Parse(c.part, schema)
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(key, schema)
		if err != nil {
			t.Fatal(err)
		}
		before := []byte(nil)
		for i, text := range c.texts {
			v := read(t, schema, text)
			row, err := e.Append(nil, &event.Event{Values: []event.Value{v}})
			if err != nil || hex.EncodeToString(row) != c.rows[i] {
				t.Errorf("%s of %s: the key %x, %v; want %s", c.part, text, row, err, c.rows[i])
				continue
			}
			if bytes.Compare(before, row) >= 0 {
				t.Errorf("%s: %x, of %s, is not behind %x", c.part, row, text, before)
			}
			before = row
			values, err := key.Decode(row)
			if err != nil {
				t.Fatal(err)
			}
			back := FieldValue(values[0], Unit(c.typ))
			if got, _ := back.Textual(); got != text || !back.Equal(v) {
				t.Errorf("%s: the key %x is read as %s, want %s", c.part, row, got, text)
			}
		}
	}
}

// read returns the field that a record holds as a text.
func read(t *testing.T, schema event.Schema, text string) event.Value {
	t.Helper()
	var b event.Batch
	if err := event.NewDecoder(schema).Decode(&event.Record{Value: []byte(`{"at":"` + text + `"}`)}, &b); err != nil {
		t.Fatal(err)
	}
	return b.Events[0].Values[0].Owned()
}

// A day that its 32 bits cannot hold has no row.
func TestDaysBeyondTheirWidth(t *testing.T) {
	schema := event.Schema{Version: -1, Fields: []event.Field{{Name: "at", Type: event.Date}}}
	key, err := Parse("asc(at, 32)", schema)
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(key, schema)
	if err != nil {
		t.Fatal(err)
	}
	var fault *event.Error
	if _, err := e.Append(nil, &event.Event{Values: []event.Value{event.InstantValue(event.Date, 1<<31)}}); !errors.As(err, &fault) || fault.Reason != event.BadKey {
		t.Errorf("got %v", err)
	}
}
