package registry

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someGUID = "000102030405060708090a0b0c0d0e0f"

func guidID() ID { return ID{Kind: GUID, GUID: [16]byte(unhex(someGUID))} }

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// headers are header names and values in hex; the last of a name counts.
type headers []string

func (h headers) last(name string) ([]byte, bool) {
	for i := len(h) - 2; i >= 0; i -= 2 {
		if h[i] == name {
			return unhex(h[i+1]), true
		}
	}
	return nil, false
}

func TestFrame(t *testing.T) {
	number := func(k Kind, n int64) ID { return ID{Kind: k, Number: n} }
	for _, c := range []struct {
		name    string
		framing Framing
		part    Part
		value   string
		headers headers
		id      ID
		data    string
		indexes string
		inside  bool // a header
	}{
		{"prefix", Confluent, Value, "00 00000007 aabb", nil, number(Number, 7), "aabb", "", false},
		{"prefix, no data", Confluent, Value, "00 7fffffff", nil, number(Number, 1<<31-1), "", "", false},
		{"prefix with a guid", Confluent, Value, "01" + someGUID + "aabb", nil, guidID(), "aabb", "", false},
		{"header", Confluent, Value, "0000000007", headers{"__value_schema_id", "01" + someGUID}, guidID(), "0000000007", "", true},
		{"header of an empty value", Confluent, Value, "", headers{"__value_schema_id", "01" + someGUID}, guidID(), "", "", true},
		{"header with indexes", Confluent, Value, "aabb", headers{"__value_schema_id", "01" + someGUID + "020204"}, guidID(), "aabb", "020204", true},
		{"header with a number", Confluent, Value, "aabb", headers{"__value_schema_id", "0000000009"}, number(Number, 9), "aabb", "", true},
		{"last header wins", Confluent, Value, "aabb", headers{"__value_schema_id", "0000000009", "x", "", "__value_schema_id", "000000000a"},
			number(Number, 10), "aabb", "", true},
		{"header of the key is not the value's", Confluent, Value, "00 00000007 aa", headers{"__key_schema_id", "01" + someGUID}, number(Number, 7), "aa", "", false},
		{"header of the key", Confluent, Key, "aabb", headers{"__key_schema_id", "01" + someGUID}, guidID(), "aabb", "", true},
		{"contentId", Apicurio, Value, "00 00000007 aabb", nil, number(ContentID, 7), "aabb", "", false},
		{"globalId", ApicurioGlobal, Value, "00 00000007 aabb", nil, number(GlobalID, 7), "aabb", "", false},
		{"8 bytes", Apicurio8, Value, "00 0000000100000007 aabb", nil, number(ContentID, 1<<32|7), "aabb", "", false},
		{"8 bytes of a globalId", Apicurio8Global, Value, "00 0000000000000007 aabb", nil, number(GlobalID, 7), "aabb", "", false},
		{"header contentId", Apicurio, Value, "aabb", headers{"apicurio.value.contentId", "0000000000000007"}, number(ContentID, 7), "aabb", "", true},
		{"header globalId", Apicurio8, Value, "aabb", headers{"apicurio.value.globalId", "0000000000000007"}, number(GlobalID, 7), "aabb", "", true},
		{"contentId before globalId", Apicurio, Value, "aabb", headers{"apicurio.value.globalId", "0000000000000007", "apicurio.value.contentId", "0000000000000008"},
			number(ContentID, 8), "aabb", "", true},
		{"header of the key in Apicurio", Apicurio, Key, "aabb", headers{"apicurio.key.contentId", "0000000000000007"}, number(ContentID, 7), "aabb", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.framing.Frame(c.part, unhex(c.value), c.headers.last)
			if err != nil {
				t.Fatal(err)
			}
			if got.ID != c.id || hex.EncodeToString(got.Data) != strings.ReplaceAll(c.data, " ", "") || hex.EncodeToString(got.Indexes) != c.indexes || got.InHeader != c.inside {
				t.Errorf("got %s, data %x, indexes %x, in a header %v", got.ID, got.Data, got.Indexes, got.InHeader)
			}
		})
	}
}

