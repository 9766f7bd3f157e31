package avro_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/linkedin/goavro/v2"
	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
)

// shape is a type of a random schema with logical types.
type shape struct {
	kind, logical string
	name          string // of a record, enum or fixed
	scale, size   int
	fields        []*shape // of a record, named f0, f1, …
	branches      []*shape // of a union
	items         *shape   // of an array or a map
}

// String returns the shape as a schema.
func (s *shape) String() string {
	rest := ""
	if s.name != "" {
		rest += fmt.Sprintf(`,"name":%q`, s.name)
	}
	if s.logical != "" {
		rest += fmt.Sprintf(`,"logicalType":%q`, s.logical)
	}
	if s.logical == "decimal" {
		rest += fmt.Sprintf(`,"precision":%d,"scale":%d`, s.scale+60, s.scale)
	}
	switch s.kind {
	case "record":
		var fields []string
		for i, f := range s.fields {
			fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":%s}`, i, f))
		}
		rest += `,"fields":[` + strings.Join(fields, ",") + `]`
	case "fixed":
		rest += fmt.Sprintf(`,"size":%d`, s.size)
		if s.logical == "decimal" { // no more digits than fit
			rest = strings.Replace(rest, fmt.Sprintf(`"precision":%d`, s.scale+60), fmt.Sprintf(`"precision":%d`, max(1, s.scale)), 1)
		}
	case "enum":
		rest += `,"symbols":["A","B","C"]`
	case "array":
		rest += `,"items":` + s.items.String()
	case "map":
		rest += `,"values":` + s.items.String()
	case "union":
		branches := []string{`"null"`}
		for _, b := range s.branches {
			branches = append(branches, b.String())
		}
		return `[` + strings.Join(branches, ",") + `]`
	}
	return fmt.Sprintf(`{"type":%q%s}`, s.kind, rest)
}

var scalars = []shape{{kind: "int"}, {kind: "long"}, {kind: "float"}, {kind: "double"}, {kind: "boolean"}, {kind: "string"},
	{kind: "bytes"}, {kind: "int", logical: "date"}, {kind: "int", logical: "time-millis"}, {kind: "long", logical: "time-micros"},
	{kind: "long", logical: "timestamp-millis"}, {kind: "long", logical: "timestamp-micros"}, {kind: "long", logical: "timestamp-nanos"},
	{kind: "long", logical: "local-timestamp-millis"}, {kind: "long", logical: "local-timestamp-micros"},
	{kind: "long", logical: "local-timestamp-nanos"}, {kind: "bytes", logical: "decimal"}, {kind: "fixed", logical: "decimal"},
	{kind: "string", logical: "uuid"}, {kind: "fixed", logical: "uuid"}, {kind: "fixed"}, {kind: "enum"}}

// shape makes a type.
func (r *random) shape(depth int) *shape {
	n := r.IntN(len(scalars) + 12)
	if depth == 0 {
		n = r.IntN(len(scalars))
	}
	r.named++
	switch n -= len(scalars); {
	case n < 0:
		s := scalars[n+len(scalars)]
		return r.scalarShape(s)
	case n < 3:
		s := &shape{kind: "record", name: fmt.Sprintf("R%d", r.named)}
		for range 1 + r.IntN(5) {
			s.fields = append(s.fields, r.shape(depth-1))
		}
		return s
	case n < 5:
		return &shape{kind: "array", items: r.shape(depth - 1)}
	case n < 7:
		return &shape{kind: "map", items: r.shape(depth - 1)}
	}
	// A union. The Go type of what the libraries read shows which branch it was.
	s := &shape{kind: "union"}
	for range 1 + r.IntN(3)*r.IntN(2) {
		b := r.shape(depth - 1)
		like := func(other *shape) bool { return other.goType() == b.goType() || other.kind == b.kind }
		if b.kind != "union" && !slices.ContainsFunc(s.branches, like) {
			s.branches = append(s.branches, b)
		}
	}
	if len(s.branches) == 0 {
		s.branches = append(s.branches, &shape{kind: "string"})
	}
	return s
}

func (r *random) scalarShape(s shape) *shape {
	switch {
	case s.kind == "fixed" && s.logical == "uuid":
		s.size = 16
	case s.kind == "fixed":
		s.size = 1 + r.IntN(18)
	}
	if s.logical == "decimal" {
		s.scale = r.IntN(8) * r.IntN(2)
		if s.kind == "fixed" {
			s.scale = min(s.scale, 2*s.size)
		}
	}
	if s.kind == "fixed" || s.kind == "enum" {
		s.name = fmt.Sprintf("N%d", r.named)
	}
	return &s
}

