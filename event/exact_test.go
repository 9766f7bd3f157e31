package event_test

import (
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"
	"testing"
	"time"

	"brine/event"
)

var exactFields = []event.Field{
	{Name: "d", Type: event.Decimal}, {Name: "b", Type: event.Bytes}, {Name: "day", Type: event.Date}, {Name: "us", Type: event.TimeUS},
	{Name: "ns", Type: event.TimeNS}, {Name: "said", Type: event.Decimal, Convert: event.Conversion{FromText: true}},
}

// The exact types in JSON, as people read them, or the reject.
func TestExactTypesOfJSON(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{"d":1.50}`, "1.50"}, {`{"d":-0.050}`, "-0.050"}, {`{"d":-0}`, "0"}, {`{"d":0.00}`, "0.00"}, {`{"d":1e3}`, "1000"}, {`{"d":12.5e-2}`, "0.125"},
		{`{"d":1.25e1}`, "12.5"}, {`{"d":0e50}`, "0"}, {`{"d":` + strings.Repeat("9", 38) + `}`, strings.Repeat("9", 38)},
		{`{"d":` + strings.Repeat("9", 39) + `}`, "d: the decimal has more than 38 digits"}, {`{"d":1e38}`, "d: the decimal has more than 38 digits"},
		{`{"d":1e-39}`, "d: the decimal has more than 38 digits"}, {`{"d":1e999999999999999999999}`, "d: the decimal has more than 38 digits"},
		{`{"d":"1.5"}`, "d: a decimal number is expected, found a string"}, {`{"d":true}`, "d: a decimal number is expected, found a bool"},
		{`{"said":"+1.50"}`, "1.50"}, {`{"said":".5"}`, "0.5"}, {`{"said":"007"}`, "7"}, {`{"said":"NaN"}`, `said: a decimal number is expected, found "NaN"`},
		{`{"b":"AP8="}`, "AP8="}, {`{"b":""}`, ""}, {`{"b":"AP8"}`, `b: bytes in base64 is expected, found "AP8"`},
		{`{"b":"AP\n8="}`, `b: bytes in base64 is expected, found "AP\n8="`}, {`{"b":7}`, "b: bytes in base64 is expected, found a number"},
		{`{"day":"2013-01-31"}`, "2013-01-31"}, {`{"day":0}`, "1970-01-01"}, {`{"day":-1}`, "1969-12-31"}, {`{"day":"0000-01-01"}`, "0000-01-01"},
		{`{"day":"9999-12-31"}`, "9999-12-31"}, {`{"day":"2013-01-31T23:59:59.9Z"}`, "2013-01-31"}, {`{"day":9999999}`, "9999999"},
		{`{"day":9223372036854775807}`, "day: the time does not fit 64 bits of milliseconds"},
		{`{"day":"2013-02-30"}`, `day: a date as 2013-01-31, or days since 1970, is expected, found "2013-02-30"`},
		{`{"us":1357344000123456}`, "2013-01-05T00:00:00.123456Z"}, {`{"us":"2013-01-05T08:00:00.1234567+08:00"}`, "2013-01-05T00:00:00.123456Z"},
		{`{"us":-1}`, "1969-12-31T23:59:59.999999Z"}, {`{"us":"0000-01-01T00:00:00Z"}`, "0000-01-01T00:00:00.000000Z"},
		{`{"us":"9999-12-31T23:59:59.999999Z"}`, "9999-12-31T23:59:59.999999Z"},
		{`{"us":1.5}`, "us: a time in µs since 1970, or as 2013-01-31T08:00:00.000001Z, is expected, found a number with a fraction or an exponent"},
		{`{"ns":1357344000123456789}`, "2013-01-05T00:00:00.123456789Z"}, {`{"ns":"1969-12-31T23:59:59.999999999Z"}`, "1969-12-31T23:59:59.999999999Z"},
		{`{"ns":"1677-09-21T00:12:43.145224192Z"}`, "1677-09-21T00:12:43.145224192Z"},
		{`{"ns":"2262-04-11T23:47:16.854775807Z"}`, "2262-04-11T23:47:16.854775807Z"},
		{`{"ns":"1677-09-21T00:12:43.145224191Z"}`,
			`ns: a time in ns since 1970, or as 2013-01-31T08:00:00.000000001Z, is expected, found "1677-09-21T00:12:43.145224191Z"`},
		{`{"ns":"2262-04-11T23:47:16.854775808Z"}`,
			`ns: a time in ns since 1970, or as 2013-01-31T08:00:00.000000001Z, is expected, found "2262-04-11T23:47:16.854775808Z"`},
		{`{"ns":"9999-12-31T23:59:59Z"}`, `ns: a time in ns since 1970, or as 2013-01-31T08:00:00.000000001Z, is expected, found "9999-12-31T23:59:59Z"`},
		{`{"ns":9223372036854775808}`, "ns: the number does not fit 64 bits"},
	} {
		d := event.NewDecoder(event.Schema{Version: -1, Fields: exactFields})
		var b event.Batch
		got := ""
		if err := d.Decode(&event.Record{Value: []byte(c.json)}, &b); err != nil {
			got, _ = strings.CutPrefix(err.Error(), "wrong_type: field ")
		} else {
			for _, v := range b.Events[0].Values {
				if !v.Null() {
					got, _ = v.Textual()
					checkCell(t, v)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.json, got, c.want)
		}
	}
}

// checkCell checks that a value is read back from its cell unchanged.
func checkCell(t *testing.T, v event.Value) {
	t.Helper()
	back, err := event.ParseValue(v.Type, event.AppendValue(nil, v))
	if err != nil || !back.Equal(v) {
		t.Errorf("%s %q came back as %q, %v", v.Type, v.Text(), back.Text(), err)
	}
}

// Exact types survive packing in both packings.
func TestExactTypesArePacked(t *testing.T) {
	d := event.NewDecoder(event.Schema{Version: -1, Fields: exactFields})
	var b event.Batch
	rec := event.Record{Value: []byte(`{"d":-12.50,"b":"AP8=","day":"2013-01-31","us":-1,"ns":1357344000123456789,"said":"0.1"}`)}
	if err := d.Decode(&rec, &b); err != nil {
		t.Fatal(err)
	}
	pack := event.Pack{}
	for _, f := range exactFields {
		pack.Fields = append(pack.Fields, event.PackedField{Name: f.Name, Field: f.Name, Type: f.Type})
	}
	for _, pack.Packing = range []event.Packing{event.MessagePack, event.JSON} {
		p, err := event.NewPacker(&pack, event.Schema{Version: -1, Fields: exactFields})
		if err != nil {
			t.Fatal(err)
		}
		u := event.NewUnpacker(&pack)
		cell := p.Append(nil, b.Events[0].Values)
		values, err := u.Unpack(cell)
		if err != nil {
			t.Fatalf("%s: %v of %q", pack.Packing, err, cell)
		}
		for i, v := range values {
			if !v.Equal(b.Events[0].Values[i]) {
				t.Errorf("%s: field %s is %v in %q", pack.Packing, exactFields[i].Name, v, cell)
			}
		}
	}
}

func TestExactTypesAllocateNothing(t *testing.T) {
	d := event.NewDecoder(event.Schema{Version: 3, Fields: exactFields})
	var b event.Batch
	rec := event.Record{Value: []byte(`{"d":-12.50,"b":"AP8=","day":"2013-01-31","us":"2013-01-05T08:00:00.123456Z","ns":1357344000123456789,"said":"0.1"}`),
		Timestamp: 1357400000000}
	var cell []byte
	n := testing.AllocsPerRun(100, func() {
		d.Reset(&b)
		if err := d.Decode(&rec, &b); err != nil {
			t.Fatal(err)
		}
		for _, v := range b.Events[0].Values {
			cell = event.AppendValue(cell[:0], v)
		}
	})
	if n > 0 {
		t.Errorf("%.2f allocations an event", n)
	}
	if want := int64(1357372800123); b.Events[0].Version != want {
		t.Errorf("version %d, want the time rounded down to the millisecond: %d", b.Events[0].Version, want)
	}
}

// A version is a time in µs or ns, rounded down; a date orders nothing.
func TestVersionsOfExactTimes(t *testing.T) {
	for _, c := range []struct {
		typ  event.Type
		json string
		want int64
	}{{event.TimeUS, "1999", 1}, {event.TimeNS, "1999999", 1}, {event.TimeUS, "2000", 2}} {
		d := event.NewDecoder(event.Schema{Fields: []event.Field{{Name: "at", Type: c.typ}}})
		var b event.Batch
		if err := d.Decode(&event.Record{Value: []byte(`{"at":` + c.json + `}`)}, &b); err != nil || b.Events[0].Version != c.want {
			t.Errorf("%s %s: %v, %v", c.typ, c.json, b.Events, err)
		}
	}
	for _, typ := range []event.Type{event.Date, event.Decimal, event.Bytes} {
		if err := (event.Schema{Fields: []event.Field{{Name: "at", Type: typ}}}).Validate(); err == nil {
			t.Errorf("a version of a %s passed", typ)
		}
	}
}

// FuzzDecimal compares a decimal's digits and its cell with math/big.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"1.50", "-0.00", "1e3", "12e-30", "99999999999999999999999999999999999999", "-170141183460469231731687303715884105728", "+.5", "1.",
		"-128", "0e9", "32768", "-32769e-3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := event.DecimalValue(s)
		if !ok {
			return
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q was taken as %q, and is no number", s, v.Text())
		}
		if got, ok := new(big.Rat).SetString(string(v.Text())); !ok || got.Cmp(want) != 0 {
			t.Fatalf("%q was taken as %q", s, v.Text())
		}
		cell := event.AppendValue(nil, v)
		unscaled := new(big.Int).SetBytes(cell[4:])
		if cell[4] >= 0x80 {
			unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(cell[4:]))))
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(binary.BigEndian.Uint32(cell))), nil)
		if new(big.Rat).SetFrac(unscaled, scale).Cmp(want) != 0 {
			t.Fatalf("%q has the cell %x", s, cell)
		}
		checkCell(t, v)
		w, _ := event.DecimalValue("-1.5")
		if got := event.CompareDecimals(v, w); got != want.Cmp(big.NewRat(-3, 2)) || -got != event.CompareDecimals(w, v) {
			t.Fatalf("%q compared with -1.5 is %d", s, got)
		}
	})
}

// FuzzInstant compares times in ns with package time.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{"2013-01-05T08:00:00.123456789+08:00", "1969-12-31T23:59:59.999999999Z", "2013-01-05T08:00:00Z", "1677-09-21T00:12:43.145224192Z",
		"2262-04-11T23:47:16.854775807Z", "2262-04-11T23:47:16.854775808Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := time.Parse(time.RFC3339Nano, s)
		if err != nil || strings.Contains(s, ",") {
			return
		}
		d := event.NewDecoder(event.Schema{Version: -1, Fields: []event.Field{{Name: "ns", Type: event.TimeNS, Place: event.InHeader, Path: []string{"ns"}}}})
		var b event.Batch
		rec := event.Record{Value: []byte("{}"), Headers: []event.Header{{Key: "ns", Value: []byte(s)}}}
		if d.Decode(&rec, &b) == nil && !time.Unix(0, b.Events[0].Values[0].Int()).Equal(want) {
			t.Fatalf("%s is %v", s, b.Events[0].Values[0].Instant())
		}
	})
}

// Debezium's schemas determine what a number or a text is; without a schema it is as declared.
func TestExactTypesOfDebezium(t *testing.T) {
	schema := func(name, more string) string {
		return `{"type":"int64","name":"` + name + `"` + more + `,"field":"x"}`
	}
	for _, c := range []struct {
		typ                 event.Type
		schema, value, want string
	}{
		{event.TimeUS, schema("io.debezium.time.MicroTimestamp", ""), "1357344000123456", "2013-01-05T00:00:00.123456Z"},
		{event.TimeUS, schema("io.debezium.time.NanoTimestamp", ""), "1357344000123456789", "2013-01-05T00:00:00.123456Z"},
		{event.TimeNS, schema("io.debezium.time.MicroTimestamp", ""), "1357344000123456", "2013-01-05T00:00:00.123456000Z"},
		{event.TimeNS, schema("io.debezium.time.NanoTimestamp", ""), "1357344000123456789", "2013-01-05T00:00:00.123456789Z"},
		{event.TimeNS, schema("io.debezium.time.Timestamp", ""), "9223372036854", "2262-04-11T23:47:16.854000000Z"},
		{event.TimeNS, schema("io.debezium.time.Timestamp", ""), "9223372036855", "after.x: the time does not fit 64 bits of nanoseconds"},
		{event.TimeUS, schema("io.debezium.time.ZonedTimestamp", ""), `"2013-01-05T00:00:00.123456Z"`, "2013-01-05T00:00:00.123456Z"},
		{event.Date, schema("io.debezium.time.Date", ""), "15736", "2013-01-31"},
		{event.Date, schema("io.debezium.time.Timestamp", ""), "-1", "1969-12-31"},
		{event.Decimal, schema("org.apache.kafka.connect.data.Decimal", `,"parameters":{"scale":"2"}`), `"MDk="`, "123.45"},
		{event.Decimal, schema("io.debezium.data.VariableScaleDecimal", ""), `{"scale":3,"value":"/w=="}`, "-0.001"},
		{event.Decimal, `{"type":"double","field":"x"}`, "1.10", "1.10"},
		{event.Decimal, schema("org.apache.kafka.connect.data.Decimal", `,"parameters":{"scale":"0"}`),
			`"` + base64.StdEncoding.EncodeToString([]byte{0x7f, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}) + `"`,
			"after.x: the decimal has more than 38 digits"},
		{event.Bytes, `{"type":"bytes","field":"x"}`, `"AP8="`, "AP8="},
	} {
		s := event.Schema{Version: -1, Fields: []event.Field{{Name: "x", Type: c.typ}, {Name: "gone", Type: event.Bool}},
			Images: event.Images{Deleted: "gone"}}
		e := event.Envelope{Form: event.Debezium}
		d := event.NewDecoder(e.Wrap(s))
		var b event.Batch
		rec := event.Record{Value: []byte(`{"schema":{"type":"struct","fields":[{"type":"struct","fields":[` + c.schema +
			`],"field":"after"}]},"payload":{"after":{"x":` + c.value + `},"op":"c"}}`)}
		got := ""
		if err := d.Decode(&rec, &b); err != nil {
			got, _ = strings.CutPrefix(err.Error(), "wrong_type: field ")
		} else {
			got, _ = b.Events[0].Values[0].Textual()
		}
		if got != c.want {
			t.Errorf("%s of %s %s: %s, want %s", c.typ, c.schema, c.value, got, c.want)
		}
	}
}