func TestFrameRefuses(t *testing.T) {
	for _, c := range []struct {
		framing Framing
		value   string
		headers headers
		want    string
	}{
		{Confluent, "", nil, "the value begins with nothing, not with 00 and a schema id"},
		{Confluent, "7b2261", nil, "the value begins with 7b2261, not with 00"},
		{Confluent, "7b22616263646566676869", nil, "the value begins with 7b22616263646566…, not with 00"},
		{Confluent, "000000", nil, "the value ends within the id that it begins with: it has 3 bytes"},
		{Confluent, "0100", nil, "the value begins with 0100, not with 00"},
		{Confluent, "00ffffffff", nil, "names id -1, but a registry has no ids below 0"},
		{Confluent, "0300" + someGUID + "aa", nil, "AWS Glue Schema Registry (0300), which brine does not support"},
		{Apicurio, "0305" + someGUID + "aa", nil, "AWS Glue Schema Registry (0305)"},
		{Confluent, "0302" + someGUID + "aa", nil, "the value begins with 0302000102030405…"},
		{Confluent, "0000000007", headers{"__value_schema_id", "02" + someGUID}, "the header __value_schema_id holds 0200010203040506…, which is not an id"},
		{Confluent, "0000000007", headers{"__value_schema_id", ""}, "holds nothing, which is not an id"},
		{Apicurio, "01" + someGUID, nil, "the value begins with 0100010203040506…"},
		{Apicurio8, "0000000007", nil, "ends within the id"},
		{Apicurio8, "00ffffffffffffffff", nil, "names contentId -1"},
		{Apicurio, "aa", headers{"apicurio.value.contentId", "00000007"}, "the header apicurio.value.contentId holds 00000007, which is not an id"},
		{Apicurio, "aa", headers{"apicurio.value.globalId", "f000000000000007"}, "the header apicurio.value.globalId holds f000000000000007"},
		{Confluent, "aa", headers{"apicurio.value.contentId", "0000000000000007"}, "there is a header apicurio.value.contentId; write registry.framing: apicurio"},
		{Apicurio, "aa", headers{"__value_schema_id", "01" + someGUID}, "there is a header __value_schema_id; write registry.framing: confluent"},
	} {
		_, err := c.framing.Frame(Value, unhex(c.value), c.headers.last)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v, want %q in it", c.framing, c.value, err, c.want)
		}
		if _, ok := err.(interface{ Advice() string }); !ok { //nolint:errorlint // the type itself is what counts
			t.Errorf("%s of %s: %T gives no advice", c.framing, c.value, err)
		}
	}
}