// goType is the type that twmb reads values into.
func (s *shape) goType() string {
	switch {
	case s.kind == "record" || s.kind == "map":
		return "map[string]interface {}"
	case s.kind == "array":
		return "[]interface {}"
	case s.logical == "decimal":
		return "*big.Rat"
	case s.logical == "uuid" && s.kind == "fixed":
		return "[16]uint8"
	case strings.HasPrefix(s.logical, "time-"):
		return "time.Duration"
	case s.logical != "" && s.kind != "string":
		return "time.Time"
	case s.kind == "bytes" || s.kind == "fixed":
		return "[]uint8"
	case s.kind == "enum":
		return "string"
	}
	return map[string]string{"int": "int32", "long": "int64", "float": "float32", "double": "float64", "boolean": "bool"}[s.kind] +
		strings.Repeat("string", strings.Count(s.kind, "string"))
}

// present returns the branch of a union that a value is of, or the shape itself.
func (s *shape) present(v any) *shape {
	for _, b := range s.branches {
		if fmt.Sprintf("%T", v) == b.goType() {
			return b
		}
	}
	return s
}

// texts are strings, and what they are as other types; those that are missing reject them.
var texts = []struct {
	text string
	as   map[event.Type]string
}{
	{"", map[event.Type]string{event.Bytes: ""}},
	{"ö\"x", nil},
	{"AQID", map[event.Type]string{event.Bytes: "010203"}},
	{"0.0", map[event.Type]string{event.Decimal: "0.0"}},
	{"-12.50", map[event.Type]string{event.Decimal: "-12.50"}},
	{"1e3", map[event.Type]string{event.Decimal: "1000"}},
	{"17", map[event.Type]string{event.Decimal: "17", event.Date: "17", event.TimeUS: "17", event.TimeNS: "17"}},
	{"12345678901234567890123456789012345678", map[event.Type]string{event.Decimal: "12345678901234567890123456789012345678"}},
	{"123456789012345678901234567890123456789", nil},
	{"2013-01-31", map[event.Type]string{event.Date: "15736"}},
	{"2013-02-29", nil},
	{"2013-01-31T08:00:00.123456789Z", map[event.Type]string{event.Date: "15736", event.TimeUS: "1359619200123456",
		event.TimeNS: "1359619200123456789"}},
	{"1969-12-31T23:59:59.9999-01:00", map[event.Type]string{event.Date: "0", event.TimeUS: "3599999900", event.TimeNS: "3599999900000"}},
	{"9999-12-31T23:59:59Z", map[event.Type]string{event.Date: "2932896", event.TimeUS: "253402300799000000"}},
}

// typed makes a value of a shape, as twmb encodes it.
func (r *random) typed(s *shape) any {
	switch s.kind {
	case "union":
		if r.IntN(4) == 0 {
			return nil
		}
		return r.typed(s.branches[r.IntN(len(s.branches))])
	case "record":
		out := map[string]any{}
		for i, f := range s.fields {
			out[fmt.Sprintf("f%d", i)] = r.typed(f)
		}
		return out
	case "array":
		out := []any{}
		for range r.IntN(4) {
			out = append(out, r.typed(s.items))
		}
		return out
	case "map":
		out := map[string]any{}
		for i := range r.IntN(4) {
			out[strconv.Itoa(i)] = r.typed(s.items)
		}
		return out
	case "enum":
		return []string{"A", "B", "C"}[r.IntN(3)]
	case "fixed":
		return r.fixed(s)
	}
	return r.typedScalar(s)
}

// fixed makes bytes, of decimals often such as fit in 38 digits.
func (r *random) fixed(s *shape) []byte {
	p := r.bytes(s.size)
	if s.logical == "decimal" && r.IntN(2) == 0 {
		sign := -(p[0] >> 7)
		for i := range r.IntN(len(p)) {
			p[i] = sign
		}
	}
	return p
}

