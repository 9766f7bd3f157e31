package avro_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// TestBadInput has a case for each known mistake of publishers and registries. Each has its own outcome, and a good record after it is read
// as usual.
func TestBadInput(t *testing.T) {
	s := newShelf()
	s.add(1, "orders-value", one(`"string"`))
	s.add(2, "users-value", `{"type":"record","name":"User","fields":[{"name":"name","type":"string"}]}`)
	s.add(3, "lists-value", `{"type":"record","name":"L","fields":[{"name":"f","type":["null","string"]},{"name":"next","type":["null","L"]}]}`)
	var fields []string
	for i := range 100_000 {
		fields = append(fields, fmt.Sprintf(`{"name":"x%d","type":"null"}`, i))
	}
	s.add(4, "wide-value", `{"type":"record","name":"W","fields":[`+strings.Join(fields, ",")+`,{"name":"f","type":"string"}]}`)
	s.add(5, "numbers-value", one(`"double"`))
	s.add(6, "decimals-value", one(`{"type":"bytes","logicalType":"decimal","precision":40,"scale":0}`))
	s.add(7, "times-value", one(`{"type":"long","logicalType":"timestamp-millis"}`))
	s.add(8, "garbage-value", `<html>login</html>`)
	number := func(n int64) registry.ID { return registry.ID{Kind: registry.Number, Number: n} }
	for id, e := range map[int64]registry.Outcome{20: registry.Retry, 21: registry.Retry, 22: registry.Denied, 23: registry.Retry, 24: registry.Unknown} {
		s.err[id] = &registry.Error{Outcome: e, ID: number(id), Cause: [...]string{"timeout", "status 500", "status 401", "not known yet", "status 404"}[id-20]}
	}
	long := func(n int64) string { return string(binary.AppendVarint(nil, n)) }
	text := func(s string) string { return long(int64(len(s))) + s }
	year := func(ms int64) string { return long(ms) }
	big := append([]byte{0x7f}, make([]byte, 16)...)
	retry, halt := fmt.Sprintf("verdict %v, unavailable", event.Retry), fmt.Sprintf("verdict %v, denied", event.Halt)
	for _, c := range []struct {
		name string
		typ  event.Type
		rec  *event.Record
		want string // at least how it begins
	}{
		{"truncated", event.Text, recordOf(1, "\x08ab"), "undecodable: field f: a string of 4 bytes at byte 1, but the record ends after 2"},
		{"wrong magic byte", event.Text, &event.Record{Value: []byte("\x07\x00\x00\x00\x01\x04ab")}, "undecodable: the value begins with 07"},
		{"an id of another subject", event.Text, recordOf(2, text("Anne")), "null"},
		{"recursion", event.Text, recordOf(3, strings.Repeat("\x00\x02", 100_000)+"\x00\x00"), "undecodable: "},
		{"100,000 fields", event.Text, recordOf(4, text("x")), "x"},
		{"a value of 5 MB", event.Text, recordOf(1, text(strings.Repeat("x", 5<<20))), strings.Repeat("x", 5<<20)},
		{"invalid UTF-8", event.Text, recordOf(1, text("\xff")), "undecodable: field f: invalid UTF-8 in a string"},
		{"NaN", event.Float, recordOf(5, "\x00\x00\x00\x00\x00\x00\xf8\x7f"), "wrong_type: field f: a number is expected, found NaN"},
		{"infinity", event.Float, recordOf(5, "\x00\x00\x00\x00\x00\x00\xf0\x7f"), "wrong_type: field f: a number is expected, found infinity"},
		{"a decimal of 40 digits", event.Decimal, recordOf(6, text(string(big))), "wrong_type: field f: the decimal has more than 38 digits"},
		{"a number past 2⁶³", event.Int, recordOf(6, text(string(big[:10]))), "wrong_type: field f: the number does not fit 64 bits"},
		{"year 0", event.TimeMS, recordOf(7, year(-62167219200000)), "0000-01-01T00:00:00.000Z"},
		{"year 9999", event.TimeMS, recordOf(7, year(253402300799999)), "9999-12-31T23:59:59.999Z"},
		{"year 9999 in ns", event.TimeNS, recordOf(7, year(253402300799999)), "wrong_type: field f: the time does not fit 64 bits of nanoseconds"},
		{"garbage for a schema", event.Text, recordOf(8, ""), "undecodable: the schema of id 8 (garbage-value v1) cannot be used: "},
		{"a registry that hangs", event.Text, recordOf(20, ""), retry},
		{"a registry that answers 500", event.Text, recordOf(21, ""), retry},
		{"a registry that answers 401", event.Text, recordOf(22, ""), halt},
		{"a registry that answers 404 for a moment", event.Text, recordOf(23, ""), retry},
		{"a registry that answers 404", event.Text, recordOf(24, ""), "unknown_schema: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema := event.Schema{Version: -1, Fields: []event.Field{f(c.typ)}, Format: avro.Registered(registry.Confluent, s)}
			if got := oneOf(t, event.NewDecoder(schema), c.rec); !strings.HasPrefix(got, c.want) {
				t.Errorf("%.200s\nwant %.200s", got, c.want)
			}
			schema.Fields = fieldF.Fields
			d := event.NewDecoder(schema)
			_ = oneOf(t, d, c.rec)
			if got := oneOf(t, d, recordOf(1, text("good"))); got != "good" {
				t.Errorf("a good record behind it is %s", got)
			}
		})
	}
}