func TestFrameAllocatesNothing(t *testing.T) {
	prefixed, bare, long := unhex("0000000007aabb"), unhex("aabb"), unhex("01"+someGUID+"040204")
	var path [4]int
	header := func(name string) ([]byte, bool) { return long, name == "__value_schema_id" }
	if n := testing.AllocsPerRun(100, func() {
		f, err := Confluent.Frame(Value, prefixed, nil)
		if err != nil || f.ID.Number != 7 {
			t.Fatal(f, err)
		}
		f, err = Confluent.Frame(Value, bare, header)
		if err != nil || f.ID.Kind != GUID {
			t.Fatal(f, err)
		}
		if p, _, err := f.Message(path[:]); err != nil || len(p) != 2 {
			t.Fatal(p, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMessageIndexes(t *testing.T) {
	for _, c := range []struct {
		bytes string
		path  []int
		rest  string
		ok    bool
	}{
		{"00 aabb", []int{0}, "aabb", true},
		{"00", []int{0}, "", true},
		{"02 00 aabb", []int{0}, "aabb", true},
		{"02 02", []int{1}, "", true},
		{"06 02 04 9001 0a", []int{1, 2, 72}, "0a", true},
		{"02 feffffff0f", []int{1<<31 - 1}, "", true},
		{"", nil, "", false},
		{"02", nil, "", false},
		{"01 00", nil, "", false},         // a negative count
		{"02 01", nil, "", false},         // a negative index
		{"02 80", nil, "", false},         // ends within a varint
		{"feffffff0f 00", nil, "", false}, // a count beyond any nesting
		{"02 ffffffffffffffffff01", nil, "", false},
	} {
		path, rest, err := MessageIndexes(unhex(c.bytes), nil)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.bytes, err)
		} else if c.ok && (!cmp.Equal(path, c.path) || hex.EncodeToString(rest) != c.rest) {
			t.Errorf("%s: %v, rest %x", c.bytes, path, rest)
		}
	}
}

func TestMessageName(t *testing.T) {
	for _, c := range []struct{ bytes, name, rest string }{
		{"05 0a 03 466f6f aabb", "Foo", "aabb"},
		{"05 0a 03 466f6f", "Foo", ""},
		{"05 0a 04 466f6f aabb", "", ""}, // the name is longer than its message
		{"06 0a 03 466f6f 00 aabb", "", ""},
		{"05 0a 03 46206f aabb", "", ""}, // not a name
		{"05 0a 03 366f6f aabb", "", ""},
		{"05 12 03 466f6f aabb", "", ""},
		{"09 0a 03 466f6f", "", ""},
		{"00", "", ""},
		{"02 0a 00 aa", "", ""},
		{"", "", ""},
		{"ffffffffffffffffffff01", "", ""},
	} {
		b := unhex(c.bytes)
		name, rest, ok := MessageName(b)
		if ok != (c.name != "") || string(name) != c.name || ok && hex.EncodeToString(rest) != c.rest || !ok && len(rest) != len(b) {
			t.Errorf("%s: %q, rest %x, %v", c.bytes, name, rest, ok)
		}
	}
	if name, ok := MessageHeader(Value, headers{"apicurio.protobuf.type", "466f6f"}.last); !ok || string(name) != "Foo" {
		t.Errorf("of a header: %q, %v", name, ok)
	}
}

// FuzzFrame checks that any bytes have an id and what follows it, or an error, and that what was framed is framed again to the same bytes.
func FuzzFrame(f *testing.F) {
	for i := range Framings {
		for _, seed := range []string{"00 00000007 aabb", "01" + someGUID + "06020490010a", "0300" + someGUID, "00 0000000000000007 050a03466f6faabb", "", "00"} {
			f.Add(byte(i), unhex(seed), unhex("01"+someGUID+"0204"), true)
			f.Add(byte(i), unhex(seed), unhex("0000000000000007"), true)
			f.Add(byte(i), unhex(seed), []byte(nil), false)
		}
	}
	f.Fuzz(func(t *testing.T, n byte, value, head []byte, has bool) {
		framing := Framings[int(n)%len(Framings)]
		got, err := framing.Frame(Part(n&1), value, func(string) ([]byte, bool) { return head, has })
		if err != nil {
			if got.ID.Kind != 0 || err.Error() == "" {
				t.Fatalf("%v with %v", got, err)
			}
			return
		}
		if got.ID.Kind == 0 || got.ID.Number < 0 || got.InHeader && string(got.Data) != string(value) {
			t.Fatalf("%+v", got)
		}
		if !got.InHeader {
			if again := append(framed(framing, got.ID), got.Data...); string(again) != string(value) {
				t.Fatalf("%x became %x", value, again)
			}
		}
		var room [2]int
		if path, data, err := got.Message(room[:]); err == nil && (len(path) == 0 || len(data) > len(value)) {
			t.Fatalf("message %v of %d bytes", path, len(data))
		}
		if name, rest, ok := MessageName(got.Data); ok && (len(name) == 0 || len(rest) >= len(got.Data)) {
			t.Fatalf("name %q, %d bytes", name, len(rest))
		}
	})
}

// framed returns a prefix as serializers write it.
func framed(f Framing, id ID) []byte {
	if id.Kind == GUID {
		return append([]byte{1}, id.GUID[:]...)
	}
	n := uint64(id.Number)
	if f == Apicurio8 || f == Apicurio8Global {
		return []byte{0, byte(n >> 56), byte(n >> 48), byte(n >> 40), byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	}
	return []byte{0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}