func (r *random) typedScalar(s *shape) any {
	extreme := r.IntN(16)
	switch {
	case s.logical == "uuid":
		p := r.bytes(16)
		return fmt.Sprintf("%x-%x-%x-%x-%x", p[:4], p[4:6], p[6:8], p[8:10], p[10:])
	case s.kind == "string":
		return texts[r.IntN(len(texts))].text
	case s.logical == "decimal":
		return r.bytes(r.IntN(19))
	case s.kind == "bytes" && r.IntN(2) == 0:
		return []byte("Zürich")
	case s.kind == "double" && extreme < 3:
		return []float64{math.NaN(), math.Inf(1), 1e300}[extreme]
	case s.kind == "float" && extreme < 2:
		return []float32{float32(math.NaN()), float32(math.Inf(-1))}[extreme]
	case s.logical == "time-micros":
		return r.Int64N(math.MaxInt64/500) - math.MaxInt64/1000
	case s.kind == "int" && extreme < 2:
		return []int32{math.MinInt32, math.MaxInt32}[extreme]
	case s.kind == "long" && extreme < 2:
		return []int64{math.MinInt64, math.MaxInt64}[extreme]
	}
	return r.scalar(s.kind)
}

// typedField makes a field at some path, declared with a type that often fits.
func (r *random) typedField(root *shape, s *avro.Schema) event.Field {
	f := event.Field{Name: "v"}
	at := root
	for len(f.Path) == 0 || r.IntN(8) > 0 {
		for at.kind == "union" {
			at = at.branches[r.IntN(len(at.branches))]
		}
		switch {
		case at.kind == "record" && r.IntN(30) == 0:
			f.Path = append(f.Path, "nothing")
		case at.kind == "record":
			i := r.IntN(len(at.fields))
			f.Path, at = append(f.Path, fmt.Sprintf("f%d", i)), at.fields[i]
			continue
		case at.kind == "array" || at.kind == "map":
			f.Path, at = append(f.Path, strconv.Itoa(r.IntN(4))), at.items
			continue
		case r.IntN(30) == 0:
			f.Path = append(f.Path, "f0")
		}
		break
	}
	all := []event.Type{event.Text, event.Int, event.Float, event.Bool, event.Decimal, event.Bytes, event.Date, event.TimeMS, event.TimeS,
		event.TimeUS, event.TimeNS, event.Nested}
	for range 1 + 20*min(1, r.IntN(5)) {
		f.Type = all[r.IntN(len(all))]
		f.Numbers = f.Type == event.Text && r.IntN(2) == 0
		if there, err := s.Fits(f); there && err == nil {
			break
		}
	}
	return f
}

// FuzzAvroTypes compares typed fields, at any path, with what two libraries read of random schemas with logical types. Every reject must be
// one that the documents state, with its reason and its field.
func FuzzAvroTypes(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { typesAgree(t, seed, map[string]int{}) })
}

// TestTypesAreAllCompared checks that the comparison comes by each type of field, in values and in rejects.
func TestTypesAreAllCompared(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(600) {
		typesAgree(t, seed, seen)
	}
	for _, typ := range []event.Type{event.Text, event.Int, event.Float, event.Bool, event.Decimal, event.Bytes, event.Date, event.TimeMS,
		event.TimeUS, event.TimeNS, event.Nested} {
		for _, what := range []string{" value", " reject", " null"} {
			if seen[typ.String()+what] == 0 {
				t.Errorf("no %s%s was compared", typ, what)
			}
		}
	}
	if seen["goavro"] < 500 {
		t.Errorf("goavro read %d schemas", seen["goavro"])
	}
	for _, s := range scalars {
		if s.logical != "" && seen[s.kind+" "+s.logical] == 0 {
			t.Errorf("no %s %s was compared", s.kind, s.logical)
		}
	}
}

