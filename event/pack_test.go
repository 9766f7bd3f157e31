package event_test

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"brine/event"
)

// packed is a schema with a field of every type, and the same fields packed.
func packed(packing event.Packing) (event.Schema, *event.Pack) {
	s, p := event.Schema{Version: -1}, &event.Pack{Packing: packing}
	for i, t := range []event.Type{event.Text, event.Int, event.Float, event.Bool, event.TimeMS, event.TimeS} {
		name := "f" + strconv.Itoa(i)
		s.Fields = append(s.Fields, event.Field{Name: name, Type: t})
		p.Fields = append(p.Fields, event.PackedField{Name: strings.ToUpper(name), Field: name, Type: t})
	}
	return s, p
}

func newPacker(t testing.TB, p *event.Pack, s event.Schema) *event.Packer {
	t.Helper()
	packer, err := event.NewPacker(p, s)
	if err != nil {
		t.Fatal(err)
	}
	return packer
}

var packedValues = map[string][]event.Value{
	"usual":   {event.TextValue("上海"), event.IntValue(-2), event.FloatValue(1.5), event.BoolValue(true), event.TimeValue(1357034220000), event.TimeValue(7000)},
	"zero":    {event.TextValue(""), event.IntValue(0), event.FloatValue(0), event.BoolValue(false), event.TimeValue(0), event.TimeValue(0)},
	"extreme": {event.TextValue("\"\\\x00\n \U0010ffff"), event.IntValue(math.MinInt64), event.FloatValue(math.SmallestNonzeroFloat64), event.BoolValue(true), event.TimeValue(math.MaxInt64), event.TimeValue(-1000)},
	"null":    {event.TextValue("x"), {}, {}, {}, {}, {}},
	"minus 0": {{}, {}, event.FloatValue(math.Copysign(0, -1)), {}, {}, {}},
	"long":    {event.TextValue(strings.Repeat("x", 70_000)), event.IntValue(math.MaxInt64), event.FloatValue(math.MaxFloat64), {}, {}, {}},
}

func TestPackedValuesComeBack(t *testing.T) {
	for _, packing := range []event.Packing{event.MessagePack, event.JSON} {
		s, p := packed(packing)
		packer, unpacker := newPacker(t, p, s), event.NewUnpacker(p)
		var kept [][]event.Value
		for name, values := range packedValues {
			cell := packer.Append([]byte("x"), values)[1:]
			got, err := unpacker.Unpack(cell)
			if err != nil || !reflect.DeepEqual(got, values) {
				t.Errorf("%s, %s: %v, %v came back", packing, name, got, err)
			}
			kept = append(kept, values, got)
		}
		for i := 0; i < len(kept); i += 2 {
			if !reflect.DeepEqual(kept[i], kept[i+1]) {
				t.Errorf("%s: %v was overwritten with %v", packing, kept[i], kept[i+1])
			}
		}
		if cell := packer.Append(nil, make([]event.Value, 6)); len(cell) != 0 {
			t.Errorf("%s: nothing but nulls became %q", packing, cell)
		}
	}
}

// The bytes of a cell are fixed, because others read them.
func TestPackedBytes(t *testing.T) {
	for packing, want := range map[event.Packing]string{
		event.MessagePack: "\x86\xa2F0\xa6上海\xa2F1\xfe\xa2F2\xca\x3f\xc0\x00\x00\xa2F3\xc3\xa2F4\xd3\x00\x00\x01\x3b\xf5\x8a\xe9\xe0\xa2F5\xd1\x1b\x58",
		event.JSON:        `{"F0":"上海","F1":-2,"F2":1.5,"F3":true,"F4":1357034220000,"F5":7000}`,
	} {
		s, p := packed(packing)
		if got := string(newPacker(t, p, s).Append(nil, packedValues["usual"])); got != want {
			t.Errorf("%s: got %q, want %q", packing, got, want)
		}
	}
}

func TestUnpackPassesOverWhatItDoesNotKnow(t *testing.T) {
	want := []event.Value{event.TextValue("a"), {}, event.FloatValue(3), {}, {}, {}}
	for packing, cell := range map[event.Packing]string{
		event.MessagePack: "\x84\xa1z\x92\x01\x81\xa1y\xc0\xa2F2\x03\xa2F0\xa1a\xa2F1\xc0",
		event.JSON:        ` {"z": [1, {"y": null}], "F2": 3, "F0": "a", "F1": null} `,
	} {
		_, p := packed(packing)
		if got, err := event.NewUnpacker(p).Unpack([]byte(cell)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", packing, got, err)
		}
	}
}

