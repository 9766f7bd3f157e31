package protobuf

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
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

// exact are fields of the types that keep a value to its last digit. Each is read by a decoder of its own, so that a path may have several
// types, and none is hidden by the reject of another.
const exact = `i32 decimal
i32 date
i64 decimal
i64 date
i64 time_us
i64 time_ns
u32 date
u64 decimal
u64 time_us
u64 date
s32 time_ns
s64 decimal
f32 date
f64 decimal
f64 time_ns
sf32 decimal
sf64 date
single decimal
total decimal
total float
raw bytes
raw text
maybe decimal
maybe date
note decimal
note bytes
note date
id decimal
id bytes
id date
id time_us
user_name bytes
sent time_us
sent time_ns
sent date
far decimal
at time_us
at time_ns
at date
at time_s
at text
took float
took text
day date
day time_ms
day time_us
day time_ns
day text
points decimal
points time_us
nick bytes
nick decimal
sku time_ns first.sku
gift_total decimal first.gift.total
gift_at time_us first.gift.at
gift_raw bytes first.gift.raw
gift_took text first.gift.took
gift_day date first.gift.day
line date lines.1.gift.day
line_took float lines.0.gift.took
delta decimal deltas.1
delta date deltas.0
word bytes words.0
word decimal words.1
label time_us labels.a
label decimal labels.b
number_at date by_number.-1.gift.at
number_day time_us by_number.7.gift.day
truth decimal by_truth.true
card decimal
cash date
item_weight decimal item.weight
item_raw bytes item.raw
item_offset decimal item.offset
item_plain time_us item.plain
item_label bytes item.box.label`

// exactSeeds hold values that these fields take.
var exactSeeds = []string{
	`id:"2013-01-31" note:"-12.50" user_name:"AQID" sent:"2013-01-31T08:00:00.123456789Z" far:"1e3" took:{seconds:3 nanos:5000} day:{year:2013 month:1 day:31}`,
	`id:"2013-01-31T23:30:00+08:00" note:"AQ==" sent:"17" took:{seconds:-1 nanos:-500000000} day:{year:9999 month:12 day:31} at:{seconds:-1 nanos:999999999} nick:{value:"0.050"}`,
	`id:"12345678901234567890123456789012345678" note:"2024-02-29" took:{nanos:-1} day:{year:2024 month:2 day:29} at:{seconds:1700000000 nanos:123456789} nick:{value:"_"}`,
	`id:"AQIDBA==" took:{seconds:315576000000} day:{year:1 month:1 day:1} at:{seconds:253402300799} points:{value:1357034220123456} raw:"\xff\x00" card:"99.90" nick:{value:"AA=="}`,
	`i64:9223372036854775807 u64:9223372036854775808 s64:-106751991167 sf64:106751991167 total:1e-38 single:0.1 cash:17 maybe:19000 sent:"-5"`,
	`first:{sku:"2262-04-11T23:47:16.854775807Z" gift:{total:-0.001 at:{seconds:1 nanos:1999} raw:"\x00" took:{seconds:1} day:{year:1969 month:12 day:31}}}`,
	`lines:{gift:{took:{seconds:2 nanos:1}}} lines:{gift:{day:{year:2000 month:2 day:29}}} deltas:[17,-6] words:"AQI=" words:"-0.0" labels:{key:"a" value:"2013-01-31T08:00:00.5Z"} labels:{key:"b" value:".5"}`,
	`by_number:{key:-1 value:{gift:{at:{seconds:86399}}}} by_number:{key:7 value:{gift:{day:{year:2023 month:6 day:1}}}} by_truth:{key:true value:2.5}`,
	`item:{sku:"s" weight:0.25 raw:"\x07" offset:-9 plain:"1999-12-31T23:59:59,000001-0100" Box:{label:"/w=="}}`,
	`took:{seconds:1 nanos:-1}`, `took:{seconds:315576000001}`, `day:{year:2023 month:2 day:29}`, `day:{month:5 day:1}`, `at:{seconds:9223372036 nanos:854775807}`,
	`at:{seconds:9223372036 nanos:854775808}`, `at:{seconds:-9223372037 nanos:145224192}`, `at:{seconds:-9223372037 nanos:145224191}`,
}

// loneReader reads one field.
type loneReader struct {
	field   event.Field
	decoder *event.Decoder
	taken   int // values that were neither null nor rejected
}

func readersOf(t testing.TB, m *Message) (all []*loneReader) {
	t.Helper()
	for _, f := range declare(t, exact) {
		if misfits := m.Check([]event.Field{f}); len(misfits) > 0 {
			t.Fatalf("%v as %s: %s", f.Keys(), f.Type, misfits[0].Msg)
		}
		all = append(all, &loneReader{field: f, decoder: event.NewDecoder(event.Schema{Fields: []event.Field{f}, Version: -1, Format: m})})
	}
	return all
}