// typesAgree compares the fields of one random schema and value.
func typesAgree(t *testing.T, seed uint64, seen map[string]int) {
	t.Helper()
	r := &random{Rand: rand.New(rand.NewPCG(seed, 2))}
	root := &shape{kind: "record", name: "R"}
	for range 1 + r.IntN(6) {
		root.fields = append(root.fields, r.shape(3))
	}
	text := root.String()
	oracle, err := twmb.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	data, err := oracle.Encode(r.typed(root))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	data = append([]byte{}, data...)
	var read any
	if rest, err := oracle.Decode(data, &read); err != nil || len(rest) > 0 {
		t.Fatalf("%s: %x: %v", text, data, err)
	}
	if second(t, text, data, root, read) {
		seen["goavro"]++
	}
	s := schemaOf(t, text)
	var together []event.Field
	var wants []string
	for range 12 {
		field := r.typedField(root, s)
		field.Name = fmt.Sprintf("v%d", len(together))
		want, kind := expected(root, read, field, field.Path)
		got, reject := decoded(s, data, field)
		what := fmt.Sprintf("seed %d: %s\n%x: %v as %s (%v)", seed, text, data, field.Path, field.Type, field.Numbers)
		switch detail, refused := strings.CutPrefix(want, "!"); {
		case (reject != nil) != refused, !refused && !sameText(t, field.Type, got[0], want):
			t.Fatalf("%s: got %s, %v, want %s", what, got, reject, want)
		case refused && (reject.Reason != event.WrongType || !strings.Contains(reject.Detail, detail)):
			t.Fatalf("%s: got %v, want a reject with %q", what, reject, detail)
		case refused && strings.Join(field.Path, ".") != reject.Field && !strings.HasPrefix(strings.Join(field.Path, "."), reject.Field+"."):
			t.Fatalf("%s: the reject is of field %s: %v", what, reject.Field, reject)
		case refused:
			seen[field.Type.String()+" reject"]++
		case want == "null":
			seen[field.Type.String()+" null"]++
		default:
			seen[field.Type.String()+" value"]++
			seen[kind]++
		}
		if !slices.ContainsFunc(together, func(f event.Field) bool { return within(f.Path, field.Path) || within(field.Path, f.Path) }) {
			together, wants = append(together, field), append(wants, want)
		}
	}
	// All of them with one plan.
	got, reject := decoded(s, data, together...)
	if refused := slices.ContainsFunc(wants, func(w string) bool { return strings.HasPrefix(w, "!") }); refused != (reject != nil) {
		t.Fatalf("seed %d: %s\n%x: %+v: got %v, want %q", seed, text, data, together, reject, wants)
	}
	for i := range got {
		if !sameText(t, together[i].Type, got[i], wants[i]) {
			t.Fatalf("seed %d: %s\n%x: %v among others: got %s, want %s", seed, text, data, together[i].Path, got[i], wants[i])
		}
	}
}

// within reports whether a path is another or leads to it.
func within(outer, path []string) bool {
	return len(outer) <= len(path) && slices.Equal(outer, path[:len(outer)])
}

// decoded returns the fields' values as texts.
func decoded(s *avro.Schema, data []byte, fields ...event.Field) (out []string, reject *event.Error) {
	var b event.Batch
	err := event.NewDecoder(event.Schema{Version: -1, Format: avro.Bare(s), Fields: fields}).Decode(&event.Record{Value: data}, &b)
	if err != nil {
		reject, _ = errors.AsType[*event.Error](err)
		return nil, reject
	}
	for i, v := range b.Events[0].Values {
		typ := fields[i].Type
		switch {
		case v.Null():
			out = append(out, "null")
		case typ == event.Text || typ == event.Nested:
			out = append(out, string(v.Text()))
		case typ == event.Float:
			out = append(out, fmt.Sprint(v.Float()))
		case typ == event.Bool:
			out = append(out, fmt.Sprint(v.Bool()))
		case typ == event.Bytes:
			out = append(out, fmt.Sprintf("%x", v.Text()))
		case typ == event.Decimal:
			digits, _ := v.Textual()
			out = append(out, digits)
		default:
			out = append(out, fmt.Sprint(v.Int()))
		}
	}
	return out, nil
}

// sameText compares values as decoded returns them. JSON may have its members in any order.
func sameText(t *testing.T, typ event.Type, got, want string) bool {
	t.Helper()
	if typ != event.Nested || got == want {
		return got == want
	}
	return reflect.DeepEqual(valueOf(t, []byte(got)), valueOf(t, []byte(want)))
}

// second reads the value with goavro, and compares it with what twmb read. It returns false if goavro does not take the schema.
func second(t *testing.T, text string, data []byte, root *shape, read any) bool {
	t.Helper()
	codec, err := goavro.NewCodec(text)
	if err != nil {
		return false
	}
	native, rest, err := codec.NativeFromBinary(data)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%s: goavro refuses %x: %v", text, data, err)
	}
	var faults []string
	if one, other := jsonOf(root, read, &faults), jsonOf(root, unwrapped(root, native), &faults); one != other {
		t.Fatalf("%s: %x is\n%s with twmb,\n%s with goavro", text, data, one, other)
	}
	return true
}

