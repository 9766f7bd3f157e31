package protobuf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
)

// compared are the fields that are compared with dynamicpb.
const compared = `id text
i32 int
i64 int
u32 int
u64 int
s32 int
s64 int
f32 int
f64 int
sf32 int
sf64 int
single float
total float
paid bool
raw text
status text
maybe int
note text
user_name json
at time_ms
nick text
points int
vip bool
first_sku text first.sku
first_gift_id text first.gift.id
first_gift_total float first.gift.total
first_tags json first.tags
line_sku text lines.0.sku
line_tag text lines.1.tags.1
line_gift int lines.1.gift.maybe
delta int deltas.0
delta2 int deltas.2
words json
label text labels.a
number_sku text by_number.7.sku
number_gift text by_number.-1.gift.id
truth float by_truth.true
card text
cash int
swap text swap.sku
swap_words json swap.tags
item_pieces int item.pieces
item_grade text item.grade
item_offset int item.offset
item_plain text item.plain
item_box text item.box.label
item_loose int item.loose.1
far text`

// oracle returns what dynamicpb reads of a field: its value as show writes it, "-" for none, or "!" and an error.
func oracle(m protoreflect.Message, f event.Field, whole any) string {
	if f.Type == event.Nested {
		return oracleJSON(m, f.Keys(), whole)
	}
	var v protoreflect.Value
	var fd protoreflect.FieldDescriptor
	keys := f.Keys()
	for i := 0; i < len(keys); i++ {
		if fd = m.Descriptor().Fields().ByName(protoreflect.Name(keys[i])); fd == nil {
			return "! no field"
		}
		switch {
		case fd.IsList():
			i++
			n, _ := strconv.Atoi(keys[i])
			if n >= m.Get(fd).List().Len() {
				return "-"
			}
			v = m.Get(fd).List().Get(n)
		case fd.IsMap():
			i++
			k := protoreflect.ValueOfString(keys[i])
			switch fd.MapKey().Kind() {
			case protoreflect.Int32Kind:
				n, _ := strconv.Atoi(keys[i])
				k = protoreflect.ValueOfInt32(int32(n))
			case protoreflect.BoolKind:
				k = protoreflect.ValueOfBool(keys[i] == "true")
			}
			if v = m.Get(fd).Map().Get(k.MapKey()); !v.IsValid() {
				return "-"
			}
			fd = fd.MapValue()
		case !m.Has(fd) && fd.HasPresence() && !fd.HasDefault():
			return "-"
		default:
			v = m.Get(fd)
		}
		if i < len(keys)-1 {
			m = v.Message()
		}
	}
	if fd.Message() != nil {
		return oracleKnown(v.Message())
	}
	return oracleScalar(fd, v)
}

func oracleKnown(m protoreflect.Message) string {
	one, two := m.Descriptor().Fields().ByNumber(1), m.Descriptor().Fields().ByNumber(2)
	if m.Descriptor().Name() != "Timestamp" {
		return oracleScalar(one, m.Get(one))
	}
	s, ns := m.Get(one).Int(), m.Get(two).Int()
	if t := time.Unix(s, 0).UTC(); s < -1e11 || s > 1e12 || t.Year() < 1 || t.Year() > 9999 || ns < 0 || ns >= 1e9 {
		return "! no time"
	}
	return fmt.Sprint(time.Unix(s, ns).UnixMilli())
}

func oracleScalar(fd protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch fd.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind:
		text := v.String()
		if fd.Kind() == protoreflect.BytesKind {
			text = string(v.Bytes())
		}
		if !utf8.ValidString(text) {
			return "! UTF-8"
		}
		return fmt.Sprintf("%q", text)
	case protoreflect.EnumKind:
		if e := fd.Enum().Values().ByNumber(v.Enum()); e != nil {
			return fmt.Sprintf("%q", e.Name())
		}
		return "! no name"
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return "! not finite"
		}
		return fmt.Sprint(v.Float())
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		if v.Uint() > math.MaxInt64 {
			return "! too large"
		}
	}
	return fmt.Sprint(v.Interface())
}

// oracleJSON looks into the JSON of the whole message; "?" if it has none.
func oracleJSON(m protoreflect.Message, keys []string, whole any) string {
	if whole == nil {
		return "?"
	}
	for i, key := range keys {
		fd := m.Descriptor().Fields().ByName(protoreflect.Name(key))
		v, ok := whole.(map[string]any)[fd.JSONName()]
		last := i == len(keys)-1
		switch {
		case !ok && !last:
			return "-"
		case !ok && fd.IsList():
			return "[]"
		case !ok:
			return `""`
		case last:
			text := new(bytes.Buffer)
			e := json.NewEncoder(text)
			e.SetEscapeHTML(false)
			if e.Encode(v) != nil {
				return "?"
			}
			return strings.TrimSpace(text.String())
		}
		whole, m = v, m.Get(fd).Message()
	}
	return "?"
}

