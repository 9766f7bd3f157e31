package avro_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
)

// one returns the schema of a record with a field f of a type.
func one(typ string) string {
	return `{"type":"record","name":"R","namespace":"n","fields":[{"name":"f","type":` + typ + `}]}`
}

// encoded returns the library's encoding of the field's value.
func encoded(t testing.TB, schema string, value any) []byte {
	t.Helper()
	p, err := twmb.MustParse(schema).Encode(map[string]any{"f": value})
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{}, p...) // nil would mean no value
}

// decode returns the fields' values as texts, or the reject.
func decode(t testing.TB, schema *avro.Schema, value []byte, fields ...event.Field) string {
	t.Helper()
	d := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Format: avro.Bare(schema)})
	var b event.Batch
	if err := d.Decode(&event.Record{Value: value, Timestamp: 1}, &b); err != nil {
		if len(b.Events) > 0 {
			t.Error("a reject leaves events")
		}
		return err.Error()
	}
	var out []string
	for _, v := range b.Events[0].Values {
		out = append(out, shown(v))
	}
	return strings.Join(out, " ")
}

func shown(v event.Value) string {
	switch v.Type {
	case event.Text, event.Nested:
		return string(v.Text())
	case event.Int:
		return fmt.Sprint(v.Int())
	case event.Float:
		return fmt.Sprint(v.Float())
	case event.Bool:
		return fmt.Sprint(v.Bool())
	case event.TimeMS:
		return time.UnixMilli(v.Int()).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return "null"
}

// f declares the field with a type.
func f(typ event.Type) event.Field { return event.Field{Name: "f", Type: typ} }

func TestValues(t *testing.T) {
	numbers := event.Field{Name: "f", Type: event.Text, Numbers: true}
	micros := int64(1357034220123456)
	for _, c := range []struct {
		typ   string
		value any
		field event.Field
		want  string
	}{
		{`"string"`, "Zürich", f(event.Text), "Zürich"},
		{`"string"`, "Zürich \"x\"\n", f(event.Nested), `"Zürich \"x\"\n"`},
		{`"string"`, "2013-01-01T09:57:00Z", f(event.Time), "2013-01-01T09:57:00.000Z"},
		{`{"type":"string","connect.name":"io.debezium.time.ZonedTimestamp"}`, "2013-01-01T17:57:00.123456+08:00", f(event.Time), "2013-01-01T09:57:00.123Z"},
		{`"string"`, "7", f(event.Int), "wrong_type: field f: an integer is expected, found a string"},
		{`"string"`, "\xff", f(event.Text), "undecodable: field f: invalid UTF-8 in a string"},
		{`"int"`, int32(-7), f(event.Int), "-7"},
		{`"int"`, int32(-7), f(event.Float), "-7"},
		{`"int"`, int32(-7), numbers, "-7"},
		{`"int"`, int32(-7), f(event.Nested), "-7"},
		{`"int"`, int32(-7), f(event.Text), "wrong_type: field f: a string is expected, found a number"},
		{`"long"`, int64(math.MinInt64), f(event.Int), "-9223372036854775808"},
		{`"long"`, int64(1357034220), f(event.TimeS), "2013-01-01T09:57:00.000Z"},
		{`"float"`, float32(0.5), f(event.Float), "0.5"},
		{`"double"`, 1e300, f(event.Nested), "1e+300"},
		{`"double"`, math.NaN(), f(event.Float), "wrong_type: field f: a number is expected, found NaN"},
		{`"double"`, math.Inf(1), f(event.Nested), "wrong_type: field f: it contains NaN or infinity, which JSON cannot represent"},
		{`"double"`, 2.0, f(event.Int), "wrong_type: field f: an integer is expected, found a floating-point number"},
		{`"boolean"`, true, f(event.Bool), "true"},
		{`"boolean"`, true, f(event.Nested), "true"},
		{`["null","boolean"]`, nil, f(event.Bool), "null"},
		{`["null","boolean"]`, nil, f(event.Nested), "null"},
		{`["null","long","string"]`, "x", f(event.Text), "x"},
		{`["null","long","string"]`, int64(3), f(event.Text), "wrong_type: field f: a string is expected, found a number"},
		{`{"type":"enum","name":"E","symbols":["A","B"]}`, "B", f(event.Text), "B"},
		{`{"type":"enum","name":"E","symbols":["A","B"]}`, "B", f(event.Nested), `"B"`},
		{`"bytes"`, []byte("text"), f(event.Text), "text"},
		{`"bytes"`, []byte{0xff, 0}, f(event.Text), "wrong_type: field f: a string is expected, found bytes"},
		{`"bytes"`, []byte{0xff, 0}, f(event.Nested), `"/wA="`},
		{`{"type":"fixed","name":"F","size":2}`, []byte("ab"), f(event.Text), "ab"},
		{`{"type":"fixed","name":"F","size":16,"logicalType":"uuid"}`, []byte("0123456789abcdef"), f(event.Text), "30313233-3435-3637-3839-616263646566"},
		{`{"type":"string","logicalType":"uuid"}`, "30313233-3435-3637-3839-616263646566", f(event.Text), "30313233-3435-3637-3839-616263646566"},
		{`{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`, big.NewRat(-12345, 100), numbers, "-123.45"},
		{`{"type":"bytes","logicalType":"decimal","precision":9,"scale":4}`, big.NewRat(-1, 10000), numbers, "-0.0001"},
		{`{"type":"bytes","logicalType":"decimal","precision":38,"scale":0}`, ratOf("99999999999999999999999999999999999999"), f(event.Nested), "99999999999999999999999999999999999999"},
		{`{"type":"bytes","logicalType":"decimal","precision":38,"scale":0}`, ratOf("-99999999999999999999999999999999999999"), numbers, "-99999999999999999999999999999999999999"},
		{`{"type":"fixed","name":"F","size":20,"logicalType":"decimal","precision":38,"scale":1}`, big.NewRat(-25, 10), f(event.Float), "-2.5"},
		{`{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`, big.NewRat(7, 1), f(event.Int), "wrong_type: field f: an integer is expected, found a number with a fraction or an exponent"},
		{`{"type":"int","logicalType":"date"}`, int32(-1), f(event.TimeMS), "1969-12-31T00:00:00.000Z"},
		{`{"type":"int","logicalType":"date"}`, int32(17), f(event.Int), "17"},
		{`{"type":"int","logicalType":"date"}`, int32(17), f(event.Time), "1970-01-18T00:00:00.000Z"},
		{`{"type":"long","logicalType":"timestamp-millis"}`, micros / 1000, f(event.TimeS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"long","logicalType":"timestamp-micros"}`, micros, f(event.TimeMS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"long","logicalType":"timestamp-micros"}`, int64(-1), f(event.TimeMS), "1969-12-31T23:59:59.999Z"},
		{`{"type":"long","logicalType":"timestamp-nanos"}`, micros * 1000, f(event.TimeMS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"long","logicalType":"local-timestamp-millis"}`, micros / 1000, f(event.TimeMS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"long","logicalType":"local-timestamp-micros"}`, micros, f(event.Int), "1357034220123456"},
		{`{"type":"long","logicalType":"local-timestamp-nanos"}`, micros * 1000, f(event.TimeMS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"int","logicalType":"time-millis"}`, int32(5), f(event.Int), "5"},
		{`{"type":"long","logicalType":"time-micros"}`, int64(5), f(event.TimeMS), "wrong_type: field f: a time in ms is expected, found a time of day, without a date"},
		{`{"type":"int","connect.name":"io.debezium.time.Date"}`, int32(1), f(event.TimeMS), "1970-01-02T00:00:00.000Z"},
		{`{"type":"long","connect.name":"io.debezium.time.Timestamp"}`, micros / 1000, f(event.TimeMS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"long","connect.name":"io.debezium.time.MicroTimestamp"}`, micros, f(event.TimeMS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"long","connect.name":"io.debezium.time.NanoTimestamp"}`, micros * 1000, f(event.TimeMS), "2013-01-01T09:57:00.123Z"},
		{`{"type":"long","connect.name":"io.debezium.time.MicroTime"}`, int64(9), f(event.TimeS), "wrong_type: field f: a time in s is expected, found a time of day, without a date"},
		{`{"type":"array","items":"int"}`, []any{int32(1), int32(2)}, f(event.Nested), "[1,2]"},
		{`{"type":"array","items":"int"}`, []any{}, f(event.Nested), "[]"},
		{`{"type":"array","items":"int"}`, []any{int32(1)}, f(event.Text), "wrong_type: field f: a string is expected, found an array"},
		{`{"type":"array","items":"null"}`, []any{nil, nil}, f(event.Nested), "[null,null]"},
		{`{"type":"map","values":["null","int"]}`, map[string]any{"a\"": int32(1)}, f(event.Nested), `{"a\"":1}`},
		{`{"type":"map","values":"int"}`, map[string]any{}, f(event.Nested), "{}"},
		{`{"type":"record","name":"In","fields":[{"name":"x","type":"int"},{"name":"y","type":["null","In"]}]}`,
			map[string]any{"x": int32(1), "y": map[string]any{"x": int32(2), "y": nil}}, f(event.Nested), `{"x":1,"y":{"x":2,"y":null}}`},
		{`{"type":"record","name":"In","fields":[]}`, map[string]any{}, f(event.Int), "wrong_type: field f: an integer is expected, found an object"},
	} {
		schema := one(c.typ)
		if got := decode(t, schemaOf(t, schema), encoded(t, schema, c.value), c.field); got != c.want {
			t.Errorf("%s %v as %s: got %s, want %s", c.typ, c.value, c.field.Type, got, c.want)
		}
	}
}

func ratOf(digits string) *big.Rat {
	r, _ := new(big.Rat).SetString(digits)
	return r
}

func at(name string, typ event.Type, path string) event.Field {
	return event.Field{Name: name, Type: typ, Path: strings.Split(path, ".")}
}

func TestPaths(t *testing.T) {
	const schema = `{"type":"record","name":"Order","namespace":"shop","fields":[
		{"name":"who","aliases":["user"],"type":{"type":"record","name":"User","fields":[{"name":"name","type":"string"},{"name":"friend","type":["null","User"]}]}},
		{"name":"name","type":"string"},
		{"name":"lines","type":["null",{"type":"array","items":{"type":"record","name":"Line","fields":[{"name":"sku","type":"string"},{"name":"n","type":"int"}]}}]},
		{"name":"tags","type":{"type":"map","values":["null","string",{"type":"map","values":"long"}]}},
		{"name":"what","type":["string",{"type":"record","name":"Paid","fields":[{"name":"by","type":"string"}]},{"type":"record","name":"Sent","fields":[{"name":"to","type":"string"},{"name":"by","type":"int"}]}]},
		{"name":"last","type":"long"}]}`
	line := func(sku string) any { return map[string]any{"sku": sku, "n": int32(len(sku))} }
	base := map[string]any{"who": map[string]any{"name": "Ann", "friend": map[string]any{"name": "Bob", "friend": nil}}, "name": "first",
		"lines": []any{line("a"), line("bb"), line("ccc")}, "tags": map[string]any{"x": "1", "y": nil, "z": map[string]any{"deep": int64(9)}},
		"what": map[string]any{"to": "Rome", "by": int32(4)}, "last": int64(-1)}
	tests := []struct {
		field event.Field
		want  string
	}{
		{at("v", event.Text, "who.name"), "Ann"},
		{at("v", event.Text, "user.name"), "Ann"},
		{at("v", event.Text, "name"), "first"},
		{at("v", event.Text, "who.friend.name"), "Bob"},
		{at("v", event.Text, "who.friend.friend.name"), "null"},
		{at("v", event.Text, "who.nothing"), "null"},
		{at("v", event.Text, "lines.1.sku"), "bb"},
		{at("v", event.Int, "lines.2.n"), "3"},
		{at("v", event.Int, "lines.3.n"), "null"},
		{at("v", event.Nested, "lines.0"), `{"sku":"a","n":1}`},
		{at("v", event.Nested, "lines"), `[{"sku":"a","n":1},{"sku":"bb","n":2},{"sku":"ccc","n":3}]`},
		{at("v", event.Int, "lines.n"), "wrong_type: field lines: an object is expected, found an array"},
		{at("v", event.Text, "tags.x"), "1"},
		{at("v", event.Text, "tags.y"), "null"},
		{at("v", event.Int, "tags.z.deep"), "9"},
		{at("v", event.Int, "tags.x.deep"), "wrong_type: field tags.x: an object is expected, found a string"},
		{at("v", event.Text, "what.to"), "Rome"},
		{at("v", event.Int, "what.by"), "4"},
		{at("v", event.Text, "what.by"), "wrong_type: field what.by: a string is expected, found a number"},
		{at("v", event.Int, "last"), "-1"},
		{at("v", event.Int, "last.not"), "wrong_type: field last: an object is expected, found a number"},
	}
	value, err := twmb.MustParse(schema).Encode(base)
	if err != nil {
		t.Fatal(err)
	}
	s := schemaOf(t, schema)
	for _, c := range tests {
		if got := decode(t, s, value, c.field); got != c.want {
			t.Errorf("%v: got %s, want %s", c.field.Path, got, c.want)
		}
	}
	all := decode(t, s, value, at("a", event.Int, "last"), at("b", event.Text, "lines.2.sku"), at("c", event.Text, "lines.0.sku"), at("d", event.Text, "who.name"))
	if all != "-1 ccc a Ann" {
		t.Errorf("several fields: %s", all)
	}
}

func TestReferences(t *testing.T) {
	const address = `{"type":"record","name":"Address","namespace":"a.b","fields":[{"name":"city","type":"string"},{"name":"code","type":{"type":"fixed","name":"Code","size":1}}]}`
	const user = `{"type":"record","name":"User","namespace":"u","fields":[{"name":"home","type":"a.b.Address"},{"name":"code","type":"a.b.Code"}]}`
	const schema = `{"type":"record","name":"R","fields":[{"name":"f","type":"u.User"},{"name":"g","type":"a.b.Address"}]}`
	s := schemaOf(t, schema, address, user)
	if got := decode(t, s, []byte("\x06Ulmxy\x04Bnz"), at("a", event.Text, "f.home.city"), at("b", event.Text, "g.city"), at("c", event.Text, "f.code")); got != "Ulm Bn y" {
		t.Error(got)
	}
	if _, err := avro.Parse(schema, user, address); err == nil {
		t.Error("references in the wrong order are taken")
	}
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{`, "invalid schema"},
		{one(`"nothing"`), "nothing"},
		{`{"type":"record","name":"A","fields":[{"name":"a","type":"A"}]}`, "type A contains itself, so its values never end"},
		{one(strings.Repeat(`{"type":"array","items":`, 600) + `"int"` + strings.Repeat(`}`, 600)), "deep"},
	} {
		if _, err := avro.Parse(c.schema); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v", c.schema, err)
		}
	}
	for _, fine := range []string{
		`{"type":"record","name":"A-b","fields":[{"name":"x-y","type":"int","default":"not a number"}]}`,
		`{"type":"record","name":"A","fields":[{"name":"a","type":["null",{"type":"array","items":"A"}]}]}`,
		`["null","int"]`,
	} {
		if _, err := avro.Parse(fine); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	// The logical type beside the type instead of in it.
	s := schemaOf(t, `{"type":"record","name":"A","fields":[{"name":"f","type":"long","logicalType":"timestamp-micros"}]}`)
	if got := decode(t, s, []byte{0x80, 0x89, 0x7a}, f(event.TimeMS)); got != "1970-01-01T00:00:01.000Z" {
		t.Error(got)
	}
}

func TestRejects(t *testing.T) {
	const person = `{"type":"record","name":"P","fields":[{"name":"skipped","type":"string"},{"name":"in","type":{"type":"record","name":"I","fields":[{"name":"deep","type":"bytes"}]}},{"name":"f","type":"long"}]}`
	enumerated := one(`{"type":"enum","name":"E","symbols":["A"]}`)
	for _, c := range []struct{ name, schema, hex, want string }{
		{"empty", person, "", "the record ends within a number at byte 0 of 0"},
		{"too long a string", person, "0a6162", "undecodable: field skipped: a string of 5 bytes at byte 1, but the record ends after 2"},
		{"negative length", person, "01", "undecodable: field skipped: a string of length -1, before byte 1"},
		{"deep", person, "0006", "undecodable: field in.deep: a string of 3 bytes at byte 2, but the record ends after 0"},
		{"cut", person, "000080", "undecodable: field f: the record ends within a number at byte 2 of 3"},
		{"longer than 64 bits", person, "0000ffffffffffffffffffff01", "undecodable: field f: the number at byte 2 does not fit 64 bits"},
		{"trailing", person, "00000200ff", "undecodable: 2 bytes follow the value that the schema describes, which ends at byte 3"},
		{"int of 33 bits", one(`"int"`), "8080808020", "undecodable: field f: 4294967296, before byte 5, is an int in the schema and does not fit 32 bits"},
		{"no bool", one(`"boolean"`), "02", "undecodable: field f: a boolean is 0 or 1; byte 0 is 0x2"},
		{"int of 6 bytes", one(`"int"`), "828080808000", "undecodable: field f: the int at byte 0 has 6 bytes: it may have 5"},
		{"branch of 6 bytes", one(`["null","int"]`), "82808080800002", "undecodable: field f: the int at byte 0 has 6 bytes: it may have 5"},
		{"no branch", one(`["null","int"]`), "04", "undecodable: field f: branch 2, before byte 1, is not one of the 2 in the schema"},
		{"branch below zero", one(`["null","int"]`), "01", "undecodable: field f: branch -1, before byte 1, is not one of the 2 in the schema"},
		{"no symbol", enumerated, "02", "undecodable: field f: symbol 1, before byte 1, is not one of the 1 in the schema"},
		{"half a double", one(`"double"`), "00000000", "undecodable: field f: the record ends within a double at byte 0 of 4"},
		{"half a fixed", one(`{"type":"fixed","name":"F","size":4}`), "0000", "undecodable: field f: the record ends within a fixed at byte 0 of 2"},
		{"many items", one(`{"type":"array","items":"int"}`), "feffffff0f00", "undecodable: field f: a block of 2147483647 items at byte 5, but the record ends after 1 bytes"},
		{"many nulls", one(`{"type":"array","items":"null"}`), "feffffffffff0f00", "undecodable: field f: a block of 35184372088831 items at byte 7, but the record ends after 1 bytes"},
		{"many nulls as JSON", one(`{"type":"array","items":"null"}`), "feffffff0f00", "too_large: field f: its JSON is longer than 16 MiB"},
		{"the least count", one(`{"type":"array","items":"null"}`), "ffffffffffffffffff010000", "items at byte"},
		{"block too long", one(`{"type":"array","items":"int"}`), "0108020000", "undecodable: field f: a block of 4 bytes at byte 2, but the record ends after 3"},
		{"block's length is a lie", one(`{"type":"array","items":"int"}`), "0104020000", "undecodable: field f: a block of items should end at byte 4 but ends at byte 3"},
		{"map's key", one(`{"type":"map","values":"int"}`), "0202ff0200", "undecodable: field f: invalid UTF-8 in a key before byte 3"},
		{"recursion", one(`{"type":"array","items":["null",{"type":"array","items":"n.R"}]}`), strings.Repeat("02020202", 4000), "values are nested more than 500 levels deep"},
		{"a scalar", `"long"`, "02", "undecodable: a record is expected, found a number"},
		{"null", `["null","long"]`, "00", "undecodable: a record is expected, found null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, err := hex.DecodeString(c.hex)
			if err != nil {
				t.Fatal(err)
			}
			field := f(event.Nested)
			if c.schema == person {
				field = f(event.Int)
			}
			if len(value) == 0 {
				value = []byte{}
			}
			if got := decode(t, schemaOf(t, c.schema), value, field); !strings.Contains(got, c.want) {
				t.Errorf("got %.300s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPassedOver checks that lengths are verified in what no field asks for.
func TestPassedOver(t *testing.T) {
	const schema = `{"type":"record","name":"R","fields":[{"name":"x","type":{"type":"array","items":["null","int",{"type":"map","values":"R"}]}},{"name":"f","type":"int"}]}`
	s := schemaOf(t, schema)
	for _, c := range []struct{ hex, want string }{
		{"000e", "7"},
		{"0400020e000e", "7"},
		{"0306" + "00020e" + "000e", "7"},
		{"0306" + "ffffff" + "000e", "7"}, // the length determines where the items end
		{"0308" + "00020e", "undecodable: field x: a block of 4 bytes at byte 2, but the record ends after 3"},
		{"0204020278000e00000e", "7"}, // a map that contains an R
		{strings.Repeat("0204020278", 300), "values are nested more than 500 levels deep"},
		{"0206", "undecodable: field x: branch 3, before byte 2, is not one of the 3 in the schema"},
		{"0204020278" + "0206", "undecodable: field x.x: branch 3, before byte 7, is not one of the 3 in the schema"},
		{"fcffffff0f" + "0000", "undecodable: field x: a block of 2147483646 items at byte 5, but the record ends after 2 bytes"},
	} {
		value, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		got := decode(t, s, value, f(event.Int))
		if got != c.want && (len(c.want) == 1 || !strings.Contains(got, c.want)) {
			t.Errorf("%.40s: got %.300s, want %s", c.hex, got, c.want)
		}
	}
}
