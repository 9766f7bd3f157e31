package avro_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linkedin/goavro/v2"
	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
)

// random makes schemas and values of them.
type random struct {
	*rand.Rand
	named int
}

// schema makes a type.
func (r *random) schema(depth int) string {
	simple := []string{`"int"`, `"long"`, `"float"`, `"double"`, `"boolean"`, `"string"`, `"bytes"`}
	n := r.IntN(13)
	if depth == 0 {
		n = r.IntN(8)
	}
	r.named++
	switch {
	case n < len(simple):
		return simple[n]
	case n == 7:
		return fmt.Sprintf(`{"type":"enum","name":"E%d","symbols":["A","B","C"]}`, r.named)
	case n == 8:
		return fmt.Sprintf(`{"type":"fixed","name":"F%d","size":%d}`, r.named, r.IntN(4))
	case n == 9:
		return `{"type":"array","items":` + r.schema(depth-1) + `}`
	case n == 10:
		return `{"type":"map","values":` + r.schema(depth-1) + `}`
	case n == 11:
		return `["null",` + simple[r.IntN(len(simple))] + `]`
	}
	return r.record(depth)
}

func (r *random) record(depth int) string {
	name := fmt.Sprintf("R%d", r.named)
	fields := []string{fmt.Sprintf(`{"name":"z","type":["null",%q]}`, name)}
	for i := range 1 + r.IntN(5) {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":%s}`, i, r.schema(depth-1)))
	}
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ","))
}

// value makes a value of a type in JSON form, as goavro and twmb read it.
func (r *random) value(schema any, depth int) any {
	switch s := schema.(type) {
	case string:
		return r.scalar(s)
	case []any:
		if r.IntN(2) == 0 || depth > 4 {
			return nil
		}
		if name, ok := s[1].(string); ok && !strings.HasPrefix(name, "R") {
			return r.scalar(name)
		}
		return nil // of itself
	case map[string]any:
		switch s["type"] {
		case "enum":
			return []string{"A", "B", "C"}[r.IntN(3)]
		case "fixed":
			return r.bytes(int(s["size"].(float64)))
		case "array":
			out := []any{}
			for range r.IntN(4) {
				out = append(out, r.value(s["items"], depth+1))
			}
			return out
		case "map":
			out := map[string]any{}
			for i := range r.IntN(4) {
				out[strconv.Itoa(i)] = r.value(s["values"], depth+1)
			}
			return out
		}
		out := map[string]any{}
		for _, f := range s["fields"].([]any) {
			f := f.(map[string]any)
			out[f["name"].(string)] = r.value(f["type"], depth+1)
		}
		return out
	}
	return nil
}

func (r *random) scalar(name string) any {
	switch name {
	case "int":
		return int32(r.Uint32()) >> r.IntN(32)
	case "long":
		return int64(r.Uint64()) >> r.IntN(64)
	case "float":
		return r.Float32()
	case "double":
		return r.NormFloat64()
	case "boolean":
		return r.IntN(2) == 0
	case "bytes":
		return r.bytes(r.IntN(9))
	}
	return strings.Repeat("ö\"x", r.IntN(4))
}

func (r *random) bytes(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// FuzzAvro compares with two libraries. Every field of values that one of them wrote must be read as they read it, and any bytes must be
// accepted or rejected as they do.
func FuzzAvro(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, []byte{}, uint16(0))
		f.Add(seed, []byte{byte(seed), 0xff}, uint16(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, patch []byte, where uint16) {
		r := &random{Rand: rand.New(rand.NewPCG(seed, 1))}
		text := r.record(3)
		var tree any
		if err := json.Unmarshal([]byte(text), &tree); err != nil {
			t.Fatal(err)
		}
		oracle := twmb.MustParse(text)
		whole, err := oracle.Encode(r.value(tree, 0))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		data := append([]byte{}, whole...)
		if at := int(where) % (len(data) + 1); len(patch) > 0 {
			data = append(data[:at], append(patch, data[min(len(data), at+len(patch)):]...)...)
		}
		var want any
		rest, wrong := oracle.Decode(data, &want)
		if wrong == nil && len(rest) > 0 {
			wrong = errors.New("bytes follow")
		}
		got, fault := objectOf(t, text, data)
		switch {
		case fault == nil && wrong != nil:
			t.Fatalf("%s\n%x is taken, and is to be refused: %v", text, data, wrong)
		case fault == nil:
			same(t, "", got, want)
		case wrong == nil && !stricter(fault, want):
			t.Fatalf("%s\n%x: %v", text, data, fault)
		}
		if fault == nil && bytes.Equal(data, whole) {
			agree(t, text, data)
		}
		// Each field alone, with everything between skipped.
		if fault == nil {
			alone(t, text, data, tree, got)
		}
	})
}

