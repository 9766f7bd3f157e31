package protobuf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"brine/event"
)

// with appends a field.
func with(b []byte, number protowire.Number, t protowire.Type, rest ...byte) []byte {
	return append(protowire.AppendTag(b, number, t), rest...)
}

// holding returns a field that holds bytes.
func holding(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// nested returns a message with that many others in it.
func nested(levels int) []byte {
	b := []byte{}
	for range levels {
		b = holding(25, holding(4, b)) // first, gift
	}
	return b
}

func TestRejects(t *testing.T) {
	m := order(t)
	utf8 := "caf\xe9"
	for _, c := range []struct {
		name, fields string
		in           []byte
		want         string
	}{
		{"a tag that goes on", "id text", []byte{0x8a}, "undecodable: the message ends within a field's tag, at byte 0 of 1"},
		{"field number 0", "id text", []byte{0x02, 0}, "undecodable: there is no field tag, at byte 0 of 2"},
		{"a wire type that there is not", "id text", []byte{0x0f}, "undecodable: field number 1 cannot be read, at byte 0 of 1"},
		{"an end of no group", "id text", []byte{0x0c}, "undecodable: field number 1 cannot be read, at byte 0 of 1"},
		{"a text cut off", "id text", encode(t, m, `i32:5 id:"abcdef"`)[:6], "undecodable: the message ends within field number 1, at byte 0 of 6"},
		{"a number cut off", "i64 int", with(nil, 3, protowire.VarintType, 0xff), "undecodable: the message ends within field number 3, at byte 0 of 2"},
		{"a varint too long", "i64 int", with(nil, 3, protowire.VarintType, bytes.Repeat([]byte{0xff}, 11)...), "undecodable: field number 3 cannot be read, at byte 0 of 12"},
		{"a message within cut off", "sku text first.sku", holding(25, with(nil, 1, protowire.BytesType, 9, 'a')),
			"undecodable: field first: the message ends within field number 1, at byte 0 of 3"},
		{"a field nobody declared, cut off", "id text", with(nil, 999, protowire.BytesType, 9, 'a'), "undecodable: the message ends within field number 999, at byte 0 of 4"},
		{"a group that does not end", "id text", with(nil, 999, protowire.StartGroupType, 8, 1), "undecodable: the message ends within field number 999, at byte 0 of 4"},
		{"another wire type", "id text", with(nil, 1, protowire.VarintType, 5), "wrong_type: field id: field number 1 is string, which is bytes with a length, found a varint"},
		{"a number with a length", "i32 int", holding(2, []byte{1}), "wrong_type: field i32: field number 2 is int32, which is a varint, found bytes with a length"},
		{"a message as a number", "sku text first.sku", with(nil, 25, protowire.VarintType, 1), "wrong_type: field first: field number 25 is message, which is bytes with a length, found a varint"},
		{"packed values cut off", "d int deltas.1", holding(27, []byte{2, 0x80}), "undecodable: field deltas: the packed values end within value 1"},
		{"a map's entry cut off", "l text labels.a", holding(29, []byte{0x0a, 5}), "undecodable: field labels: the message ends within field number 1, at byte 0 of 2"},
		{"a map's key", "l text labels.a", holding(29, holding(1, []byte(utf8))), "undecodable: field labels: invalid UTF-8 in a map's key"},
		{"invalid UTF-8", "id text", holding(1, []byte(utf8)), "undecodable: field id: invalid UTF-8 in a string"},
		{"invalid UTF-8 in proto2", "p text item.plain", holding(37, holding(6, []byte(utf8))), "undecodable: field item.plain: invalid UTF-8 in a string"},
		{"invalid UTF-8 in JSON", "words json", holding(28, []byte(utf8)), "undecodable: field words: it cannot be written as JSON: field shop.Order.words contains invalid UTF-8"},
		{"invalid UTF-8 before a valid text", "id text", append(holding(1, []byte(utf8)), encode(t, m, `id:"a"`)...), "undecodable: field id: invalid UTF-8 in a string"},
		{"invalid UTF-8 before a valid text of a wrapper", "nick text", append(holding(22, holding(1, []byte(utf8))), encode(t, m, `nick:{value:"a"}`)...), "undecodable: field nick: invalid UTF-8 in a string"},
		{"a value that does not fit comes last", "u64 int", append(encode(t, m, `u64:1`), encode(t, m, `u64:9223372036854775808`)...), "wrong_type: field u64: the number does not fit 64 bits"},
		{"an enum without a name comes last", "status text", append(encode(t, m, `status:PAID`), with(nil, 16, protowire.VarintType, 99)...), "wrong_type: field status: shop.Status has no name for 99; declare the field int to accept it"},
		{"the last entry of a key does not fit", "a decimal labels.k", append(encode(t, m, `labels:{key:"k" value:"1"}`), encode(t, m, `labels:{key:"k" value:"x"}`)...), "wrong_type: field labels.k: a decimal number is expected, found \"x\""},
		{"bytes that are no text", "raw text", holding(15, []byte(utf8)), "wrong_type: field raw: a string is expected, found bytes"},
		{"a number past 2^63", "u64 int", encode(t, m, `u64:9223372036854775808`), "wrong_type: field u64: the number does not fit 64 bits"},
		{"NaN", "total float", encode(t, m, `total:nan`), "wrong_type: field total: a number is expected, found NaN"},
		{"infinity", "single float", encode(t, m, `single:-inf`), "wrong_type: field single: a number is expected, found infinity"},
		{"a float as an int", "total int", encode(t, m, `total:1`), "wrong_type: field total: an integer is expected, found a floating-point number"},
		{"an enum without a name", "status text", with(nil, 16, protowire.VarintType, 99), "wrong_type: field status: shop.Status has no name for 99; declare the field int to accept it"},
		{"a message as a text", "first text", encode(t, m, `first:{}`), "wrong_type: field first: a string is expected, found a message"},
		{"a list as a text", "words text", encode(t, m, `words:"a"`), "wrong_type: field words: a string is expected, found a repeated field"},
		{"a map as a text", "labels text", encode(t, m, `labels:{key:"a"}`), "wrong_type: field labels: a string is expected, found a map"},
		{"a number as a text", "i32 text", nil, "wrong_type: field i32: a string is expected, found a number"},
		{"something below a text", "x text id.x", encode(t, m, `id:"a"`), "wrong_type: field id: an object is expected, found a string"},
		{"a decimal of 39 digits", "id decimal", encode(t, m, `id:"`+strings.Repeat("7", 39)+`"`), "wrong_type: field id: the decimal has more than 38 digits"},
		{"a time of the year 0", "at time_ms", encode(t, m, `at:{seconds:-62167219200}`), "wrong_type: field at: -62167219200 s and 0 ns is not a time in the years 1 to 9999"},
		{"a time past 64 bits of ns", "at time_ns", encode(t, m, `at:{seconds:253402300799}`), "wrong_type: field at: the time does not fit 64 bits of nanoseconds"},
		{"a time of the year 10000", "at time_ms", encode(t, m, `at:{seconds:253402300800}`), "wrong_type: field at: 253402300800 s and 0 ns is not a time in the years 1 to 9999"},
		{"a time with too many ns", "at time_ms", encode(t, m, `at:{nanos:1000000000}`), "wrong_type: field at: 0 s and 1000000000 ns is not a time in the years 1 to 9999"},
		{"a time as an int", "at int", encode(t, m, `at:{nanos:1}`), "wrong_type: field at: an integer is expected, found a time"},
		{"a time of another wire type", "at time_ms", holding(20, holding(1, nil)), "wrong_type: field at: field number 1 of google.protobuf.Timestamp is bytes with a length"},
		{"a duration of two signs", "took text", encode(t, m, `took:{seconds:1 nanos:-1}`), "wrong_type: field took: 1 s and -1 ns is not a duration"},
		{"a date without a day", "day text", encode(t, m, `day:{year:2024 month:2}`), "wrong_type: field day: year 2024, month 2, day 0 is not a date"},
		{"an Any of another schema", "extra json", encode(t, m, `extra:{type_url:"x/no.Such" value:""}`),
			`wrong_type: field extra: it cannot be written as JSON: google.protobuf.Any: unable to resolve "x/no.Such": not found`},
		{"an entry with two keys", "by_truth json", holding(31, []byte("\b\x01\n\x0b00000000000")), "wrong_type: field by_truth: the key of a map is bool, which is a varint, found bytes with a length"},
		{"levels", "first json", nested(101), "too_large: field first: messages are nested more than 100 levels deep"},
		{"values", "deltas json", holding(27, make([]byte, 1<<18+1)), "too_large: field deltas: it holds more than 262144 values"},
	} {
		in := append([]byte{}, c.in...)
		if got := read(m, declare(t, c.fields), in); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestMuch reads valid records that are large or repetitive.
func TestMuch(t *testing.T) {
	m := order(t)
	long := strings.Repeat("ü", 5<<19)
	var fields, levels, oneofs []byte
	for range 100_000 {
		fields = append(fields, encode(t, m, `far:"f"`)...)
		fields = with(fields, 999, protowire.VarintType, 1)
	}
	for range 10_000 {
		oneofs = append(oneofs, encode(t, m, `card:"c"`)...)
		oneofs = append(oneofs, encode(t, m, `cash:1`)...)
	}
	levels = nested(5_000)
	for _, c := range []struct {
		name, fields string
		in           []byte
		want         string
	}{
		{"100,000 fields", "id text\nfar text", fields, `id="" far="f"`},
		{"a text of 5 MB", "id text", holding(1, []byte(long)), `id="` + long + `"`},
		{"10,000 levels that nobody declared", "id text\nd text first.gift.first.gift.id", levels, `id="" d=""`},
		{"members of a oneof", "card text\ncash int", oneofs, `card=- cash=1`},
		{"the last value", "id text\nmaybe int", append(encode(t, m, `id:"a" maybe:1`), encode(t, m, `id:"b" maybe:2`)...), `id="b" maybe=2`},
		{"the last value, behind one past 2^63", "u64 int", append(encode(t, m, `u64:9223372036854775808`), encode(t, m, `u64:1`)...), `u64=1`},
		{"the last value, behind NaN", "total float", append(encode(t, m, `total:nan`), encode(t, m, `total:1`)...), `total=1`},
		{"the last value, behind an enum without a name", "status text", append(with(nil, 16, protowire.VarintType, 99), encode(t, m, `status:PAID`)...), `status="PAID"`},
		{"the last value, behind bytes that are no text", "raw text", append(holding(15, []byte{0xff}), encode(t, m, `raw:"x"`)...), `raw="x"`},
		{"the last value, behind one that is no number", "id decimal", append(encode(t, m, `id:"x"`), encode(t, m, `id:"1.50"`)...), `id=1.50`},
		{"the last value in a merged message", "a int first.gift.u64", append(encode(t, m, `first:{gift:{u64:9223372036854775808}}`), encode(t, m, `first:{gift:{u64:2}}`)...), `a=2`},
		{"another member of a oneof, behind a value that does not fit", "card decimal\ncash int", append(encode(t, m, `card:"x"`), encode(t, m, `cash:1`)...), `card=- cash=1`},
		{"a oneof's message again, behind a value that does not fit", "a decimal swap.sku\nb int swap.pieces",
			bytes.Join([][]byte{encode(t, m, `swap:{sku:"x"}`), encode(t, m, `cash:1`), encode(t, m, `swap:{pieces:2}`)}, nil), `a=- b=2`},
		{"the last entry of a key, behind one that does not fit", "a decimal labels.k", append(encode(t, m, `labels:{key:"k" value:"x"}`), encode(t, m, `labels:{key:"k" value:"1"}`)...), `a=1`},
		{"the last value of an entry", "a decimal labels.k", holding(29, bytes.Join([][]byte{holding(1, []byte("k")), holding(2, []byte("x")), holding(2, []byte("1"))}, nil)), `a=1`},
		{"the last value is the default", "id text\ni32 int", append(encode(t, m, `id:"a" i32:5`), 0x0a, 0, 0x10, 0), `id="" i32=0`},
		{"merged messages", "a text first.sku\nb int first.pieces\nc text first.tags.1\nd text first.gift.id\ne json first.gift.words",
			append(encode(t, m, `first:{sku:"a" pieces:1 tags:"t" gift:{words:"w"}}`), encode(t, m, `first:{sku:"b" tags:"u" gift:{id:"i" words:"x"}}`)...),
			`a="b" b=1 c="u" d="i" e=["w","x"]`},
		{"the year 1", "at time_ms", encode(t, m, `at:{seconds:-62135596800}`), `at=-62135596800000`},
		{"the year 9999", "at time_us", encode(t, m, `at:{seconds:253402300799 nanos:999999999}`), `at=253402300799999999`},
		{"merged times", "at time_ms", append(holding(20, []byte{8, 1}), holding(20, []byte{16, 0x80, 0x89, 0x7a})...), `at=1002`},
		{"a oneof's message that comes again", "a text swap.sku\nb int swap.pieces\nc json swap.tags",
			bytes.Join([][]byte{encode(t, m, `swap:{sku:"a" pieces:1 tags:"t"}`), encode(t, m, `cash:1`), encode(t, m, `swap:{pieces:2}`)}, nil), `a="" b=2 c=[]`},
		{"packed and not", "a int deltas.0\nb int deltas.2\nc int item.loose.1", bytes.Join([][]byte{encode(t, m, `deltas:1 deltas:2`), with(nil, 27, protowire.VarintType, 6),
			holding(37, holding(10, []byte{1, 2}))}, nil), `a=1 b=3 c=2`},
		{"a group that nobody declared", "id text", append(with(with(nil, 999, protowire.StartGroupType, 8, 1), 999, protowire.EndGroupType), encode(t, m, `id:"a"`)...), `id="a"`},
		{"an entry whose key comes last", "a text labels.k", holding(29, append(holding(2, []byte("v")), holding(1, []byte("k"))...)), `a="v"`},
		{"levels as JSON", "first json", nested(3), `first={"gift":{"first":{"gift":{"first":{"gift":{}}}}}}`},
	} {
		if got := read(m, declare(t, c.fields), c.in); got != c.want {
			t.Errorf("%s:\ngot  %.300s\nwant %.300s", c.name, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	m := order(t)
	for _, c := range []struct{ field, want string }{
		{"id text", ""}, {"a text userName", ""}, {"l text labels.x", ""}, {"l text lines.0.sku", ""}, {"j json lines", ""}, {"t time_ms at", ""}, {"s int at.seconds", ""},
		{"n text nick", ""}, {"p float points", ""}, {"b text item.box.label", ""}, {"status int", ""}, {"d text day", ""}, {"n number i64", ""},
		{"x text usr_name", `is not in the schema: message shop.Order has no "usr_name"; its fields are id, i32, i64, u32, u64, s32, s64, f32, f64, sf32, sf64, single, …`},
		{"x text first.nosuch", `is not in the schema: message shop.Order.Line has no "nosuch"; its fields are sku, pieces, tags, gift`},
		{"x text id.more", "is inside id of the message, which is string; fix the path"},
		{"x text lines.sku", `has a path through "sku", but lines of the message is repeated; write lines.0 for the first element, or declare a field json with path: lines`},
		{"x text by_number.k.sku", `has a path with key "k", but the keys of map by_number are int32; fix the path`},
		{"x text by_truth.1", `has a path with key "1", but the keys of map by_truth are bool; fix the path`},
		{"id int", "is declared int, but id of the message is string; declare it text, time, time_us, time_ns, date, decimal, bytes or json"},
		{"i64 text", "is declared text, but i64 of the message is int64; declare it int, float, decimal, time_ms, time_s, time, time_us, time_ns, date, json or { type: text, from: number }"},
		{"total int", "is declared int, but total of the message is double; declare it float, time, decimal or json"},
		{"paid text", "is declared text, but paid of the message is bool; declare it bool or json"},
		{"status bool", "is declared bool, but status of the message is enum shop.Status; declare it text, int or json"},
		{"at int", "is declared int, but at of the message is google.protobuf.Timestamp; declare it time_ms, time_s, time, time_us, time_ns, date, text or json"},
		{"first text", "is declared text, but first of the message is shop.Order.Line; write the path of one of its fields, or declare it json"},
		{"lines text", "is declared text, but lines of the message is repeated shop.Order.Line; write the path of an element, as lines.0, or declare it json"},
		{"labels text", "is declared text, but labels of the message is map<string, string>; write the path of one of its values, as labels.KEY, or declare it json"},
	} {
		got := ""
		for _, f := range m.Check(declare(t, c.field)) {
			got += f.Msg + "; " + f.Fix
		}
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.field, got, c.want)
		}
	}
	twice := m.Check(declare(t, "a text user_name\nb text userName"))
	if len(twice) != 1 || twice[0].Field != 1 || twice[0].Msg != "is user_name of the message, as field a is" {
		t.Errorf("got %+v", twice)
	}
}

func TestSchemas(t *testing.T) {
	s, err := CompileFile("testdata/shop.proto")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Messages(), " "); got != "shop.Order shop.Order.Line shop.Other" {
		t.Error(got)
	}
	for name, want := range map[string]string{"Order": "shop.Order", "shop.Order.Line": "shop.Order.Line", "Order.Line": "shop.Order.Line", "order": "", "Order.LabelsEntry": "", "": "", ".": ""} {
		if m := s.Message(name); (m == nil) != (want == "") || m != nil && m.Name() != want {
			t.Errorf("%q: %v", name, m)
		}
	}
	if m := s.MessageAt([]int{0, 0}); m == nil || m.Name() != "shop.Order.Line" || s.MessageAt([]int{2}) != nil || s.MessageAt([]int{0, 1}) != nil || s.MessageAt(nil) != nil {
		t.Error(m)
	}
	// From its descriptors, as in a registry.
	legacy := map[string][]byte{"legacy.proto": descriptor(t, s, "legacy.proto")}
	again, err := LoadDescriptors("schema.proto", descriptor(t, s, "shop.proto"), legacy)
	if err != nil {
		t.Fatal(err)
	}
	in := encode(t, s.Message("Order"), `id:"a" item:{sku:"s"}`)
	if got := read(again.Message("Order"), declare(t, "id text\nn int item.pieces"), in); got != `id="a" n=1` {
		t.Error(got)
	}
	if _, err := LoadDescriptors("x.proto", descriptor(t, s, "shop.proto"), nil); err == nil || !strings.Contains(err.Error(), "legacy.proto is missing, which it imports") {
		t.Error(err)
	}
	if _, err := LoadDescriptors("x.proto", []byte{1, 2}, nil); err == nil {
		t.Error("garbage is a descriptor")
	}
}

func descriptor(t *testing.T, s *Schema, path string) []byte {
	t.Helper()
	fd := s.file
	if fd.Path() != path {
		for i := range fd.Imports().Len() {
			if s.file.Imports().Get(i).Path() == path {
				fd = s.file.Imports().Get(i).FileDescriptor
			}
		}
	}
	b, err := proto.Marshal(protodesc.ToFileDescriptorProto(fd))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSchemasThatDoNotCompile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a.proto", "syntax = \"proto3\";\nmessage A {\n  strin a = 1;\n}\n", "a.proto:3:3: "},
		{"b.proto", "syntax = \"proto3\";\nmessage A {\n", "b.proto:3:1: syntax error"},
		{"c.proto", "syntax = \"proto3\";\nimport \"far/away.proto\";\n", "c.proto:2:8: a file that it imports does not exist"},
		{"d.proto", "syntax = \"proto3\";\nimport \"../d.proto\";\n", "d.proto:2:8: could not resolve path \"../d.proto\""},
		{"e.proto", "syntax = \"proto3\";\nimport \"e.proto\";\n", "e.proto:2:8: "},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := CompileFile(path)
		var s *SchemaError
		if !errors.As(err, &s) || !strings.HasPrefix(s.Msg, dir+"/"+c.want) || s.Advice() == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := CompileFile(filepath.Join(dir, "none.proto")); err == nil || err.Error() != dir+"/none.proto: there is no such file; put it there, or fix its name" {
		t.Error(err)
	}
	if _, err := CompileText("schema.proto", `syntax = "proto3"; import "other.proto"; message A { B b = 1; }`, map[string]string{"other.proto": `syntax = "proto3"; message B { string x = 1; }`}); err != nil {
		t.Error(err)
	}
}

// A position past 64 bits halts, as in JSON and Avro: it is followed by larger ones, which must not drain the topic into dead letters.
func TestPositionsPast64BitsHalt(t *testing.T) {
	m := order(t)
	s := event.Schema{Fields: declare(t, "u64 int"), Version: -1, Format: m, Position: &event.Position{LSN: "u64"}}
	d, b := event.NewDecoder(s), new(event.Batch)
	err := d.Decode(&event.Record{Value: encode(t, m, `u64:9223372036854775808`)}, b)
	const want = "bad_version: field u64: 9223372036854775808 does not fit the 55 bits that a version has for it; write to a new table, where versions start again"
	if fault, ok := errors.AsType[*event.Error](err); !ok || !fault.Halts || err.Error() != want {
		t.Errorf("%v, want %s, and a halt", err, want)
	}
	if err := d.Decode(&event.Record{Value: encode(t, m, `u64:5`)}, b); err != nil || b.Events[0].Version != 5 {
		t.Errorf("%v, %v, want version 5", b.Events, err)
	}
}