// TestBadInputOfJSON does the same for JSON.
func TestBadInputOfJSON(t *testing.T) {
	wide := `{` + strings.Repeat(`"x":1,`, 100_000) + `"f":"y"}`
	for _, c := range []struct {
		name  string
		typ   event.Type
		value string
		want  string
	}{
		{"truncated", event.Text, `{"f":"a`, "undecodable: "},
		{"recursion", event.Text, `{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"f":"y"}`, "undecodable: "},
		{"100,000 members", event.Text, wide, "y"},
		{"a value of 5 MB", event.Text, `{"f":"` + strings.Repeat("x", 5<<20) + `"}`, strings.Repeat("x", 5<<20)},
		{"invalid UTF-8", event.Text, "{\"f\":\"\xff\"}", "undecodable: "},
		{"duplicate keys", event.Text, `{"f":"a","f":"b"}`, "undecodable: field f: it occurs twice"},
		{"NaN", event.Float, `{"f":NaN}`, "undecodable: "},
		{"a float out of range", event.Float, `{"f":1e999}`, "wrong_type: field f: the number is out of range"},
		{"a number past 2⁶³", event.Int, `{"f":9223372036854775808}`, "wrong_type: field f: the number does not fit 64 bits"},
		{"a decimal of 39 digits", event.Decimal, `{"f":` + strings.Repeat("7", 39) + `}`, "wrong_type: field f: the decimal has more than 38 digits"},
		{"year 0", event.Time, `{"f":"0000-01-01T00:00:00Z"}`, "0000-01-01T00:00:00.000Z"},
		{"year 9999", event.Time, `{"f":"9999-12-31T23:59:59.999Z"}`, "9999-12-31T23:59:59.999Z"},
		{"year 10000", event.Time, `{"f":"10000-01-01T00:00:00Z"}`, "wrong_type: field f: a time as 2013-01-31T08:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := event.NewDecoder(event.Schema{Version: -1, Fields: []event.Field{f(c.typ)}})
			if got := oneOf(t, d, &event.Record{Value: []byte(c.value)}); !strings.HasPrefix(got, c.want) {
				t.Errorf("%.200s\nwant %.200s", got, c.want)
			}
			if got := oneOf(t, d, &event.Record{Value: []byte(`{}`)}); got != "null" {
				t.Errorf("a good record behind it is %s", got)
			}
		})
	}
}

// A position past 64 bits halts, as in JSON and Protobuf: it is followed by larger ones, which must not drain the topic into dead letters.
func TestPositionsPast64BitsHalt(t *testing.T) {
	for typ, value := range map[string]string{
		`{"type":"bytes","logicalType":"decimal","precision":38,"scale":0}`: "\x12\x00\x80\x00\x00\x00\x00\x00\x00\x00",
		`"string"`: "\x269223372036854775808",
	} {
		schema, err := avro.Parse(`{"type":"record","name":"R","fields":[{"name":"f","type":` + typ + `}]}`)
		if err != nil {
			t.Fatal(err)
		}
		field := f(event.Int)
		field.Convert.FromText = true
		d := event.NewDecoder(event.Schema{Fields: []event.Field{field}, Version: -1, Format: avro.Bare(schema), Position: &event.Position{LSN: "f"}})
		err = d.Decode(&event.Record{Value: []byte(value)}, new(event.Batch))
		const want = "bad_version: field f: 9223372036854775808 does not fit the 55 bits that a version has for it; write to a new table, where versions start again"
		if fault, ok := errors.AsType[*event.Error](err); !ok || !fault.Halts || err.Error() != want {
			t.Errorf("%s: %v, want %s, and a halt", typ, err, want)
		}
	}
}