// read returns the value as show writes it, or the reject.
func (r *loneReader) read(in []byte) (value string, reject *event.Error) {
	var b event.Batch
	if err := r.decoder.Decode(&event.Record{Value: in, Timestamp: 1e12}, &b); err != nil {
		reject, _ = errors.AsType[*event.Error](err)
		return "", reject
	}
	return show(b.Events[0].Values[0]), nil
}

// agreeAlone compares each field, read alone, with what dynamicpb reads. A reject must be one that the documents state, of that field.
func agreeAlone(t *testing.T, m *Message, alone []*loneReader, in []byte) {
	t.Helper()
	d := dynamicpb.NewMessage(m.desc)
	if !unmarshal(m, in, d) {
		return
	}
	// Written again by the library, nothing occurs twice or has another wire type.
	again, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(d)
	if err != nil {
		return
	}
	again = append([]byte{}, again...)
	for _, r := range alone {
		path := strings.Join(r.field.Keys(), ".")
		want := oracleExact(d, r.field)
		got, reject := r.read(again)
		detail, refused := strings.CutPrefix(want, "!")
		switch {
		case reject == nil && got != want, reject != nil && !refused:
			t.Fatalf("%x: %s as %s: got %s, %v, want %s", again, path, r.field.Type, got, reject, want)
		case reject != nil && (reject.Field != path || !strings.Contains(reject.Error(), detail)):
			t.Fatalf("%x: %s as %s: got %v, want a reject with %q", again, path, r.field.Type, reject, detail)
		case reject == nil && got != "-":
			r.taken++
		}
		switch got, reject = r.read(append([]byte{}, in...)); {
		case reject == nil && got != want, reject != nil && !refused && !stricter.MatchString(reject.Error()):
			t.Fatalf("%x: %s as %s: got %s, %v, want %s", in, path, r.field.Type, got, reject, want)
		}
	}
}

// oracleExact returns what dynamicpb reads of a field: its value as show writes it, "-" for none, or "!" and what the reject says.
func oracleExact(m protoreflect.Message, f event.Field) string {
	keys := f.Keys()
	for i := 0; ; i++ {
		fd := m.Descriptor().Fields().ByName(protoreflect.Name(keys[i]))
		if fd == nil { // a group, by the name of its field
			fd = m.Descriptor().Fields().ByTextName("Box")
		}
		v, there := m.Get(fd), m.Has(fd) || !fd.HasPresence() || fd.HasDefault()
		switch {
		case fd.IsList():
			i++
			at, _ := strconv.Atoi(keys[i])
			if there = at < v.List().Len(); there {
				v = v.List().Get(at)
			}
		case fd.IsMap():
			i++
			v, there = valueAt(v.Map(), fd, keys[i])
			fd = fd.MapValue()
		case fd.Kind() == protoreflect.StringKind && !fd.HasPresence() && v.String() == "" && (f.Type.TakesTimes() || f.Type == event.Decimal):
			there = false // documented: an empty text is one that nobody set
		}
		switch {
		case !there:
			return "-"
		case i == len(keys)-1 && fd.Message() != nil:
			return oracleMessage(v.Message(), f.Type)
		case i == len(keys)-1:
			return oracleValue(fd, v, f.Type)
		}
		m = v.Message()
	}
}

func valueAt(m protoreflect.Map, fd protoreflect.FieldDescriptor, key string) (protoreflect.Value, bool) {
	k := protoreflect.ValueOfString(key)
	switch fd.MapKey().Kind() {
	case protoreflect.Int32Kind:
		n, _ := strconv.Atoi(key)
		k = protoreflect.ValueOfInt32(int32(n))
	case protoreflect.BoolKind:
		k = protoreflect.ValueOfBool(key == "true")
	}
	v := m.Get(k.MapKey())
	return v, v.IsValid()
}

// oracleMessage is for messages that stand for a value.
func oracleMessage(m protoreflect.Message, as event.Type) string {
	field := func(n protoreflect.FieldNumber) protoreflect.Value { return m.Get(m.Descriptor().Fields().ByNumber(n)) }
	whole, err := protojson.Marshal(m.Interface())
	asJSON := strings.Trim(string(whole), `"`)
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		if err != nil {
			return "!is not a time in the years 1 to 9999"
		}
		if as == event.Text {
			return strconv.Quote(asJSON)
		}
		return countOf(time.Unix(field(1).Int(), field(2).Int()), as)
	case "google.protobuf.Duration":
		switch {
		case err != nil:
			return "!is not a duration"
		case as == event.Text:
			return strconv.Quote(asJSON)
		}
		return fmt.Sprint(float64(field(1).Int()) + float64(field(2).Int())/1e9)
	case "google.type.Date":
		text := fmt.Sprintf("%04d-%02d-%02d", field(1).Int(), field(2).Int(), field(3).Int())
		day, err := time.Parse(time.DateOnly, text)
		switch {
		case err != nil || day.Year() == 0:
			return "!is not a date"
		case as == event.Text:
			return strconv.Quote(text)
		}
		return countOf(day, as)
	}
	one := m.Descriptor().Fields().ByNumber(1) // a wrapper's
	return oracleValue(one, m.Get(one), as)
}