// unwrapped returns what goavro read as twmb reads it.
func unwrapped(s *shape, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			switch s.kind {
			case "union": // {"type": value}
				for _, b := range s.branches {
					if name == b.kind || name == b.name || strings.HasPrefix(name, b.kind+".") {
						return unwrapped(b, e)
					}
				}
				panic("goavro names a branch " + name)
			case "record":
				i, _ := strconv.Atoi(name[1:])
				out[name] = unwrapped(s.fields[i], e)
			default:
				out[name] = unwrapped(s.items, e)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, unwrapped(s.items, e))
		}
		return out
	case int64: // of logical types that it does not know
		switch strings.TrimPrefix(s.logical, "local-") {
		case "timestamp-millis":
			return time.UnixMilli(v)
		case "timestamp-micros":
			return time.UnixMicro(v)
		case "timestamp-nanos":
			return time.Unix(0, v)
		}
	case []byte:
		if s.logical == "uuid" {
			return [16]byte(v)
		}
	}
	return v
}

// expected returns what a field holds of a value: its text as decoded returns it, "null", or "!" and what the reject says. kind is what was
// there.
func expected(s *shape, v any, f event.Field, keys []string) (want, kind string) {
	s = s.present(v)
	switch {
	case v == nil:
		return "null", ""
	case len(keys) == 0:
		return as(s, v, f), s.kind + " " + s.logical
	}
	switch s.kind {
	case "record":
		i, err := strconv.Atoi(strings.TrimPrefix(keys[0], "f"))
		if err != nil || keys[0][0] != 'f' || i >= len(s.fields) {
			return "null", ""
		}
		return expected(s.fields[i], v.(map[string]any)[keys[0]], f, keys[1:])
	case "map":
		return expected(s.items, v.(map[string]any)[keys[0]], f, keys[1:])
	case "array":
		i, err := strconv.Atoi(keys[0])
		switch {
		case err != nil:
			return "!an object is expected, found an array", ""
		case i >= len(v.([]any)):
			return "null", ""
		}
		return expected(s.items, v.([]any)[i], f, keys[1:])
	}
	return "!an object is expected, found", ""
}

// as returns a value as a field's type has it, by the table in docs/formats.md.
func as(s *shape, v any, f event.Field) string {
	if f.Type == event.Nested {
		var faults []string
		text := jsonOf(s, v, &faults)
		if len(faults) > 0 {
			return "!" + faults[0]
		}
		return text
	}
	switch v := v.(type) {
	case map[string]any:
		return "!is expected, found an object"
	case []any:
		return "!is expected, found an array"
	case bool:
		if f.Type == event.Bool {
			return fmt.Sprint(v)
		}
		return "!is expected, found a bool"
	case string:
		return textAs(s, v, f)
	case [16]byte:
		return textAs(s, uuidOf(v), f)
	case []byte:
		switch {
		case f.Type == event.Bytes:
			return fmt.Sprintf("%x", v)
		case f.Type == event.Text && utf8.Valid(v):
			return string(v)
		}
		return "!is expected, found bytes"
	case float32:
		return floatAs(float64(v), f)
	case float64:
		return floatAs(v, f)
	case *big.Rat:
		digits := v.FloatString(s.scale)
		if tooLong(v, s.scale) {
			return "!the decimal has more than 38 digits"
		}
		return numberAs(digits, f)
	case time.Duration:
		if f.Type.TakesTimes() {
			return "!a time of day, without a date"
		}
	case time.Time:
		if f.Type.TakesTimes() {
			return timeAs(v, f.Type)
		}
	}
	return numberAs(raw(s, v), f)
}

func uuidOf(v [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])
}

// tooLong reports whether a decimal has more than 38 digits.
func tooLong(v *big.Rat, scale int) bool {
	digits := strings.ReplaceAll(strings.TrimPrefix(v.FloatString(scale), "-"), ".", "")
	return len(strings.TrimLeft(digits, "0")) > 38
}

// raw returns an integer that stands for a number or a time.
func raw(s *shape, v any) string {
	switch v := v.(type) {
	case time.Duration:
		if s.logical == "time-millis" {
			return strconv.FormatInt(v.Milliseconds(), 10)
		}
		return strconv.FormatInt(v.Microseconds(), 10)
	case time.Time:
		units := map[string]int64{"date": 86400 * 1e9, "timestamp-millis": 1e6, "timestamp-micros": 1e3, "timestamp-nanos": 1}
		return sinceEpoch(v, units[strings.TrimPrefix(s.logical, "local-")]).String()
	}
	return fmt.Sprint(v)
}

