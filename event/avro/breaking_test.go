package avro_test

import (
	"strings"
	"testing"

	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// Schemas that cannot be read into the declared fields halt if that is configured, before any of their records becomes a dead letter.
// Schemas that can be read never halt.
func TestBreakingSchemas(t *testing.T) {
	const id, total = `{"name":"id","type":"string"}`, `{"name":"total","type":"long"}`
	fields := event.Schema{Version: -1, Needed: []int{0}, Fields: []event.Field{{Name: "id", Type: event.Text}, {Name: "total", Type: event.Int}}}
	row := event.Schema{Version: -1, Needed: []int{0, 1}, Fields: []event.Field{
		{Name: "id", Type: event.Text}, {Name: "at", Type: event.Int, Path: []string{"$source", "lsn"}}}}
	debezium := (&event.Envelope{Form: event.Debezium}).Wrap(row)
	change := func(columns string) string {
		return `[{"name":"before","type":["null",{"type":"record","name":"V","fields":[` + columns + `]}]},{"name":"after","type":["null","V"]},` +
			`{"name":"op","type":"string"},{"name":"source","type":{"type":"record","name":"S","fields":[{"name":"lsn","type":"long"}]}}]`
	}
	for _, c := range []struct {
		name, of string
		schema   event.Schema
		want     string // empty: it can be read
	}{
		{"the same", "[" + id + "," + total + "]", fields, ""},
		{"a field is new", "[" + id + `,{"name":"new","type":"bytes"},` + total + "]", fields, ""},
		{"one is gone that nothing needs", "[" + id + "]", fields, ""},
		{"one is narrowed, which loses nothing", "[" + id + `,{"name":"total","type":"int"}]`, fields, ""},
		{"one may be null", "[" + id + `,{"name":"total","type":["null","long"]}]`, fields, ""},
		{"one is always null", "[" + id + `,{"name":"total","type":"null"}]`, fields, ""},
		{"one has another type", "[" + id + `,{"name":"total","type":"string"}]`, fields, "total: it is string in the schema, but declared int"},
		{"one of the key is gone", "[" + total + "]", fields, "id: the schema has nothing there, but every record needs it"},
		{"one of the key has another name and an alias", `[{"name":"key","aliases":["id"],"type":"string"}]`, fields, ""},
		{"one of the key is always null", `[{"name":"id","type":"null"}]`, fields, "id: the schema has nothing there, but every record needs it"},
		{"it is none", `nothing`, fields, "the schema of id 1 (orders-value v1) cannot be used"},
		{"a change", change(id), debezium, ""},
		{"a change without the key", change(total), debezium, "after.id: the schema has nothing there, but every record needs it"},
		{"no change at all", `[{"name":"ts_ms","type":"long"}]`, debezium, ""},
		{"no change, and none of the envelope", `[{"name":"id","type":"string"},{"name":"status","type":"string"}]`, debezium, ""},
	} {
		for _, halt := range []bool{true, false} {
			s := newShelf()
			s.add(1, "orders-value", `{"type":"record","name":"Order","fields":`+c.of+`}`)
			schema := c.schema
			schema.Format, schema.HaltBreaking = avro.Registered(registry.Confluent, s), halt
			d, rec, b := event.NewDecoder(schema), recordOf(1, "\xff"), new(event.Batch)
			if err := d.Resolve(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			err := d.Decode(rec, b).(*event.Error) //nolint:errorlint // the record fits no schema, and Decode does not wrap
			if halts := halt && c.want != ""; err.Halts != halts || (err.Reason == event.BreakingSchema) != halts {
				t.Errorf("%s: %v, halts: %v, want %v", c.name, err, err.Halts, halts)
				continue
			}
			if err.Halts && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "id 1 (orders-value v1)")) {
				t.Errorf("%s: got %v\nwant %s", c.name, err, c.want)
			}
		}
	}
}

// Undeclared names in the writer's schema are counted, also within nested records.
func TestUndeclaredFields(t *testing.T) {
	schema := schemaOf(t, `{"type":"record","name":"R","fields":[{"name":"x","type":"long"},{"name":"f","type":"string"},
		{"name":"to","type":{"type":"record","name":"To","fields":[{"name":"city","type":"string"},{"name":"zip","type":"string"}]}}]}`)
	u := new(event.Undeclared)
	d := event.NewDecoder(event.Schema{Version: -1, Undeclared: u, Format: avro.Bare(schema),
		Fields: []event.Field{{Name: "f", Type: event.Text}, {Name: "city", Type: event.Text, Path: []string{"to", "city"}}}})
	if err := d.Decode(&event.Record{Value: []byte("\x02\x02a\x02b\x02c")}, new(event.Batch)); err != nil {
		t.Fatal(err)
	}
	if c := u.Counts(); c.Looked != 1 || len(c.Names) != 2 || c.Names["x"] != 1 || c.Names["to.zip"] != 1 {
		t.Errorf("%+v", c)
	}
}
