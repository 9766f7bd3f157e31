package event_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"brine/event"
)

const hour = 60 * 60 * 1000

// schema has every type, two nested fields, and time_ms "at" as the version.
var schema = event.Schema{
	Fields: []event.Field{
		{Name: "waybill", Type: event.Text},
		{Name: "at", Type: event.TimeMS},
		{Name: "n", Type: event.Int},
		{Name: "weight", Type: event.Float},
		{Name: "late", Type: event.Bool},
		{Name: "sec", Type: event.TimeS},
		{Name: "station", Type: event.Text, Path: []string{"place", "name"}},
		{Name: "zip", Type: event.Text, Path: []string{"place", "addr", "zip"}},
	},
	Version: 1,
}

func decode(s event.Schema, value string, timestamp int64) (event.Event, error) {
	return decodeRecord(s, &event.Record{Value: []byte(value), Timestamp: timestamp})
}

func decodeRecord(s event.Schema, rec *event.Record) (event.Event, error) {
	var b event.Batch
	if err := event.NewDecoder(s).Decode(rec, &b); err != nil {
		return event.Event{}, err
	}
	return b.Events[0], nil
}

// valueOf returns the value of a record; empty: it has none.
func valueOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// show prints the fields that are not null.
func show(s event.Schema, e event.Event) string {
	out := []string{fmt.Sprintf("version=%d", e.Version)}
	for i, v := range e.Values {
		switch v.Type {
		case event.Text:
			out = append(out, fmt.Sprintf("%s=%q", s.Fields[i].Name, v.Text()))
		case event.Int, event.TimeMS:
			out = append(out, fmt.Sprintf("%s=%d", s.Fields[i].Name, v.Int()))
		case event.Float:
			out = append(out, fmt.Sprintf("%s=%g", s.Fields[i].Name, v.Float()))
		case event.Bool:
			out = append(out, fmt.Sprintf("%s=%t", s.Fields[i].Name, v.Bool()))
		}
	}
	return strings.Join(out, " ")
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"all types", `{"waybill":"A","at":5,"n":-9223372036854775808,"weight":1.5e-3,"late":true,"sec":7,"place":{"name":"上海","addr":{"zip":"1"}}}`,
			`version=5 waybill="A" at=5 n=-9223372036854775808 weight=0.0015 late=true sec=7000 station="上海" zip="1"`},
		{"undeclared members are skipped", `{"x":{"waybill":[1,{}]},"at":5,"waybil":"B","Waybill":"C"}`, `version=5 at=5`},
		{"undeclared members may repeat", `{"x":1,"at":5,"x":2}`, `version=5 at=5`},
		{"null is absent", `{"waybill":null,"at":5,"place":null,"n":null}`, `version=5 at=5`},
		{"escapes", `{"waybill":"a\"\\\/\b\f\n\r\tA\u00e9\ud83d\ude9a","at":5}`, `version=5 waybill="a\"\\/\b\f\n\r\tAé🚚" at=5`},
		{"escaped name", `{"way\u0062ill":"A","at":5}`, `version=5 waybill="A" at=5`},
		{"white space", " {\t\"at\" :\r\n5 } \n", `version=5 at=5`},
		{"empty text is a value", `{"waybill":"","at":5}`, `version=5 waybill="" at=5`},
		{"integer as float", `{"weight":3,"at":5}`, `version=5 at=5 weight=3`},
		{"minus zero", `{"n":-0,"weight":-0,"at":5}`, `version=5 at=5 n=0 weight=-0`},
		{"version 0", `{"at":0}`, `version=0 at=0`},
		{"exactly 24 h ahead", fmt.Sprintf(`{"at":%d}`, 1000+24*hour), fmt.Sprintf(`version=%d at=%[1]d`, 1000+24*hour)},

		{"empty", ``, `undecodable: the value is empty`},
		{"white space only", "\r\n ", `undecodable: the value is empty`},
		{"array", `[1]`, `undecodable: a JSON object is expected, found an array`},
		{"null", `null`, `undecodable: a JSON object is expected, found null`},
		{"no JSON, like null", `nope`, `undecodable: unexpected 'o' in literal null (expecting 'u') at byte 1`},
		{"no JSON, like a bool", `tru`, `undecodable: it ends too early at byte 3`},
		{"number", `12`, `undecodable: a JSON object is expected, found a number`},
		{"no JSON", `hello`, `undecodable: a JSON value cannot begin with 'h' at byte 0`},
		{"cut off", `{"at":5,"waybill":"A`, `undecodable: field waybill: it ends too early at byte 20`},
		{"cut off after a name", `{"at"`, `undecodable: field at: it ends too early at byte 5`},
		{"no comma", `{"at":5 "n":1}`, `undecodable: unexpected '"' after object value (expecting ',' or '}') at byte 8`},
		{"comma at the end", `{"at":5,}`, `undecodable: a JSON value cannot begin with ',' at byte 7`},
		{"trailing bytes", `{"at":5} {"at":6}`, `undecodable: there is data after the object at byte 9`},
		{"control character", "{\"waybill\":\"a\x01\",\"at\":5}", `undecodable: field waybill: unexpected '\x01' in string (expecting non-control character) at byte 13`},
		{"bad UTF-8", "{\"waybill\":\"a\xff\",\"at\":5}", `undecodable: field waybill: invalid UTF-8 at byte 13`},
		{"bad UTF-8 in what is skipped", "{\"x\":\"\xc0\xaf\",\"at\":5}", `undecodable: field x: invalid UTF-8 at byte 6`},
		{"lone surrogate", `{"waybill":"\ud83d","at":5}`, "undecodable: field waybill: half of a surrogate pair is missing at byte 12"},
		{"byte order mark", "\xef\xbb\xbf{\"at\":5}", `undecodable: a JSON value cannot begin with '\ufeff' at byte 0`},
		{"declared twice", `{"at":5,"waybill":"A","waybill":"A"}`, `undecodable: field waybill: it occurs twice`},
		{"declared twice, once escaped", `{"at":5,"waybill":"A","w\u0061ybill":"B"}`, `undecodable: field waybill: it occurs twice`},
		{"declared twice, once null", `{"at":5,"at":null}`, `undecodable: field at: it occurs twice`},
		{"object on the way twice", `{"at":5,"place":{},"place":{"name":"A"}}`, `undecodable: field place: it occurs twice`},
		{"number in a text", `{"waybill":12,"at":5}`, `wrong_type: field waybill: a string is expected, found a number`},
		{"text in a time", `{"at":"5"}`, `wrong_type: field at: a time in ms is expected, found a string`},
		{"fraction in an int", `{"n":1.0,"at":5}`, `wrong_type: field n: an integer is expected, found a number with a fraction or an exponent`},
		{"exponent in an int", `{"n":1e3,"at":5}`, `wrong_type: field n: an integer is expected, found a number with a fraction or an exponent`},
		{"int too large", `{"n":9223372036854775808,"at":5}`, `wrong_type: field n: the number does not fit 64 bits`},
		{"seconds too large", `{"sec":9223372036854776,"at":5}`, `wrong_type: field sec: the time does not fit 64 bits of milliseconds`},
		{"float too large", `{"weight":1e400,"at":5}`, `wrong_type: field weight: the number is out of range`},
		{"float too small", `{"weight":0.1e-400,"at":5}`, `wrong_type: field weight: the number is out of range`},
		{"bool", `{"late":0,"at":5}`, `wrong_type: field late: a bool is expected, found a number`},
		{"object in a text", `{"place":{"name":{}},"at":5}`, `wrong_type: field place.name: a string is expected, found an object`},
		{"text on the way", `{"place":{"addr":"x"},"at":5}`, `wrong_type: field place.addr: an object is expected, found a string`},
		{"no version", `{"waybill":"A"}`, `missing_field: field at: it is the version of the event`},
		{"null version", `{"at":null}`, `missing_field: field at: it is the version of the event`},
		{"negative version", `{"at":-1}`, `bad_version: field at: -1 is negative`},
		{"largest version", `{"at":9223372036854775807}`, `bad_version: field at: HBase reserves 9223372036854775807 to mean now`},
		{"from the future", fmt.Sprintf(`{"at":%d}`, 1001+24*hour),
			`future_version: field at: 86401001 is more than 24 h ahead of the record's timestamp 1000 (ms since 1970)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := decode(schema, c.in, 1000)
			got := ""
			if err != nil {
				got = err.Error()
				if reject := (*event.Error)(nil); !errors.As(err, &reject) {
					t.Errorf("%T is no *event.Error", err)
				}
			} else {
				got = show(schema, e)
			}
			if got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

func TestVersionOfTheRecord(t *testing.T) {
	s := event.Schema{Fields: schema.Fields, Version: -1}
	if e, err := decode(s, `{}`, 42); err != nil || e.Version != 42 {
		t.Errorf("got %d, %v; want 42", e.Version, err)
	}
	if _, err := decode(s, `{}`, -1); err == nil || err.Error() != "bad_version: -1 is negative" {
		t.Errorf("a record without a timestamp: %v", err)
	}
	s.Version = 5
	if e, err := decode(s, `{"sec":42}`, 42000); err != nil || e.Version != 42000 {
		t.Errorf("time_s: got %d, %v; want 42000", e.Version, err)
	}
}

// TestLateVersion checks that lateness depends on the record alone.
func TestLateVersion(t *testing.T) {
	s := event.Schema{Fields: schema.Fields, Version: 5, Lateness: 2 * time.Second} // of sec
	if e, err := decode(s, `{"sec":40}`, 42000); err != nil || e.Version != 40000 {
		t.Errorf("as late as is allowed: %d, %v", e.Version, err)
	}
	const want = `late_version: field sec: 40000 is more than 2s behind the record's timestamp 42001 (ms since 1970)`
	if _, err := decode(s, `{"sec":40}`, 42001); err == nil || err.Error() != want {
		t.Errorf("later than is allowed: %v, want %s", err, want)
	}
	s.Lateness = 0
	if e, err := decode(s, `{"sec":0}`, 1<<50); err != nil || e.Version != 0 {
		t.Errorf("where none is too late: %d, %v", e.Version, err)
	}
	s.Lateness = -1
	if s.Validate() == nil {
		t.Error("a negative lateness is taken")
	}
}

