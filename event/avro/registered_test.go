package avro_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// shelf returns schemas by number.
type shelf struct {
	schemas map[int64]*registry.Schema
	err     map[int64]error
	asked   int
}

func (s *shelf) Schema(ctx context.Context, id registry.ID) (*registry.Schema, error) {
	s.asked++
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.err[id.Number]; err != nil {
		return nil, err
	}
	return s.schemas[id.Number], nil
}

func (s *shelf) add(id int64, subject, text string) {
	s.schemas[id] = &registry.Schema{ID: registry.ID{Kind: registry.Number, Number: id}, Type: registry.Avro, Text: text,
		Subjects: []registry.Subject{{Name: subject, Version: 1}}}
}

func newShelf() *shelf {
	return &shelf{schemas: map[int64]*registry.Schema{}, err: map[int64]error{}}
}

func recordOf(id byte, body string) *event.Record {
	return &event.Record{Value: append([]byte{0, 0, 0, 0, id}, body...), Timestamp: 1}
}

var fieldF = event.Schema{Version: -1, Fields: []event.Field{{Name: "f", Type: event.Text}}}

// oneOf resolves and decodes a record.
func oneOf(t *testing.T, d *event.Decoder, rec *event.Record) string {
	t.Helper()
	if err := d.Resolve(t.Context(), rec); err != nil {
		var u *event.Unresolved
		if !errors.As(err, &u) {
			t.Fatal(err)
		}
		return fmt.Sprintf("verdict %v, %s: %v", u.Verdict, u.Reason, u)
	}
	var b event.Batch
	if err := d.Decode(rec, &b); err != nil {
		return err.Error()
	}
	return shown(b.Events[0].Values[0])
}

func TestRegistered(t *testing.T) {
	s := newShelf()
	s.add(1, "a-value", one(`"string"`))
	s.add(2, "b-value", `{"type":"record","name":"Other","fields":[{"name":"x","type":"string"}]}`)
	s.add(3, "c-value", `{"type":"nothing"}`)
	s.add(4, "d-value", one(`"long"`))
	s.add(5, "p-value", `syntax = "proto3";`)
	s.schemas[5].Type = registry.Protobuf
	id := registry.ID{Kind: registry.Number, Number: 6}
	s.err[6] = &registry.Error{Outcome: registry.Unknown, ID: id, URL: "http://r/schemas/ids/6", Status: 404, Cause: "no"}
	s.err[7] = &registry.Error{Outcome: registry.Retry, ID: id, Cause: "away"}
	s.err[8] = &registry.Error{Outcome: registry.Denied, ID: id, Cause: "no entry"}
	fields := fieldF
	fields.Format = avro.Registered(registry.Confluent, s)
	d := event.NewDecoder(fields)
	for _, c := range []struct {
		rec  *event.Record
		want string
	}{
		{recordOf(1, "\x04ab"), "ab"},
		{recordOf(2, "\x04ab"), "null"}, // another subject's, with a different field
		{recordOf(4, "\x02"), "wrong_type: field f: a string is expected, found a number; it was written with the schema of id 4 (d-value v1)"},
		{recordOf(1, "\x08ab"), "undecodable: field f: a string of 4 bytes at byte 1, but the record ends after 2; it was written with the schema of id 1 (a-value v1)"},
		{recordOf(3, ""), "undecodable: the schema of id 3 (c-value v1) cannot be used: "},
		{recordOf(5, ""), "undecodable: the schema of id 5 (p-value v1) cannot be used: it is of type PROTOBUF, but the format is avro"},
		{recordOf(6, ""), "unknown_schema: schema registry: schema of id 6 is unknown: GET http://r/schemas/ids/6: status 404: no"},
		{recordOf(7, ""), "verdict " + fmt.Sprint(event.Retry) + ", unavailable: schema registry:"},
		{recordOf(8, ""), "verdict " + fmt.Sprint(event.Halt) + ", denied: schema registry:"},
		{&event.Record{Value: []byte("{}")}, "undecodable: the value begins with 7b7d, not with 00 and a schema id"},
		{&event.Record{Value: []byte{0, 0}}, "undecodable: the value ends within the id"},
		{&event.Record{}, "undecodable: the record has no value"},
		{&event.Record{Value: []byte("\x04cd"), Headers: []event.Header{{Key: "__value_schema_id", Value: []byte{0, 0, 0, 0, 9}},
			{Key: "__value_schema_id", Value: []byte{0, 0, 0, 0, 1}}}}, "cd"},
	} {
		if got := oneOf(t, d, c.rec); got != c.want && (len(c.want) < 20 || !strings.Contains(got, c.want)) {
			t.Errorf("%x: got %s, want %s", c.rec.Value, got, c.want)
		}
	}
	// Known schemas need no registry; an unknown one is asked for again, and found.
	asked := s.asked
	if got := oneOf(t, d, recordOf(1, "\x04ab")); got != "ab" || s.asked != asked {
		t.Errorf("%s, asked %d times more", got, s.asked-asked)
	}
	delete(s.err, 6)
	s.add(6, "e-value", one(`"string"`))
	if got := oneOf(t, d, recordOf(6, "\x04ef")); got != "ef" {
		t.Errorf("an id that was unknown: %s", got)
	}
}

