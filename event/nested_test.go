package event_test

import (
	"reflect"
	"testing"

	"brine/event"
)

var nestedSchema = event.Schema{Version: -1, Fields: []event.Field{{Name: "items", Type: event.Nested}, {Name: "id", Type: event.Int, Path: []string{"more", "id"}}}}

// The contents of a Nested are taken as they are, and come back unchanged from a cell and from both packings.
func TestNestedFields(t *testing.T) {
	for in, want := range map[string]event.Value{
		`{"items":[ {"a":1, "a":2} ,"é\u0041"],"more":{"id":7}}`: event.NestedValue(`[ {"a":1, "a":2} ,"é\u0041"]`),
		`{"items":{"b":{}}}`: event.NestedValue(`{"b":{}}`),
		`{"items":"x"}`:      event.NestedValue(`"x"`),
		`{"items":-1.50}`:    event.NestedValue(`-1.50`),
		`{"items":false}`:    event.NestedValue(`false`),
		`{"items":null}`:     {},
		`{}`:                 {},
	} {
		var b event.Batch
		if err := event.NewDecoder(nestedSchema).Decode(&event.Record{Value: []byte(in)}, &b); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		got := b.Events[0].Values[0]
		if got.Type != want.Type || string(got.Text()) != string(want.Text()) {
			t.Errorf("%s: %q", in, got.Text())
		}
		if back, err := event.ParseValue(event.Nested, event.AppendValue(nil, got)); !got.Null() && (err != nil || !reflect.DeepEqual(back, want)) {
			t.Errorf("%s: read back as %v, %v", in, back, err)
		}
		for _, packing := range []event.Packing{event.MessagePack, event.JSON} {
			pack := &event.Pack{Packing: packing, Fields: []event.PackedField{{Name: "i", Field: "items", Type: event.Nested}, {Name: "n", Field: "id", Type: event.Int}}}
			cell := newPacker(t, pack, nestedSchema).Append(nil, b.Events[0].Values)
			if len(cell) == 0 {
				continue
			}
			if values, err := event.NewUnpacker(pack).Unpack(cell); err != nil || !reflect.DeepEqual(values[0], want) {
				t.Errorf("%s: %s gave %v, %v", in, packing, values, err)
			}
		}
	}
}

func TestNestedIsStrictToo(t *testing.T) {
	for _, in := range []string{`{"items":[1,}`, `{"items":{"a":"` + "\xff" + `"}}`, `{"items":[1],"items":[1]}`} {
		var b event.Batch
		if err := event.NewDecoder(nestedSchema).Decode(&event.Record{Value: []byte(in)}, &b); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}
