package avro_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	twmb "github.com/twmb/avro"

	"brine/derive"
	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// keySchema is what Debezium registers for the key of a table with two columns in its primary key.
const keySchema = `{"type":"record","name":"Key","namespace":"s1.shop.orders","fields":[{"name":"id","type":"long"},
	{"name":"of","type":["null",{"type":"record","name":"Of","fields":[{"name":"site","type":"string"}]}],"default":null}],"connect.name":"s1.shop.orders.Key"}`

// inKey declares a field of the key; no path means all of it.
func inKey(typ event.Type, path ...string) event.Field {
	return event.Field{Name: strings.Join(append([]string{"k"}, path...), "_"), Type: typ, Place: event.InKey, Path: path}
}

// keyed returns the schema of a topic whose records without a value are deletes of what their Avro key names.
func keyed(f event.Format, fields ...event.Field) event.Schema {
	return event.Schema{Version: -1, Format: f, KeyFormat: f, Tombstones: true, Images: event.Images{Deleted: "gone"},
		Fields: append(fields, event.Field{Name: "gone", Type: event.Bool})}
}

func keyOf(t testing.TB, id byte, schema string, value any) []byte {
	t.Helper()
	key, err := twmb.MustParse(schema).AppendEncode([]byte{0, 0, 0, 0, id}, value)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// tried returns the fields of a record without a value, or why it has none.
func tried(t *testing.T, s event.Schema, rec *event.Record) string {
	t.Helper()
	d := event.NewDecoder(s)
	if got := oneOf(t, d, rec); strings.Contains(got, ": ") {
		return got
	}
	var b event.Batch
	if err := d.Decode(rec, &b); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range b.Events[0].Values {
		out = append(out, shown(v))
	}
	return strings.Join(out, " ")
}

// TestKeys checks that keys are read as values are, each by the schema that it names, and rejected as they are.
func TestKeys(t *testing.T) {
	s := newShelf()
	s.add(1, "orders-key", keySchema)
	s.add(2, "names-key", `"string"`)
	s.add(3, "numbers-key", `["null","long"]`)
	s.add(4, "other-key", `{"type":"record","name":"Other","fields":[{"name":"x","type":"string"}]}`)
	s.err[6] = &registry.Error{Outcome: registry.Unknown, Cause: "no"}
	s.err[7] = &registry.Error{Outcome: registry.Retry, Cause: "away"}
	s.err[8] = &registry.Error{Outcome: registry.Denied, Cause: "no entry"}
	order := keyOf(t, 1, keySchema, map[string]any{"id": int64(7), "of": map[string]any{"site": "Oslo"}})
	alone := keyOf(t, 1, keySchema, map[string]any{"id": int64(7), "of": nil})
	name := keyOf(t, 2, `"string"`, "ann")
	id, site := inKey(event.Int, "id"), inKey(event.Text, "of", "site")
	header := func(name string, value ...byte) event.Header { return event.Header{Key: name, Value: value} }
	for _, c := range []struct {
		name    string
		key     []byte
		headers []event.Header
		fields  []event.Field
		want    string
	}{
		{"fields", order, nil, []event.Field{id, site}, "7 Oslo true"},
		{"a field that is null", alone, nil, []event.Field{id, site}, "7 null true"},
		{"a single value", name, nil, []event.Field{inKey(event.Text)}, "ann true"},
		{"a single number", keyOf(t, 3, `["null","long"]`, int64(5)), nil, []event.Field{inKey(event.Int)}, "5 true"},
		{"no number", keyOf(t, 3, `["null","long"]`, nil), nil, []event.Field{inKey(event.Int)}, "null true"},
		{"all of a record", order, nil, []event.Field{inKey(event.Nested)}, `{"id":7,"of":{"site":"Oslo"}} true`},
		{"no key", nil, nil, []event.Field{id}, "null true"},
		{"an id in the key's header, not in the value's", order[5:], []event.Header{header("__value_schema_id", 0, 0, 0, 0, 2),
			header("__key_schema_id", 0, 0, 0, 0, 1)}, []event.Field{id}, "7 true"},
		{"a value's header names no key", order[5:], []event.Header{header("__value_schema_id", 0, 0, 0, 0, 1)}, []event.Field{id},
			"undecodable: field $key: the key begins with 0e02084f736c6f, not with 00 and a schema id"},
		{"a header that is no id", order[5:], []event.Header{header("__key_schema_id", 9)}, []event.Field{id},
			"undecodable: field $key: the header __key_schema_id holds 09"},
		{"another schema", keyOf(t, 4, s.schemas[4].Text, map[string]any{"x": "y"}), nil, []event.Field{id}, "null true"},
		{"a record for a single value", order, nil, []event.Field{inKey(event.Text)}, "wrong_type: field $key: a string is expected, found an object"},
		{"a single value for a record", name, nil, []event.Field{id}, "wrong_type: field $key: an object is expected, found a string"},
		{"another type", order, nil, []event.Field{inKey(event.Bool, "id")}, "wrong_type: field $key.id: a bool is expected, found a number; " +
			"it was written with the schema of id 1 (orders-key v1)"},
		{"cut off", order[:len(order)-1], nil, []event.Field{id}, "undecodable: field $key.of.site: "},
		{"too long", append(order[:len(order):len(order)], 0), nil, []event.Field{id}, "undecodable: field $key: 1 bytes follow"},
		{"another magic byte", []byte("7"), nil, []event.Field{id}, "undecodable: field $key: the key begins with 37"},
		{"an id cut off", []byte{0, 0}, nil, []event.Field{id}, "undecodable: field $key: the key ends within the id"},
		{"an unknown id", []byte{0, 0, 0, 0, 6}, nil, []event.Field{id}, "unknown_schema: field $key: "},
		{"an outage", []byte{0, 0, 0, 0, 7}, nil, []event.Field{id}, fmt.Sprintf("verdict %v, unavailable: ", event.Retry)},
		{"no access", []byte{0, 0, 0, 0, 8}, nil, []event.Field{id}, fmt.Sprintf("verdict %v, denied: ", event.Halt)},
	} {
		got := tried(t, keyed(avro.Registered(registry.Confluent, s), c.fields...), &event.Record{Key: c.key, Headers: c.headers, Timestamp: 1})
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	framed := keyed(avro.Framed(registry.Apicurio8, schemaOf(t, keySchema)), id)
	for key, want := range map[string]string{"\x00\x00\x00\x00\x00\x00\x00\x00\x09" + string(order[5:]): "7 true", "\x00\x00": "undecodable: field $key: the key ends"} {
		if got := tried(t, framed, &event.Record{Key: []byte(key), Timestamp: 1}); !strings.HasPrefix(got, want) {
			t.Errorf("one schema behind any id: %s, want %s", got, want)
		}
	}
}

// TestKeysThatBreak checks that a key's schema is compared with the fields in keys, as a value's is with the others.
func TestKeysThatBreak(t *testing.T) {
	s := newShelf()
	s.add(1, "orders-key", keySchema)
	s.add(2, "orders-value", one(`"string"`))
	schema := keyed(avro.Registered(registry.Confluent, s), inKey(event.Bool, "id"), event.Field{Name: "f", Type: event.Text})
	schema.HaltBreaking = true
	rec := recordOf(2, "\x04ab")
	rec.Key = keyOf(t, 1, keySchema, map[string]any{"id": int64(7), "of": nil})
	for _, want := range []string{
		"field $key.id: it is long in the schema, but declared bool; it is the schema of id 1 (orders-key v1)",
		"field $key: the schema of id 1 (orders-key v1) cannot be used: ",
	} {
		d := event.NewDecoder(schema)
		if err := d.Resolve(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		err := d.Decode(rec, new(event.Batch))
		reject, ok := errors.AsType[*event.Error](err)
		if !ok || !reject.Halts || !strings.HasPrefix(err.Error(), "breaking_schema: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
		s.add(1, "orders-key", "{")
	}
}

func TestKeysAllocateNothing(t *testing.T) {
	s := newShelf()
	s.add(1, "orders-key", keySchema)
	s.add(2, "orders-value", one(`"string"`))
	rec := recordOf(2, "\x04ab")
	rec.Key = keyOf(t, 1, keySchema, map[string]any{"id": int64(7), "of": nil})
	rec.Headers = []event.Header{{Key: "trace", Value: []byte("1")}}
	d := event.NewDecoder(keyed(avro.Registered(registry.Confluent, s), inKey(event.Int, "id"), event.Field{Name: "f", Type: event.Text}))
	allocatesNothing(t, d, rec)
}

// lone is a registry that has one schema, with id 1.
type lone struct{}

func (lone) Schema(_ context.Context, id registry.ID) (*registry.Schema, error) {
	if id != (registry.ID{Kind: registry.Number, Number: 1}) {
		return nil, &registry.Error{Outcome: registry.Unknown, ID: id, Cause: "no"}
	}
	return &registry.Schema{ID: id, Type: registry.Avro, Text: keySchema}, nil
}

// FuzzKeys checks that any bytes have the same outcome as a key and as a value: the same fields, or the same reject.
func FuzzKeys(f *testing.F) {
	order := keyOf(f, 1, keySchema, map[string]any{"id": int64(7), "of": map[string]any{"site": "Oslo"}})
	for end := range len(order) + 1 {
		f.Add(order[:end], []byte(nil))
		f.Add(order[5:], order[:end])
	}
	f.Fuzz(func(t *testing.T, data, header []byte) {
		if len(data) == 0 {
			return // a record without a key has null fields, one without a value none
		}
		format := avro.Registered(registry.Confluent, lone{})
		asKey, asValue := &event.Record{Key: data, Timestamp: 1}, &event.Record{Value: data, Timestamp: 1}
		if header != nil {
			asKey.Headers = []event.Header{{Key: "__key_schema_id", Value: header}}
			asValue.Headers = []event.Header{{Key: "__value_schema_id", Value: header}}
		}
		fields := []event.Field{inKey(event.Int, "id"), inKey(event.Text, "of", "site")}
		got := outcomeOf(t, keyed(format, fields...), asKey)
		for i := range fields {
			fields[i].Place = event.InValue
		}
		want := outcomeOf(t, event.Schema{Version: -1, Format: format, Fields: fields}, asValue)
		got = strings.NewReplacer("__key_", "__value_", "the key ", "the value ", "field $key: ", "", "$key.", "", "an object", "a record").Replace(got)
		if want = strings.ReplaceAll(want, "an object", "a record"); got != want {
			t.Errorf("%x with header %x:\nas a key   %s\nas a value %s", data, header, got, want)
		}
	})
}

// outcomeOf returns the first two fields of a record, or why it has none.
func outcomeOf(t *testing.T, s event.Schema, rec *event.Record) string {
	t.Helper()
	d := event.NewDecoder(s)
	if err := d.Resolve(t.Context(), rec); err != nil {
		return err.Error()
	}
	var b event.Batch
	if err := d.Decode(rec, &b); err != nil {
		return err.Error()
	}
	return fmt.Sprint(shown(b.Events[0].Values[0]), " ", shown(b.Events[0].Values[1]))
}

// TestKeysAreFixed checks that the fix of a dead letter is applied to what an Avro key holds, be it a single value or a field.
func TestKeysAreFixed(t *testing.T) {
	s := newShelf()
	s.add(1, "orders-key", keySchema)
	s.add(2, "names-key", `"string"`)
	for _, c := range []struct {
		field     event.Field
		key       []byte
		fix, want string
	}{
		{inKey(event.Int), keyOf(t, 2, `"string"`, "7"), "int(k)", "7 true"},
		{inKey(event.Text), keyOf(t, 2, `"string"`, "ann"), `k + "a"`, "anna true"},
		{inKey(event.Text, "id"), keyOf(t, 1, keySchema, map[string]any{"id": int64(7), "of": nil}), `"no " + k_id`, "no 7 true"},
	} {
		schema := keyed(avro.Registered(registry.Confluent, s), c.field)
		x := &event.Fix{Fields: []int{0}}
		b := derive.New(x.Declared(schema.Fields))
		if err := b.Fix(c.field.Name, c.field.Type, "--let "+c.field.Name, c.fix); err != nil {
			t.Fatal(err)
		}
		x.Deriver = b.Rules()
		schema.Fix = x
		if got := tried(t, schema, &event.Record{Key: c.key, Timestamp: 1}); got != c.want {
			t.Errorf("%s: got %s, want %s", c.fix, got, c.want)
		}
	}
}