// sinceEpoch returns a time in units of so many nanoseconds, rounded down.
func sinceEpoch(at time.Time, unit int64) *big.Int {
	ns := new(big.Int).Add(new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(1e9)), big.NewInt(int64(at.Nanosecond())))
	return ns.Div(ns, big.NewInt(unit))
}

func timeAs(at time.Time, typ event.Type) string {
	unit, name := int64(1e6), "milliseconds"
	switch typ {
	case event.Date:
		unit = 86400 * 1e9
	case event.TimeUS:
		unit, name = 1e3, "microseconds"
	case event.TimeNS:
		unit, name = 1, "nanoseconds"
	}
	count := sinceEpoch(at, unit) // of days, only so many as fit 64 bits in milliseconds too
	if !count.IsInt64() || typ == event.Date && count.CmpAbs(big.NewInt(math.MaxInt64/86_400_000)) > 0 {
		return "!the time does not fit 64 bits of " + name
	}
	return count.String()
}

func textAs(s *shape, text string, f event.Field) string {
	switch f.Type {
	case event.Text:
		return text
	case event.Int, event.Float, event.Bool, event.TimeMS, event.TimeS:
		return "!is expected, found a string"
	}
	for _, c := range texts {
		if want, ok := c.as[f.Type]; ok && c.text == text && s.kind == "string" && s.logical == "" {
			return want
		}
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && f.Type != event.Bytes {
		return "!" // out of range, or with a fraction
	}
	return "!is expected, found \""
}

// numberAs is for numbers with a decimal point at most.
func numberAs(digits string, f event.Field) string {
	i, err := strconv.ParseInt(digits, 10, 64)
	limit := map[event.Type]int64{event.TimeS: math.MaxInt64 / 1000, event.Date: math.MaxInt64 / 86_400_000}[f.Type]
	switch {
	case f.Type == event.Decimal, f.Numbers:
		return digits
	case f.Type == event.Float:
		v, _ := strconv.ParseFloat(digits, 64)
		return fmt.Sprint(v)
	case f.Type != event.Int && !f.Type.TakesTimes():
		return "!is expected, found a number"
	case strings.Contains(digits, ".") && len(digits) > 19:
		return "!number" // with a fraction, or else too large
	case strings.Contains(digits, "."):
		return "!found a number with a fraction or an exponent"
	case err != nil:
		return "!the number does not fit 64 bits"
	case limit > 0 && (i > limit || i < -limit):
		return "!the time does not fit 64 bits of milliseconds"
	case f.Type == event.TimeS:
		i *= 1000
	}
	return strconv.FormatInt(i, 10)
}

func floatAs(v float64, f event.Field) string {
	switch {
	case math.IsNaN(v):
		return "!is expected, found NaN"
	case math.IsInf(v, 0):
		return "!is expected, found infinity"
	case f.Type == event.Int || f.Type.TakesTimes():
		return "!is expected, found a floating-point number"
	case f.Numbers:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case f.Type != event.Decimal:
		return numberAs(fmt.Sprint(v), f)
	}
	exact, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64)) // not SetFloat64: the shortest text is what counts
	scale := 0
	for !new(big.Rat).Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))).IsInt() {
		scale++
	}
	if scale > 38 || tooLong(exact, scale) {
		return "!the decimal has more than 38 digits"
	}
	return exact.FloatString(scale)
}

// jsonOf returns the JSON of a value, with the members of maps sorted, and adds to faults what JSON cannot hold.
func jsonOf(s *shape, v any, faults *[]string) string {
	s = s.present(v)
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case string:
		return strconv.Quote(v) // no text of these differs from JSON's
	case [16]byte:
		return strconv.Quote(uuidOf(v))
	case []byte:
		return strconv.Quote(base64.StdEncoding.EncodeToString(v))
	case float32:
		return jsonOf(s, float64(v), faults)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			*faults = append(*faults, "it contains NaN or infinity")
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case *big.Rat:
		if tooLong(v, s.scale) {
			*faults = append(*faults, "a decimal in it has more than 38 digits")
		}
		return v.FloatString(s.scale)
	case []any:
		var items []string
		for _, e := range v {
			items = append(items, jsonOf(s.items, e, faults))
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of := s.items
			if s.kind == "record" {
				i, _ := strconv.Atoi(name[1:])
				of = s.fields[i]
			}
			members = append(members, strconv.Quote(name)+":"+jsonOf(of, v[name], faults))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return raw(s, v)
}