// TestPlansAreBounded reads thousands of schemas and unknown ids, and then the first of them again.
func TestPlansAreBounded(t *testing.T) {
	s := newShelf()
	for id := range int64(600) {
		s.add(id, "s", one(`"string"`))
	}
	fields := fieldF
	fields.Format = avro.Registered(registry.Confluent, s)
	d := event.NewDecoder(fields)
	for id := range 600 {
		rec := recordOf(byte(id), "\x02x")
		rec.Value[3] = byte(id >> 8)
		if got := oneOf(t, d, rec); got != "x" {
			t.Fatalf("id %d: %s", id, got)
		}
	}
	for id := range 1200 {
		s.err[int64(5000+id)] = &registry.Error{Outcome: registry.Unknown}
		rec := &event.Record{Value: []byte{0, 0, 0, byte((5000 + id) >> 8), byte(5000 + id)}}
		if got := oneOf(t, d, rec); !strings.HasPrefix(got, "unknown_schema") {
			t.Fatalf("id %d: %s", id, got)
		}
	}
	if got := oneOf(t, d, recordOf(0, "\x02x")); got != "x" {
		t.Error(got)
	}
}

func TestRegisteredAllocatesNothing(t *testing.T) {
	s := newShelf()
	s.add(1, "flat-value", flatSchema)
	value, err := twmb.MustParse(flatSchema).Encode(flat)
	if err != nil {
		t.Fatal(err)
	}
	rec := recordOf(1, string(value))
	rec.Timestamp = 1357034220000
	rec.Headers = []event.Header{{Key: "trace", Value: []byte("1")}}
	fields := flatFields
	fields.Format = avro.Registered(registry.Confluent, s)
	d := event.NewDecoder(fields)
	allocatesNothing(t, d, rec)
}

// allocatesNothing checks that events of a record allocate nothing but, now and then, memory of their batch.
func allocatesNothing(t *testing.T, d *event.Decoder, rec *event.Record) {
	t.Helper()
	var batch event.Batch
	n := testing.AllocsPerRun(100, func() {
		d.Reset(&batch)
		for range 10 {
			if err := d.Resolve(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(rec, &batch); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n > 1 {
		t.Errorf("%.1f allocations for 10 events", n)
	}
}

func TestFramed(t *testing.T) {
	fields := fieldF
	fields.Format = avro.Framed(registry.Confluent, schemaOf(t, one(`"string"`)))
	d := event.NewDecoder(fields)
	for value, want := range map[string]string{"\x00\x00\x00\x00\x63\x04ab": "ab", "\x04ab": "undecodable: the value begins with 046162"} {
		if got := oneOf(t, d, &event.Record{Value: []byte(value)}); !strings.HasPrefix(got, want) {
			t.Errorf("%x: got %s, want %s", value, got, want)
		}
	}
}

func TestFits(t *testing.T) {
	s := schemaOf(t, orderSchema)
	for _, c := range []struct {
		field event.Field
		want  string
	}{
		{at("v", event.Text, "id"), ""},
		{at("v", event.Int, "user"), ""},
		{at("v", event.Text, "user"), "it is long in the schema, but declared text; declare it int"},
		{event.Field{Name: "user", Type: event.Text, Numbers: true}, ""},
		{at("v", event.Int, "at"), ""},
		{at("v", event.TimeMS, "at"), ""},
		{at("v", event.Bool, "at"), "it is long (timestamp in µs) in the schema, but declared bool; declare it time_us"},
		{at("v", event.Text, "remark"), ""},
		{at("v", event.Int, "remark"), "it is string in the schema, but declared int; declare it text"},
		{at("v", event.Text, "place"), "it is record shop.Place in the schema, but declared text; declare it json"},
		{at("v", event.Text, "place.city"), ""},
		{at("v", event.Text, "place.country"), "absent"},
		{at("v", event.Text, "lines.0.sku"), ""},
		{at("v", event.Text, "lines.sku"), "absent"},
		{at("v", event.Text, "tags.any"), ""},
		{at("v", event.Nested, "lines"), ""},
		{at("v", event.Float, "weight"), ""},
		{at("v", event.Int, "total"), "it is double in the schema, but declared int; declare it float"},
		{at("v", event.Text, "nothing"), "absent"},
	} {
		got := ""
		switch there, err := s.Fits(c.field); {
		case err != nil:
			got = err.Error()
		case !there:
			got = "absent"
		}
		if got != c.want {
			t.Errorf("%s %v: got %q, want %q", c.field.Type, c.field.Keys(), got, c.want)
		}
	}
}