// A rejected record between two good ones leaves no trace, and earlier events stay unchanged while the batch grows.
func TestBatchKeepsItsValues(t *testing.T) {
	d := event.NewDecoder(schema)
	var b event.Batch
	for round := range 3 {
		d.Reset(&b)
		for i := range 500 {
			rec := &event.Record{Timestamp: int64(i), Value: fmt.Appendf(nil, `{"waybill":"w\n%d","at":%d,"place":{"name":"s%[1]d"}}`, i, i)}
			if err := d.Decode(rec, &b); err != nil {
				t.Fatal(err)
			}
			bad := &event.Record{Value: []byte(`{"waybill":"gone\n","at":"x"}`)}
			if err := d.Decode(bad, &b); err == nil {
				t.Fatal("a bad record was decoded")
			}
		}
		if len(b.Events) != 500 {
			t.Fatalf("round %d: %d events, want 500", round, len(b.Events))
		}
		for i, e := range b.Events {
			want := fmt.Sprintf(`version=%d waybill="w\n%[1]d" at=%[1]d station="s%[1]d"`, i)
			if got := show(schema, e); got != want {
				t.Fatalf("round %d, event %d: got %s, want %s", round, i, got, want)
			}
		}
	}
}

func TestDecodeDoesNotChangeTheRecord(t *testing.T) {
	const value = `{"waybill":"a\nb","at":5,"way\u0062ill":null}`
	rec := &event.Record{Value: []byte(value)}
	var b event.Batch
	_ = event.NewDecoder(schema).Decode(rec, &b)
	if string(rec.Value) != value {
		t.Errorf("the record became %s", rec.Value)
	}
}