// countOf returns a time in the unit of a type, rounded down.
func countOf(at time.Time, as event.Type) string {
	unit, name := int64(1e6), ""
	switch as {
	case event.Date:
		unit = 86400 * 1e9
	case event.TimeUS:
		unit, name = 1e3, "microseconds"
	case event.TimeNS:
		unit, name = 1, "nanoseconds"
	}
	ns := new(big.Int).Add(new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(1e9)), big.NewInt(int64(at.Nanosecond())))
	if ns.Div(ns, big.NewInt(unit)); !ns.IsInt64() {
		return "!the time does not fit 64 bits of " + name
	}
	return ns.String()
}

func oracleValue(fd protoreflect.FieldDescriptor, v protoreflect.Value, as event.Type) string {
	switch fd.Kind() {
	case protoreflect.StringKind:
		if !utf8.ValidString(v.String()) {
			return "!invalid UTF-8"
		}
		return oracleText(v.String(), as)
	case protoreflect.BytesKind:
		switch {
		case as == event.Bytes:
			return fmt.Sprintf("%x", v.Bytes())
		case !utf8.Valid(v.Bytes()):
			return "!a string is expected, found bytes"
		}
		return strconv.Quote(string(v.Bytes()))
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		switch {
		case math.IsNaN(v.Float()):
			return "!found NaN"
		case math.IsInf(v.Float(), 0):
			return "!found infinity"
		case as == event.Float:
			return fmt.Sprint(v.Float())
		}
		return oracleDecimal(strconv.FormatFloat(v.Float(), 'e', -1, 64))
	}
	return oracleCount(fmt.Sprint(v.Interface()), as)
}

// oracleCount is for integers.
func oracleCount(digits string, as event.Type) string {
	if as == event.Decimal {
		return digits
	}
	i, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		return "!the number does not fit 64 bits"
	case as == event.Date && (i > math.MaxInt64/86_400_000 || i < math.MinInt64/86_400_000):
		return "!the time does not fit 64 bits of milliseconds"
	}
	return strconv.FormatInt(i, 10)
}

var (
	aNumber = regexp.MustCompile(`^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$`)
	anInt   = regexp.MustCompile(`^[+-]?[0-9]+$`)
	aTime   = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)$`)
)

// oracleText is for texts in the form of a type.
func oracleText(text string, as event.Type) string {
	parts := aNumber.FindStringSubmatch(text)
	number := parts != nil && parts[2]+parts[3] != ""
	switch {
	case as == event.Bytes:
		p, err := base64.StdEncoding.DecodeString(text)
		if err != nil || strings.ContainsAny(text, "\r\n") {
			return "!bytes in base64 is expected"
		}
		return fmt.Sprintf("%x", p)
	case as == event.Decimal && number:
		return oracleDecimal(text)
	case as == event.Decimal:
		return "!a decimal number is expected"
	case anInt.MatchString(text):
		return oracleCount(text, as)
	case number:
		return "!found a number with a fraction or an exponent"
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil && as == event.Date {
		return countOf(day, as)
	}
	if parts = aTime.FindStringSubmatch(text); parts == nil {
		return "! is expected, found "
	}
	zone := parts[3]
	if len(zone) > 1 {
		zone = zone[:3] + ":" + (strings.TrimPrefix(zone[3:], ":") + "00")[:2]
	}
	at, err := time.Parse(time.RFC3339Nano, parts[1]+"."+(parts[2] + "000000000")[:9]+zone)
	if err != nil || slices.Contains([]string{"+24", "-24"}, zone[:min(3, len(zone))]) {
		return "! is expected, found "
	}
	if count := countOf(at, as); count[0] != '!' {
		return count
	}
	return "! is expected, found "
}

// oracleDecimal returns all digits of a number.
func oracleDecimal(number string) string {
	parts := aNumber.FindStringSubmatch(number)
	exponent, err := strconv.Atoi(parts[4])
	if parts[4] != "" && (err != nil || exponent > 76 || exponent < -76) {
		return "!the decimal has more than 38 digits"
	}
	unscaled, _ := new(big.Int).SetString(parts[1]+"0"+parts[2]+parts[3], 10)
	scale := len(parts[3]) - exponent
	if scale < 0 {
		unscaled.Mul(unscaled, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil))
		scale = 0
	}
	if scale > 38 || len(strings.TrimPrefix(unscaled.String(), "-")) > 38 {
		return "!the decimal has more than 38 digits"
	}
	return new(big.Rat).SetFrac(unscaled, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
}