func TestUnpackFaults(t *testing.T) {
	for _, c := range []struct {
		packing    event.Packing
		cell, want string
	}{
		{event.MessagePack, "plain text", "a map is expected"},
		{event.MessagePack, "\x81\x01\x01", "a name is expected 2 bytes before the end"},
		{event.MessagePack, "\x81\xa2F0\x01", "F0: a string is expected, found int"},
		{event.MessagePack, "\x81\xa2F1\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", "F1: an integer is expected, found float64"},
		{event.MessagePack, "\x81\xa2F1\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "F1: msgp: 18446744073709551615 overflows"},
		{event.MessagePack, "\x81\xa2F5\xa1x", "F5: a time in ms is expected, found str"},
		{event.MessagePack, "\x81\xa2F0\xa5x", "F0: msgp: too few bytes left to read object"},
		{event.MessagePack, "\x82\xa2F1\x01\xa2F1\x02", "F1: it occurs twice"},
		{event.MessagePack, "\x81\xa2F1\x01x", "1 bytes follow the map"},
		{event.JSON, " ", "the value is empty"},
		{event.JSON, `{"F0":1}`, "a string is expected, found a number"},
		{event.JSON, `{"F1":1,"F1":2}`, "it occurs twice"},
		{event.JSON, `{"F1":1}x`, "there is data after the object"},
	} {
		_, p := packed(c.packing)
		if _, err := event.NewUnpacker(p).Unpack([]byte(c.cell)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %s", c.packing, c.cell, err, c.want)
		}
	}
}

func TestPackFaults(t *testing.T) {
	s, good := packed(event.MessagePack)
	for want, p := range map[string]event.Pack{
		`no packing "xml"; write msgpack or json`:                        {Packing: "xml", Fields: good.Fields},
		"no field is packed; name one":                                   {Packing: event.JSON},
		"field f0 has no name in the cell":                               {Packing: event.JSON, Fields: []event.PackedField{{Field: "f0", Type: event.Text}}},
		"two fields are called x in the cell; rename one":                {Packing: event.JSON, Fields: []event.PackedField{{Name: "x", Field: "f0", Type: event.Text}, {Name: "x", Field: "f1", Type: event.Int}}},
		`field "g" is not declared; add it to fields`:                    {Packing: event.JSON, Fields: []event.PackedField{{Name: "x", Field: "g", Type: event.Text}}},
		"field f0 is declared text but packed as int; use the same type": {Packing: event.JSON, Fields: []event.PackedField{{Name: "x", Field: "f0", Type: event.Int}}},
		"field f0 has no type; write one of text, int, float, bool, tim": {Packing: event.JSON, Fields: []event.PackedField{{Name: "x", Field: "f0"}}},
	} {
		if _, err := event.NewPacker(&p, s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzUnpack checks that any bytes yield an error, or values that survive being packed again.
func FuzzUnpack(f *testing.F) {
	for _, packing := range []event.Packing{event.MessagePack, event.JSON} {
		s, p := packed(packing)
		for name, values := range packedValues {
			if name != "long" {
				f.Add(packing == event.JSON, newPacker(f, p, s).Append(nil, values))
			}
		}
	}
	f.Add(false, []byte("\x84\xa1z\x92\x01\x81\xa1y\xc0\xa2F2\x03\xa2F0\xa1a\xa2F1\xc0"))
	f.Add(false, []byte("\xdf\xff\xff\xff\xff\xa1z\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, json bool, cell []byte) {
		packing := event.MessagePack
		if json {
			packing = event.JSON
		}
		s, p := packed(packing)
		unpacker := event.NewUnpacker(p)
		values, err := unpacker.Unpack(cell)
		if err != nil || !reflect.DeepEqual(values, values) { // a NaN equals nothing
			return
		}
		again := newPacker(t, p, s).Append(nil, values)
		if len(again) == 0 {
			return // all nulls
		}
		if back, err := unpacker.Unpack(again); err != nil || !reflect.DeepEqual(back, values) {
			t.Errorf("%q: read %v, wrote %q, read %v, %v", cell, values, again, back, err)
		}
	})
}

// BenchmarkPack measures the cost of a packed cell with four fields.
func BenchmarkPack(b *testing.B) {
	for _, packing := range []event.Packing{event.MessagePack, event.JSON} {
		b.Run(string(packing), func(b *testing.B) {
			s, p := packed(packing)
			packer, cell := newPacker(b, p, s), []byte(nil)
			b.ReportAllocs()
			for b.Loop() {
				cell = packer.Append(cell[:0], packedValues["usual"])
			}
		})
	}
}
