package event_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
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

// TestCellsOfNulls: the cell of a null is no value's, and is read as a null.
func TestCellsOfNulls(t *testing.T) {
	for _, c := range []struct {
		typ  event.Type
		cell string
	}{
		{event.Text, "\xff"}, {event.Nested, ""}, {event.Int, ""}, {event.Float, ""}, {event.Bool, ""}, {event.Decimal, ""},
		{event.TimeMS, ""}, {event.Date, ""}, {event.TimeUS, ""}, {event.TimeNS, ""},
	} {
		cell, ok := event.NullCell(c.typ)
		if !ok || cell == nil || string(cell) != c.cell {
			t.Errorf("%s: %q, %t", c.typ, cell, ok)
		}
		if v, err := event.ParseValue(c.typ, cell); err != nil || !v.Null() || v.Unsent() {
			t.Errorf("%s: read as %v, %v", c.typ, v, err)
		}
	}
	if cell, ok := event.NullCell(event.Bytes); ok {
		t.Errorf("bytes: %q would be read as a value", cell)
	}
	for typ, cell := range map[event.Type]string{event.Text: "", event.Bytes: ""} {
		if v, err := event.ParseValue(typ, []byte(cell)); err != nil || v.Null() {
			t.Errorf("%s: an empty value is read as %v, %v", typ, v, err)
		}
	}
	for _, packing := range []event.Packing{event.JSON, event.MessagePack} {
		u := event.NewUnpacker(&event.Pack{Packing: packing, Fields: []event.PackedField{{Name: "a", Field: "a", Type: event.Text}}})
		if values, err := u.Unpack(nil); err != nil || len(values) != 1 || !values[0].Null() {
			t.Errorf("%s: an empty pack is read as %v, %v", packing, values, err)
		}
	}
}

// TestCellsOfExactTypes checks the bytes of decimals against those of HBase's Bytes.toBytes(BigDecimal): the scale in 4 bytes, then the
// unscaled number as BigInteger.toByteArray writes it. Dates and times are longs, and bytes are as they are.
func TestCellsOfExactTypes(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, c := range []struct {
		typ        event.Type
		text, cell string
	}{
		{event.Decimal, "0", "0000000000"},
		{event.Decimal, "0.00", "0000000200"},
		{event.Decimal, "1.50", "000000020096"},
		{event.Decimal, "-0.001", "00000003ff"},
		{event.Decimal, "127", "000000007f"},
		{event.Decimal, "128", "000000000080"},
		{event.Decimal, "-128", "0000000080"},
		{event.Decimal, "-129", "00000000ff7f"},
		{event.Decimal, nines, "000000004b3b4ca85a86c47a098a223fffffffff"},
		{event.Decimal, "-" + nines, "00000000b4c4b357a5793b85f675ddc000000001"},
		{event.Decimal, "0." + nines, "000000264b3b4ca85a86c47a098a223fffffffff"},
		{event.Decimal, "0." + strings.Repeat("0", 37) + "1", "0000002601"},
		{event.Bytes, "", ""},
		{event.Bytes, "AP8K", "00ff0a"},
		{event.Date, "0000-01-01", "fffffffffff50558"},
		{event.Date, "0001-01-01", "fffffffffff506c6"},
		{event.Date, "1969-12-31", "ffffffffffffffff"},
		{event.Date, "1970-01-01", "0000000000000000"},
		{event.Date, "9999-12-31", "00000000002cc0a0"},
		{event.TimeUS, "0000-01-01T00:00:00.000000Z", "ff23233e56e90000"},
		{event.TimeUS, "1969-12-31T23:59:59.999999Z", "ffffffffffffffff"},
		{event.TimeUS, "9999-12-31T23:59:59.999999Z", "0384440ccc735fff"},
		{event.TimeNS, "1677-09-21T00:12:43.145224192Z", "8000000000000000"},
		{event.TimeNS, "1969-12-31T23:59:59.999999999Z", "ffffffffffffffff"},
		{event.TimeNS, "2262-04-11T23:47:16.854775807Z", "7fffffffffffffff"},
	} {
		cell, err := hex.DecodeString(c.cell)
		if err != nil {
			t.Fatal(err)
		}
		v, err := event.ParseValue(c.typ, cell)
		if text, _ := v.Textual(); err != nil || text != c.text {
			t.Errorf("%s %s is read as %q, %v; want %s", c.typ, c.cell, text, err, c.text)
		}
		if c.typ == event.Decimal { // the others are read from records, too, in TestExactTypesOfJSON
			v, _ = event.DecimalValue(c.text)
		}
		if got := event.AppendValue([]byte("x"), v)[1:]; !bytes.Equal(got, cell) {
			t.Errorf("%s %s: got %x, want %s", c.typ, c.text, got, c.cell)
		}
	}
	for _, cell := range []string{"00", "00000002", "00000002000096", "00000000ffff", "0000002701", "ffffffff01", "000000004b3b4ca85a86c47a098a224000000000"} {
		raw, _ := hex.DecodeString(cell)
		if v, err := event.ParseValue(event.Decimal, raw); err == nil {
			t.Errorf("the cell %s is read as %s", cell, v.Text())
		}
	}
}

func TestParseValueFaults(t *testing.T) {
	for _, c := range []struct {
		typ  event.Type
		cell string
		want string
	}{
		{event.Int, "1234", "a cell of type int has 8 bytes; this one has 4"},
		{event.TimeS, "1", "a cell of type time_s has 8 bytes; this one has 1"},
		{event.Float, "123456789", "a cell of type float has 8 bytes; this one has 9"},
		{event.Bool, "12", "a cell of type bool has 1 bytes; this one has 2"},
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
	f.Add(uint8(event.Text), []byte{0xff})
	f.Add(uint8(event.Decimal), []byte{})
	f.Add(uint8(77), []byte{1})
	f.Fuzz(func(t *testing.T, typ uint8, cell []byte) {
		v, err := event.ParseValue(event.Type(typ), cell)
		if err != nil {
			return
		}
		want := cell
		if v.Null() {
			if null, ok := event.NullCell(event.Type(typ)); !ok || !bytes.Equal(null, cell) {
				t.Errorf("%s: %x is read as a null", event.Type(typ), cell)
			}
			return
		}
		if v.Type == event.Bool && v.Bool() {
			want = []byte{0xFF}
		}
		if got := event.AppendValue(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%s: read %x, wrote %x", v.Type, cell, got)
		}
	})
}
