package avro_test

import (
	"strings"
	"testing"

	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
)

const placeholder = "__debezium_unavailable_value"

// TestUnavailableInAvro checks that no form in which Debezium says that it has no value of a column is written, whether a field holds the
// column or only a part of it.
func TestUnavailableInAvro(t *testing.T) {
	codes, longs := make([]any, len(placeholder)), make([]any, len(placeholder))
	for i := range placeholder {
		codes[i], longs[i] = int32(placeholder[i]), int64(placeholder[i])
	}
	const optional = `["null","string"]`
	for _, c := range []struct {
		typ            string
		lacking, known any
		want           string // known as JSON
	}{
		{`"string"`, placeholder, `{"a":1}`, `"{\"a\":1}"`},
		{`{"type":"string","connect.name":"io.debezium.data.Json"}`, placeholder, "{}", `"{}"`},
		{`"string"`, "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==", "", `""`},
		{`"string"`, "5f5f646562657a69756d5f756e617661696c61626c655f76616c7565", "5f", `"5f"`},
		{`"string"`, `{"` + placeholder + `":"` + placeholder + `"}`, `{"0":"x"}`, `"{\"0\":\"x\"}"`},
		{`"bytes"`, []byte(placeholder), []byte("ab"), `"YWI="`},
		{`{"type":"array","items":` + optional + `}`, []any{placeholder}, []any{"x", placeholder}, `["x","` + placeholder + `"]`},
		{`{"type":"array","items":` + optional + `}`, []any{placeholder}, []any{placeholder, "x"}, `["` + placeholder + `","x"]`},
		{`{"type":"array","items":` + optional + `}`, []any{"b68a35a7-17ad-35b3-af2a-ae46edb4545a"}, []any{}, `[]`},
		{`{"type":"array","items":["null","bytes"]}`, []any{[]byte(placeholder)}, []any{[]byte("ab")}, `["YWI="]`},
		{`{"type":"array","items":["null","int"]}`, codes, []any{int32(95)}, `[95]`},
		{`{"type":"array","items":["null",{"type":"int","connect.name":"io.debezium.time.Date"}]}`, codes, codes[:27], "[95,95,100"},
		{`{"type":"array","items":["null","long"]}`, longs, append(longs[:27:27], int64(102)), "[95,95,100"},
		{`{"type":"array","items":["null","double"]}`, nil, make([]any, 28), "[null,null"},
		{`{"type":"map","values":` + optional + `}`, map[string]any{placeholder: placeholder}, map[string]any{"0": "x"}, `{"0":"x"}`},
	} {
		text := `{"type":"record","name":"Envelope","fields":[
			{"name":"before","type":["null",{"type":"record","name":"Value","fields":[{"name":"c","type":["null",` + c.typ + `]},{"name":"id","type":"long"}]}]},
			{"name":"after","type":["null","Value"]},{"name":"op","type":"string"}]}`
		row := func(value any) any { return map[string]any{"c": value, "id": int64(1)} }
		outcome := func(e event.Envelope, before, after any, fields ...event.Field) string {
			t.Helper()
			e.Form = event.Debezium
			value, err := twmb.MustParse(text).Encode(map[string]any{"before": before, "after": after, "op": "u"})
			if err != nil {
				t.Fatal(err)
			}
			s := e.Wrap(event.Schema{Fields: fields, Version: -1, Format: avro.Bare(schemaOf(t, text))})
			if err := s.Validate(); err != nil {
				t.Fatal(err)
			}
			var b event.Batch
			if err := event.NewDecoder(s).Decode(&event.Record{Value: value, Timestamp: 1}, &b); err != nil {
				return err.Error()
			}
			out := ""
			for _, v := range b.Events[0].Values {
				out += shown(v) + " "
			}
			return out
		}
		check := func(got, want string) {
			t.Helper()
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s %v\ngot  %s\nwant %s", c.typ, c.lacking, got, want)
			}
		}
		id, whole, part := event.Field{Name: "id", Type: event.Int}, event.Field{Name: "c", Type: event.Nested}, event.Field{Name: "p", Type: event.Text,
			Numbers: true, Path: []string{"c", "0"}}
		keyOnly := event.Envelope{Keys: []string{"id"}}
		partial := event.Envelope{Keys: []string{"id"}, Partial: true}
		check(outcome(partial, nil, row(c.known), id, whole), "1 "+c.want)
		if c.lacking == nil {
			continue
		}
		const reject = "missing_field: field after.c: the database did not send the column"
		for _, f := range []event.Field{whole, part} {
			if f.Name == "p" && c.typ == `"bytes"` {
				continue
			}
			check(outcome(keyOnly, nil, row(c.lacking), id, f), reject)
			check(outcome(partial, nil, row(c.lacking), id, f), "1 null ")
			check(outcome(event.Envelope{}, row(c.lacking), row(c.lacking), id, f), reject)
		}
		check(outcome(event.Envelope{}, row(c.known), row(c.lacking), id, whole), "1 "+c.want)
	}
}