// unmarshal reads a message with dynamicpb, which panics at map entries with a second key of another wire type.
func unmarshal(m *Message, in []byte, into proto.Message) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	return (proto.UnmarshalOptions{DiscardUnknown: true, AllowPartial: true, Resolver: m.schema.types}).Unmarshal(in, into) == nil
}

// stricter are rejects of messages that dynamicpb takes: another wire type, which it takes as an unknown field, and invalid UTF-8 where
// Protobuf does not ask for UTF-8: in strings of proto2.
var stricter = regexp.MustCompile(`(^|: )field number \d+ |the (key|value) of a map is |invalid UTF-8 in a string`)

// agree compares a reader with dynamicpb on the same bytes.
func agree(t *testing.T, m *Message, fields []event.Field, in []byte) {
	t.Helper()
	in = append([]byte{}, in...) // not nil, which is a tombstone
	got := read(m, fields, in)
	d := dynamicpb.NewMessage(m.desc)
	if !unmarshal(m, in, d) {
		return // it also checks undeclared fields
	}
	var whole any
	if text, err := (protojson.MarshalOptions{AllowPartial: true, Resolver: m.schema.types}).Marshal(d); err == nil {
		numbers := json.NewDecoder(bytes.NewReader(text))
		if numbers.UseNumber(); numbers.Decode(&whole) != nil {
			whole = nil
		}
	}
	var want []string
	reject := ""
	for _, f := range fields {
		v := oracle(d, f, whole)
		if strings.HasPrefix(v, "!") {
			reject = f.Name + v
		}
		want = append(want, f.Name+"="+v)
	}
	same := func(got string) bool {
		if reject != "" {
			return strings.HasPrefix(got, "wrong_type: ") || strings.HasPrefix(got, "undecodable: ")
		}
		return got == strings.Join(want, " ") || whole == nil
	}
	if !same(got) && !stricter.MatchString(got) {
		t.Fatalf("%x:\ngot  %s\nwant %s\n%s", in, got, strings.Join(want, " "), reject)
	}
	// Rewritten by another library, nothing occurs twice or has another wire type: both must then agree on rejects too.
	again, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(d)
	if err != nil {
		return
	}
	if got := read(m, fields, append([]byte{}, again...)); !same(got) {
		t.Fatalf("%x, written again as %x:\ngot  %s\nwant %s\n%s", in, again, got, strings.Join(want, " "), reject)
	}
}

var seeds = []string{
	``, `id:"a" i32:-1 i64:5 u32:7 u64:18446744073709551615 s32:-3 s64:-5 f32:4294967295 f64:7 sf32:-7 sf64:-8 single:1.5 total:-2.25 paid:true raw:"x" status:PAID`,
	`maybe:0 note:"" user_name:"<ann>" at:{seconds:-1 nanos:1} nick:{} points:{value:-1} vip:{value:true} far:"f"`,
	`first:{sku:"s" tags:"t" gift:{id:"g" total:nan}} lines:{} lines:{sku:"u" tags:"a" tags:"b" gift:{maybe:4}}`,
	`deltas:[1,-2,3] words:"a" words:"b" labels:{key:"a" value:"1"} by_number:{key:7 value:{sku:"s"}} by_number:{key:-1 value:{gift:{id:"x"}}} by_truth:{key:true value:inf}`,
	`card:"c"`, `cash:4`, `swap:{sku:"s" tags:"t"}`, `item:{sku:"s" Box:{label:"l"} loose:1 loose:2 offset:4 grade:UNRATED}`, `status:FAR at:{seconds:253402300800}`,
}

// FuzzProtobuf checks that any bytes are read without a panic, and as dynamicpb reads them.
func FuzzProtobuf(f *testing.F) {
	m := order(f)
	fields, alone := declare(f, compared), readersOf(f, m)
	for _, s := range slices.Concat(seeds, exactSeeds) {
		f.Add(encode(f, m, s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		agree(t, m, fields, in)
		agreeAlone(t, m, alone, in)
	})
}

// TestRandomMessages reads messages that are assembled from others, cut and changed.
func TestRandomMessages(t *testing.T) {
	m := order(t)
	fields, alone := declare(t, compared), readersOf(t, m)
	random := rand.New(rand.NewPCG(1, 2))
	var parts [][]byte
	for _, s := range slices.Concat(seeds, exactSeeds) {
		parts = append(parts, encode(t, m, s))
	}
	for range 3000 {
		var in []byte
		for range random.IntN(4) {
			in = append(in, parts[random.IntN(len(parts))]...)
		}
		for range random.IntN(4) {
			if len(in) > 0 {
				in[random.IntN(len(in))] ^= 1 << random.IntN(8)
			}
		}
		if random.IntN(8) == 0 {
			in = in[:random.IntN(len(in)+1)]
		}
		agree(t, m, fields, in)
		agreeAlone(t, m, alone, in)
	}
	for _, r := range alone {
		if r.taken == 0 {
			t.Errorf("no message had a %s that is %s", strings.Join(r.field.Keys(), "."), r.field.Type)
		}
	}
}
