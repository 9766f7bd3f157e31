package event_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"brine/event"
)

// The bytes are those of HBase's Bytes.toBytes for a String, long, double and boolean.
func TestCellValues(t *testing.T) {
	for _, c := range []struct {
		value event.Value
		cell  string
	}{
		{event.TextValue(""), ""},
		{event.TextValue("上海"), "e4b88ae6b5b7"},
		{event.IntValue(0), "0000000000000000"},
		{event.IntValue(-2), "fffffffffffffffe"},
		{event.IntValue(math.MinInt64), "8000000000000000"},
		{event.TimeValue(1357034220000), "0000013bf58ae9e0"},
		{event.FloatValue(-1.5), "bff8000000000000"},
		{event.FloatValue(math.Copysign(0, -1)), "8000000000000000"},
		{event.BoolValue(true), "ff"},
		{event.BoolValue(false), "00"},
	} {
		cell := event.AppendValue([]byte("x"), c.value)[1:]
		if hex.EncodeToString(cell) != c.cell {
			t.Errorf("%s: got %x, want %s", c.value.Type, cell, c.cell)
		}
		back, err := event.ParseValue(c.value.Type, cell)
		if err != nil || !reflect.DeepEqual(back, c.value) {
			t.Errorf("%s %s: read back as %v, %v", c.value.Type, c.cell, back, err)
		}
	}
	if got := event.AppendValue(nil, event.Value{}); len(got) != 0 {
		t.Errorf("null is %x", got)
	}
}

func TestParseValueFaults(t *testing.T) {
	for _, c := range []struct {
		typ  event.Type
		cell string
		want string
	}{
		{event.Int, "1234", "a cell of type int has 8 bytes; this one has 4"},
		{event.TimeS, "", "a cell of type time_s has 8 bytes; this one has 0"},
		{event.Float, "123456789", "a cell of type float has 8 bytes; this one has 9"},
		{event.Bool, "", "a cell of type bool has 1 bytes; this one has 0"},
		{0, "12345678", "no such field type: 0"},
	} {
		if _, err := event.ParseValue(c.typ, []byte(c.cell)); err == nil || err.Error() != c.want {
			t.Errorf("%s %q: %v, want %s", c.typ, c.cell, err, c.want)
		}
	}
	if v, err := event.ParseValue(event.TimeS, []byte("\x00\x00\x00\x00\x00\x00\x00\x07")); err != nil || v.Type != event.TimeMS || v.Int() != 7 {
		t.Errorf("time_s: %v, %v", v, err)
	}
}

// FuzzParseValue checks that a value read from a cell is written back unchanged; a true is always written as 0xFF.
func FuzzParseValue(f *testing.F) {
	f.Add(uint8(event.Text), []byte("上海"))
	f.Add(uint8(event.Int), []byte("12345678"))
	f.Add(uint8(event.TimeS), []byte("1234567"))
	f.Add(uint8(event.Float), []byte{0x7f, 0xf8, 0, 0, 0, 0, 0, 1})
	f.Add(uint8(event.Bool), []byte{1})
	f.Add(uint8(77), []byte{})
	f.Fuzz(func(t *testing.T, typ uint8, cell []byte) {
		v, err := event.ParseValue(event.Type(typ), cell)
		if err != nil {
			return
		}
		want := cell
		if v.Type == event.Bool && v.Bool() {
			want = []byte{0xFF}
		}
		if got := event.AppendValue(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%s: read %x, wrote %x", v.Type, cell, got)
		}
	})
}