func TestSchemaValidate(t *testing.T) {
	text := func(path ...string) event.Field {
		return event.Field{Name: strings.Join(path, "_"), Type: event.Text, Path: path}
	}
	for _, c := range []struct {
		want   string
		schema event.Schema
	}{
		{"", schema},
		{"", event.Schema{Version: -1, Fields: []event.Field{text("a", "b"), text("a.b"), text("b")}}},
		{"a field has no name", event.Schema{Version: -1, Fields: []event.Field{{Type: event.Text}}}},
		{"field a has no type; write one of text, int, float, bool, time_ms, time_s, json, time, decimal, bytes, date, time_us, time_ns", event.Schema{Version: -1, Fields: []event.Field{{Name: "a"}}}},
		{"field a is declared twice; remove one", event.Schema{Version: -1, Fields: []event.Field{text("a"), text("a")}}},
		{"fields a and b have the same path; keep one: a field can be used in several places",
			event.Schema{Version: -1, Fields: []event.Field{text("a"), {Name: "b", Type: event.Text, Path: []string{"a"}}}}},
		{"field a_b lies inside field a, which is declared text and read as a whole",
			event.Schema{Version: -1, Fields: []event.Field{text("a", "b"), text("a")}}},
		{"version a is declared text; it must be an int or a time", event.Schema{Fields: []event.Field{text("a")}}},
		{"version is field 1 of 1", event.Schema{Version: 1, Fields: []event.Field{text("a")}}},
	} {
		got := ""
		if err := c.schema.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for _, typ := range []event.Type{event.Text, event.Int, event.Float, event.Bool, event.TimeMS, event.TimeS} {
		if got, err := event.ParseType(typ.String()); err != nil || got != typ {
			t.Errorf("%s: %v, %v", typ, got, err)
		}
	}
	for _, name := range []string{"", "null", "string"} {
		if _, err := event.ParseType(name); err == nil {
			t.Errorf("%q is no type", name)
		}
	}
}

// FuzzDecode checks that any bytes yield an event or an *event.Error, and that an event equals what encoding/json reads.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"waybill":"A","at":5,"n":-7,"weight":1.5e-3,"late":true,"sec":7,"place":{"name":"上海","addr":{"zip":"1"}}}`,
		`{"waybill":"\u0041\ud83d\ude9a\n","at":1,"x":[{},null,1e9]}`, `{"at":1,"weight":-0.1E+2,"late":false}`,
		`{}`, `[]`, ``, `{"at":5}x`, "{\"waybill\":\"\xff\"}", `{"at":1,"at":2}`, `{"place":3}`, `{"n":9223372036854775808}`,
	} {
		f.Add([]byte(s))
	}
	d := event.NewDecoder(schema)
	f.Fuzz(func(t *testing.T, value []byte) {
		var b event.Batch
		err := d.Decode(&event.Record{Value: value, Timestamp: math.MaxInt64}, &b)
		if err != nil {
			if reject := (*event.Error)(nil); !errors.As(err, &reject) || reject.Reason == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		compareWithStd(t, value, b.Events[0])
	})
}

