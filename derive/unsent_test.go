package derive

import (
	"fmt"
	"strings"
	"testing"

	"brine/event"
)

// unsentSchema returns the schema of partial changes of a table with the columns id, name, body and n, some of them with expressions.
func unsentSchema(t *testing.T, when string, lets ...string) event.Schema {
	t.Helper()
	return unsentSchemaOf(t, []event.Field{{Name: "id", Type: event.Int}, {Name: "name", Type: event.Text}, {Name: "body", Type: event.Text},
		{Name: "n", Type: event.Int}, {Name: "from", Type: event.Text, Place: event.RecordTopic}}, when, lets...)
}

// unsentSchemaOf returns that of a table with other fields.
func unsentSchemaOf(t *testing.T, fields []event.Field, when string, lets ...string) event.Schema {
	t.Helper()
	e := &event.Envelope{Form: event.Debezium, Keys: []string{fields[0].Name}, Partial: true}
	b := New(fields)
	for _, l := range lets {
		name, text, _ := strings.Cut(l, "=")
		if setting, ok := strings.CutPrefix(name, "?"); ok {
			if err := b.Condition(setting, setting, text); err != nil {
				t.Fatal(err)
			}
		} else if _, err := b.Let(name, 0, "let."+name, text); err != nil {
			t.Fatal(err)
		}
	}
	if when != "" {
		if err := b.When("when", when); err != nil {
			t.Fatal(err)
		}
	}
	s := e.Wrap(event.Schema{Version: -1, Fields: b.Fields(), Derive: b.Rules()})
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// outcomeOf returns the values of the only event of a record, with the results of conditions, or why there is none.
func outcomeOf(d *event.Decoder, s event.Schema, value string) string {
	var b event.Batch
	if err := d.Decode(&event.Record{Topic: "t", Value: []byte(value), Timestamp: 1}, &b); err != nil {
		return err.Error()
	}
	ev := b.Events[0]
	if ev.LeftOut != "" {
		return string(ev.LeftOut)
	}
	var out []string
	for i, f := range s.Fields {
		switch v := ev.Values[i]; {
		case v.Unsent():
			out = append(out, f.Name+" unsent")
		case v.Null():
		case strings.HasPrefix(f.Name, "rows"):
			holds, err := ev.Holds(i)
			out = append(out, fmt.Sprint(f.Name, " ", holds, err))
		default:
			out = append(out, f.Name+" "+show(v))
		}
	}
	return strings.Join(out, ", ")
}

// TestExpressionsOnColumnsThatWereNotSent: what depends only on such columns has not changed, so it is not written; what may have changed,
// or cannot be decided, is not guessed.
func TestExpressionsOnColumnsThatWereNotSent(t *testing.T) {
	const (
		fix     = "; make it log whole rows (in Postgres REPLICA IDENTITY FULL)"
		unknown = "the database did not send body because it has not changed, so there is no result"
	)
	for _, c := range []struct {
		name, when string
		lets       []string
		lacking    string // with the body
		known      string // and without
	}{
		{"a let on it alone", "", []string{`short=body.substring(0, 1)`},
			`id 1, name "a", body unsent, n 2, from "t", short unsent`, `id 1, name "a", body "text", n 2, from "t", short "t"`},
		{"one that takes null for an answer", "", []string{`there=body == null ? "no" : "yes"`},
			`id 1, name "a", body unsent, n 2, from "t", there unsent`, `id 1, name "a", body "text", n 2, from "t", there "yes"`},
		{"with the key and the topic", "", []string{`info=body + string(id) + from`},
			`id 1, name "a", body unsent, n 2, from "t", info unsent`, `id 1, name "a", body "text", n 2, from "t", info "text1t"`},
		{"with a column that may have changed", "", []string{`info=name + body`},
			`bad_expression: let.info: ` + unknown + `, and name may have changed` + fix, `id 1, name "a", body "text", n 2, from "t", info "atext"`},
		{"through another let", "", []string{`short=body.substring(0, 1)`, `info=short + name`},
			`bad_expression: let.info: ` + unknown + `, and name may have changed` + fix, `id 1, name "a", body "text", n 2, from "t", short "t", info "ta"`},
		{"a let on others", "", []string{`info=name + "!"`},
			`id 1, name "a", body unsent, n 2, from "t", info "a!"`, `id 1, name "a", body "text", n 2, from "t", info "a!"`},
		{"a when on it", `body != "x"`, nil, `bad_expression: when: ` + unknown + fix, `id 1, name "a", body "text", n 2, from "t"`},
		{"a when on it through a let", `short != "x"`, []string{`short=body.substring(0, 1)`},
			`bad_expression: when: ` + unknown + fix, `id 1, name "a", body "text", n 2, from "t", short "t"`},
		{"a when on others that keeps", `n == 2`, []string{`short=body.substring(0, 1)`},
			`id 1, name "a", body unsent, n 2, from "t", short unsent`, `id 1, name "a", body "text", n 2, from "t", short "t"`},
		{"a when on others that drops", `n == 3`, []string{`info=name + body`}, `filtered`, `filtered`},
		{"a row's when on it", "", []string{`?rows[0].when=body != "x"`, `?rows[1].when=n == 2`},
			`id 1, name "a", body unsent, n 2, from "t", rows[0].when false bad_expression: rows[0].when: ` + unknown + fix + `, rows[1].when true <nil>`,
			`id 1, name "a", body "text", n 2, from "t", rows[0].when true <nil>, rows[1].when true <nil>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := unsentSchema(t, c.when, c.lets...)
			d := event.NewDecoder(s)
			for range 2 { // what one record lacks does not matter for the next
				for _, r := range []struct{ body, want string }{{"__debezium_unavailable_value", c.lacking}, {"text", c.known}} {
					value := `{"op":"u","before":null,"after":{"id":1,"name":"a","body":"` + r.body + `","n":2}}`
					if got := outcomeOf(d, s, value); got != r.want {
						t.Errorf("%s\ngot  %s\nwant %s", r.body, got, r.want)
					}
				}
			}
		})
	}
}

// TestAllRecordsAreKeptWithColumnsThatWereNotSent: without its when, a let on which it depended is like any other.
func TestAllRecordsAreKeptWithColumnsThatWereNotSent(t *testing.T) {
	s := unsentSchema(t, `info != "x"`, `info=name + body`)
	s.Derive = s.Derive.(*Rules).KeepAll()
	got := outcomeOf(event.NewDecoder(s), s, `{"op":"u","before":null,"after":{"id":1,"name":"a","body":"__debezium_unavailable_value","n":2}}`)
	if !strings.HasPrefix(got, "bad_expression: let.info: the database did not send body") {
		t.Error(got)
	}
}
