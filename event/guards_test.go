package event_test

import (
	"strings"
	"testing"

	"brine/derive"
	"brine/event"
)

// derived returns the schema s with expressions: "name=…" is a let, "?name=…" a condition and "when=…" decides about events.
func derived(t *testing.T, s event.Schema, expressions ...string) event.Schema {
	t.Helper()
	b := derive.New(s.Fields)
	for _, x := range expressions {
		name, text, _ := strings.Cut(x, "=")
		var err error
		switch condition, found := strings.CutPrefix(name, "?"); {
		case found:
			err = b.Condition(condition, condition, text)
		case name == "when":
			err = b.When(name, text)
		default:
			_, err = b.Let(name, 0, "let."+name, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.Fields, s.Derive = b.Fields(), b.Rules()
	return s
}

// position returns the position of a field.
func position(t *testing.T, s event.Schema, name string) int {
	t.Helper()
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	t.Fatal("no field " + name)
	return -1
}

// TestExpressionsOfMarkedDeletes: a row that marks a delete has the envelope's own members, so expressions on these are evaluated as for
// any other row.
func TestExpressionsOfMarkedDeletes(t *testing.T) {
	s := wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true, Keys: []string{"id"}}, -1, at("id", event.Text),
		at("note", event.Text), at("of", event.Text, "$source", "table"), at("op", event.Text, "$op"), at("ts", event.Int, "$source", "ts_ms"),
		at("row", event.Int, "$row"))
	deleted := &event.Record{Timestamp: 1000,
		Value: []byte(`{"id":"5","note":"","__source_table":"users","__source_ts_ms":900,"__op":"d","__deleted":"true"}`)}
	for _, c := range []struct{ expression, want string }{
		{`when=of == "orders"`, "left out: filtered"},
		{`when=of == "users" && op == "d" && row == 0`, `version=1000 id="5"`},
		{`when=!gone`, "left out: filtered"},
		{`when=gone`, `version=1000 id="5"`},
		{`when=note == "paid"`, `version=1000 id="5"`},
		{`?rows=of == "orders"`, "gone=true rows=false"},
		{`?rows=of == "users"`, "gone=true rows=true"},
		{`state=gone ? "left" : "active"`, `gone=true state="left"`},
		{`label=of + "/" + id`, `gone=true label="users/5"`},
		{`label=of + "/" + note`, "gone=true"},
	} {
		if got := said(t, derived(t, s, c.expression), deleted); !strings.Contains(got+"\n", c.want) || c.want == "gone=true" && !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.expression, got, c.want)
		}
	}
	timed := derived(t, s, `at=time_ms(ts)`)
	timed.Version = position(t, timed, "at")
	if got := said(t, timed, deleted); !strings.HasPrefix(got, "version=900 ") {
		t.Errorf("a version that a let makes: %s", got)
	}
	placed := derived(t, s, `lsn=ts * 2`, `source=of + "!"`)
	placed.Position = &event.Position{LSN: "lsn", Source: "source", Epochs: map[string]int64{"users!": 0}}
	if got := said(t, placed, deleted); !strings.HasPrefix(got, "version=1800 ") {
		t.Errorf("a place that lets make: %s", got)
	}
}

// TestVersionsThatAreNumbers: only a time can be ahead of its record.
func TestVersionsThatAreNumbers(t *testing.T) {
	const revision = `{"rev":450000000000000001}`
	number := event.Schema{Fields: []event.Field{at("rev", event.Int)}}
	if got := said(t, number, &event.Record{Value: []byte(revision), Timestamp: 1000}); got != "version=450000000000000001 rev=450000000000000001" {
		t.Errorf("a number: %s", got)
	}
	timed := event.Schema{Fields: []event.Field{at("rev", event.TimeMS)}}
	if got := said(t, timed, &event.Record{Value: []byte(revision), Timestamp: 1000}); !strings.HasPrefix(got, "future_version: ") {
		t.Errorf("a time: %s", got)
	}
	halved := derived(t, number, "half=rev / 2")
	halved.Version = position(t, halved, "half")
	if got := said(t, halved, &event.Record{Value: []byte(revision), Timestamp: 1000}); !strings.HasPrefix(got, "version=225000000000000000 ") {
		t.Errorf("a number that a let makes: %s", got)
	}
	for _, bad := range []string{`{"rev":-1}`, `{"rev":9223372036854775807}`} {
		if got := said(t, number, &event.Record{Value: []byte(bad), Timestamp: 1000}); !strings.HasPrefix(got, "bad_version: ") {
			t.Errorf("%s: %s", bad, got)
		}
	}
}