func compareWithStd(t *testing.T, value []byte, e event.Event) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", value, err)
	}
	for i, f := range schema.Fields {
		raw := members[f.Name]
		if len(f.Path) > 0 {
			raw = lookUp(members, f.Path)
		}
		if len(raw) == 0 || string(raw) == "null" {
			if !e.Values[i].Null() {
				t.Fatalf("%q: field %s should be null", value, f.Name)
			}
			continue
		}
		if got, want := show(schema, only(e, i)), std(t, f, raw); got != want {
			t.Fatalf("%q: field %s is %s, encoding/json says %s", value, f.Name, got, want)
		}
	}
}

func lookUp(members map[string]json.RawMessage, path []string) json.RawMessage {
	raw := members[path[0]]
	for _, key := range path[1:] {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			return nil
		}
		raw = inner[key]
	}
	return raw
}

// only returns an event with the value of one field and version 0.
func only(e event.Event, field int) event.Event {
	values := make([]event.Value, len(e.Values))
	values[field] = e.Values[field]
	return event.Event{Values: values}
}

// std decodes raw with encoding/json and prints it as show does.
func std(t *testing.T, f event.Field, raw json.RawMessage) string {
	var err error
	var v event.Value
	switch f.Type {
	case event.Text:
		var s string
		err = json.Unmarshal(raw, &s)
		v = event.TextValue(s)
	case event.Float:
		var x float64
		err = json.Unmarshal(raw, &x)
		v = event.FloatValue(x)
	case event.Bool:
		var x bool
		err = json.Unmarshal(raw, &x)
		v = event.BoolValue(x)
	default:
		var x int64
		err = json.Unmarshal(raw, &x)
		v = event.IntValue(x)
		if f.Type == event.TimeS {
			v = event.IntValue(1000 * x)
		}
	}
	if err != nil {
		t.Fatalf("encoding/json refuses field %s: %v", f.Name, err)
	}
	return show(event.Schema{Fields: []event.Field{f}}, event.Event{Values: []event.Value{v}})
}
