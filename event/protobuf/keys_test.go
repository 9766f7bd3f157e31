package protobuf

import (
	"context"
	"strings"
	"testing"

	"brine/event"
	"brine/registry"
)

const (
	keyText   = `syntax = "proto3"; package shop; message Other { string name = 1; } message Key { int64 id = 1; message Of { optional string site = 1; } Of of = 2; }`
	valueText = `syntax = "proto3"; message Value { string f = 1; }`
)

// pair is a registry of two schemas, with the ids 1 (of keys) and 2 (of values).
type pair struct{}

func (pair) Schema(_ context.Context, id registry.ID) (*registry.Schema, error) {
	text, ok := map[int64]string{1: keyText, 2: valueText}[id.Number]
	if !ok || id.Kind != registry.Number {
		return nil, &registry.Error{Outcome: registry.Unknown, ID: id, Cause: "no"}
	}
	return &registry.Schema{ID: id, Type: registry.Protobuf, Text: text}, nil
}

// inKeys returns the fields with places in keys.
func inKeys(fields []event.Field) (out []event.Field) {
	for _, f := range fields {
		f.Place, f.Path = event.InKey, f.Keys()
		out = append(out, f)
	}
	return out
}

// Keys of both framings allocate nothing once a batch has its size.
func TestKeysAllocateNothing(t *testing.T) {
	order, value := body(t, keyText, "Key", `id:7 of:{site:"Oslo"}`), frame(2, []byte{0}, body(t, valueText, "Value", `f:"ab"`))
	fields := append(inKeys(declare(t, "id int\nsite text of.site")), declare(t, "f text")...)
	for name, rec := range map[string]*event.Record{
		"by its frame": {Key: frame(1, []byte{2, 2}, order), Value: value, Timestamp: 1e12, Headers: []event.Header{{Key: "trace", Value: []byte("1")}}},
		"by its header": {Key: order, Value: value, Timestamp: 1e12,
			Headers: []event.Header{{Key: "__key_schema_id", Value: []byte{0, 0, 0, 0, 1, 2, 2}}}},
	} {
		format := Registered(registry.Confluent, pair{})
		batch := new(event.Batch)
		n := allocsForTen(t, event.Schema{Fields: fields, Version: -1, Format: format, KeyFormat: format}, rec, batch)
		if v := batch.Events[0].Values; v[0].Int() != 7 || string(v[1].Text()) != "Oslo" || string(v[2].Text()) != "ab" {
			t.Errorf("%s: %s %s %s", name, show(v[0]), show(v[1]), show(v[2]))
		}
		if n > 0 {
			t.Errorf("%s: %.1f allocations for ten events", name, n)
		}
	}
}

// FuzzKeys checks that any bytes have the same outcome as a key and as a value: the same fields, or the same reject.
func FuzzKeys(f *testing.F) {
	order := body(f, keyText, "Key", `id:7 of:{site:"Oslo"}`)
	framed := frame(1, []byte{2, 2}, order)
	for end := range len(framed) + 1 {
		f.Add(framed[:end], []byte(nil))
		f.Add(order, framed[:end])
	}
	values := declare(f, "id int\nsite text of.site")
	keys := inKeys(values)
	format := Registered(registry.Confluent, pair{}) // once, because it compiles the schemas
	f.Fuzz(func(t *testing.T, data, header []byte) {
		if len(data) == 0 {
			return // a record without a key has null fields, one without a value none
		}
		asKey, asValue := &event.Record{Key: data, Timestamp: 1e12}, &event.Record{Value: data, Timestamp: 1e12}
		if header != nil {
			asKey.Headers = []event.Header{{Key: "__key_schema_id", Value: header}}
			asValue.Headers = []event.Header{{Key: "__value_schema_id", Value: header}}
		}
		got := outcomeOf(event.Schema{Version: -1, KeyFormat: format, Tombstones: true, Images: event.Images{Deleted: "gone"},
			Fields: append(keys[:len(keys):len(keys)], event.Field{Name: "gone", Type: event.Bool})}, asKey)
		want := outcomeOf(event.Schema{Version: -1, Format: format, Fields: values}, asValue)
		got = strings.NewReplacer("__key_", "__value_", "the key ", "the value ", "field $key: ", "", "$key.", "").Replace(got)
		if got != want {
			t.Errorf("%x with header %x:\nas a key   %s\nas a value %s", data, header, got, want)
		}
	})
}

// outcomeOf returns the first two fields of a record, or why it has none.
func outcomeOf(s event.Schema, rec *event.Record) string {
	d, b := event.NewDecoder(s), new(event.Batch)
	if err := d.Resolve(context.Background(), rec); err != nil {
		return err.Error()
	}
	if err := d.Decode(rec, b); err != nil {
		return err.Error()
	}
	return show(b.Events[0].Values[0]) + " " + show(b.Events[0].Values[1])
}
