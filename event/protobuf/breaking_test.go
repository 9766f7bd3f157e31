package protobuf

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/event"
	"brine/registry"
)

// onlySchema is the schema for every id.
type onlySchema string

func (s onlySchema) Schema(_ context.Context, id registry.ID) (*registry.Schema, error) {
	return &registry.Schema{ID: id, Type: registry.Protobuf, Text: string(s), Subjects: []registry.Subject{{Name: "orders-value", Version: 2}}}, nil
}

// Schemas that cannot be read into the declared fields halt if that is configured; schemas that can be read never do.
func TestBreakingSchemas(t *testing.T) {
	fields := declare(t, "id text\ntotal int\ncity text at.city")
	for _, c := range []struct{ name, message, want string }{
		{"the same", `string id = 1; int64 total = 2; Place at = 3;`, ""},
		{"other numbers, and one more", `string id = 7; Place at = 2; int64 more = 3; int64 total = 9;`, ""},
		{"narrowed, which loses nothing", `string id = 1; int32 total = 2;`, ""},
		{"one is gone that nothing needs", `string id = 1;`, ""},
		{"another type", `string id = 1; string total = 2;`, "total: the field is declared int, but total of the message is string"},
		{"repeated now", `string id = 1; repeated int64 total = 2;`, "total: the field is declared int, but total of the message is repeated int64"},
		{"one of the key is gone", `int64 total = 2;`, `id: the field is not in the schema: message Order has no "id", but every record needs it`},
		{"it does not compile", `Nowhere id = 1;`, "cannot be used: schema.proto:1:"},
	} {
		for _, halt := range []bool{true, false} {
			text := onlySchema(`syntax = "proto3"; message Order { ` + c.message + ` } message Place { string city = 1; }`)
			d := event.NewDecoder(event.Schema{Fields: fields, Version: -1, Needed: []int{0}, HaltBreaking: halt,
				Format: Registered(registry.Confluent, text)})
			rec := &event.Record{Value: frame(5, []byte{0}, []byte{8})}
			if err := d.Resolve(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			err := d.Decode(rec, new(event.Batch)).(*event.Error) //nolint:errorlint // the record ends early, whatever its schema
			if halts := halt && c.want != ""; err.Halts != halts || (err.Reason == event.BreakingSchema) != halts {
				t.Errorf("%s: %v, halts: %v, want %v", c.name, err, err.Halts, halts)
				continue
			}
			if err.Halts && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "id 5 (orders-value v2)")) {
				t.Errorf("%s: got %v\nwant %s", c.name, err, c.want)
			}
		}
	}
}

// Undeclared fields are counted by name, or by number if the schema does not know them.
func TestUndeclaredFields(t *testing.T) {
	m := order(t)
	u := new(event.Undeclared)
	d := event.NewDecoder(event.Schema{Fields: declare(t, "id text\nsku text first.sku"), Version: -1, Format: m, Undeclared: u})
	value := append(encode(t, m, `id:"a" i64:1 words:"x" words:"y" first:{sku:"s" pieces:2}`), 0xf8, 0x7f, 1) // number 2047
	if err := d.Decode(&event.Record{Value: value}, new(event.Batch)); err != nil {
		t.Fatal(err)
	}
	want := event.UndeclaredCounts{Looked: 1, Names: map[string]int64{"i64": 1, "words": 1, "first.pieces": 1, "#2047": 1}}
	if diff := cmp.Diff(want, u.Counts()); diff != "" {
		t.Error(diff)
	}
}