// objectOf reads all fields of the record as JSON.
func objectOf(t *testing.T, schema string, data []byte) (map[string]any, error) {
	t.Helper()
	var tree struct{ Fields []struct{ Name string } }
	if err := json.Unmarshal([]byte(schema), &tree); err != nil {
		t.Fatal(err)
	}
	s := event.Schema{Version: -1, Format: avro.Bare(schemaOf(t, schema))}
	for _, f := range tree.Fields {
		s.Fields = append(s.Fields, event.Field{Name: f.Name, Type: event.Nested})
	}
	var b event.Batch
	if err := event.NewDecoder(s).Decode(&event.Record{Value: data}, &b); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for i, v := range b.Events[0].Values {
		out[s.Fields[i].Name] = valueOf(t, v.Text())
	}
	return out, nil
}

func valueOf(t *testing.T, text []byte) (v any) {
	t.Helper()
	if text == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// stricter reports whether we deliberately reject what the library accepts: texts that are not UTF-8, booleans of 2, blocks with false
// lengths, numbers that JSON does not have, depth.
func stricter(fault error, want any) bool {
	text := fault.Error()
	return strings.Contains(text, "invalid UTF-8") || strings.Contains(text, "a boolean is 0 or 1") || strings.Contains(text, "a block of") ||
		strings.Contains(text, "NaN") || strings.Contains(text, "are nested more than") || want == nil
}

// same compares JSON with what the library reads.
func same(t *testing.T, path string, got, want any) {
	t.Helper()
	fail := func() { t.Errorf("%s: got %v (%T), want %v (%T)", path, got, got, want, want) }
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			fail()
			return
		}
		for name := range w {
			same(t, path+"."+name, g[name], w[name])
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			fail()
			return
		}
		for i := range w {
			same(t, fmt.Sprintf("%s.%d", path, i), g[i], w[i])
		}
	case []byte:
		if got != base64.StdEncoding.EncodeToString(w) {
			fail()
		}
	case string:
		if got != w && utf8.ValidString(w) {
			fail()
		}
	case float32, float64, int, int32, int64:
		if n, ok := got.(json.Number); !ok || !numbersEqual(string(n), w) {
			fail()
		}
	default:
		if got != want {
			fail()
		}
	}
}

func numbersEqual(got string, want any) bool {
	switch w := want.(type) {
	case float32:
		return parsed(got) == float64(w)
	case float64:
		return parsed(got) == w || math.IsNaN(w)
	}
	return got == fmt.Sprint(want)
}

func parsed(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// agree checks the other library too: it must accept what one wrote.
func agree(t *testing.T, schema string, data []byte) {
	t.Helper()
	codec, err := goavro.NewCodec(schema)
	if err != nil {
		return // it does not support fixed of size 0
	}
	if _, rest, err := codec.NativeFromBinary(data); err != nil || len(rest) > 0 {
		t.Errorf("goavro refuses %x of %s: %v", data, schema, err)
	}
}

// alone reads each field without its neighbours.
func alone(t *testing.T, schema string, data []byte, tree any, want map[string]any) {
	t.Helper()
	s := schemaOf(t, schema)
	for _, f := range tree.(map[string]any)["fields"].([]any) {
		name := f.(map[string]any)["name"].(string)
		d := event.NewDecoder(event.Schema{Version: -1, Format: avro.Bare(s), Fields: []event.Field{{Name: name, Type: event.Nested}}})
		var b event.Batch
		if err := d.Decode(&event.Record{Value: data}, &b); err != nil {
			t.Fatalf("%s alone: %v", name, err)
		}
		got, _ := json.Marshal(valueOf(t, b.Events[0].Values[0].Text()))
		if all, _ := json.Marshal(want[name]); !bytes.Equal(got, all) {
			t.Errorf("%s alone is %s, with all others %s", name, got, all)
		}
	}
}
