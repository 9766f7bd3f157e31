package event_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"brine/event"
)

const (
	placeholder      = "__debezium_unavailable_value"
	placeholderCodes = "95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101"
)

// placeholders are all values that Debezium's converters write for columns that Postgres did not send, by the type of the column.
var placeholders = map[string]string{
	"text":               `"` + placeholder + `"`,
	"text, escaped":      `"\u005f_debezium_unavailable_value"`,
	"bytea":              `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`,
	"bytea in hex":       `"5f5f646562657a69756d5f756e617661696c61626c655f76616c7565"`,
	"text[]":             `["` + placeholder + `"]`,
	"text[], spaced":     ` [ "` + placeholder + `" ] `,
	"text[], escaped":    `["__debezium\u005funavailable_value"]`,
	"bytea[]":            `["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="]`,
	"uuid[]":             `["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]`,
	"int[]":              `[` + placeholderCodes + `]`,
	"bigint[], Protobuf": `["` + strings.ReplaceAll(placeholderCodes, ",", `","`) + `"]`,
	"int[], spaced":      `[ ` + strings.ReplaceAll(placeholderCodes, ",", " ,\n") + ` ]`,
	"hstore":             `{"` + placeholder + `":"` + placeholder + `"}`,
	"hstore, spaced":     `{ "` + placeholder + `" : "` + placeholder + `" }`,
	"hstore in a text":   `"{\"` + placeholder + `\":\"` + placeholder + `\"}"`,
	"hstore, escaped":    `"{\u0022` + placeholder + `\":\"` + placeholder + `\"}"`,
}

// almost are values that only resemble placeholders.
var almost = map[string]string{
	"a longer text":  `"` + placeholder + `s"`,
	"a longer list":  `["` + placeholder + `","x"]`,
	"fewer codes":    `[` + strings.TrimSuffix(placeholderCodes, ",101") + `]`,
	"more codes":     `[` + placeholderCodes + `,101]`,
	"other codes":    `[` + strings.Replace(placeholderCodes, "100", "101", 1) + `]`,
	"another value":  `{"` + placeholder + `":"x` + strings.Repeat("x", 30) + `"}`,
	"two members":    `{"` + placeholder + `":"` + placeholder + `","b":1}`,
	"within a list":  `[["` + placeholder + `"]]`,
	"an empty map":   `{"` + placeholder + `":{}}`,
	"another number": `{"` + placeholder + `":95}`,
}

// columns returns a schema whose column c is read whole and in parts.
func columns(e event.Envelope, whole event.Type) event.Schema {
	e.Form = event.Debezium
	return wrap(e, -1, at("id", event.Int), event.Field{Name: "c", Type: whole})
}

func parts(e event.Envelope) event.Schema {
	e.Form = event.Debezium
	first, second, key := at("first", event.Text, "c", "0"), at("second", event.Text, "c", "1"), at("key", event.Text, "c", "key")
	first.Numbers, second.Numbers = true, true
	return wrap(e, -1, at("id", event.Int), first, second, key)
}

// change returns an update in the ways that Kafka Connect writes JSON.
func change(before, after string) []string {
	bare := `{"op":"u","before":` + before + `,"after":` + after + `}`
	return []string{bare, `{"schema":null,"payload":` + bare + `}`, `{"schema":` + connectSchema + `,"payload":` + bare + `}`}
}

func row(c string) string { return `{"c":` + c + `,"id":1}` }

// TestUnavailableInEveryForm checks that no form of the placeholder is written, whether a field holds the column or only a part of it.
func TestUnavailableInEveryForm(t *testing.T) {
	keyOnly := event.Envelope{Keys: []string{"id"}}
	partial := event.Envelope{Keys: []string{"id"}, Partial: true}
	const wantReject = "missing_field: field after.c: the database did not send the column because it has not changed"
	check := func(s event.Schema, in, want string) {
		t.Helper()
		if got := said(t, s, &event.Record{Value: []byte(in), Timestamp: 1000}); !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
	deep := strings.Repeat("[", 80) + strings.Repeat("]", 80) // too deep for the quick path
	for name, p := range placeholders {
		t.Run(name, func(t *testing.T) {
			for _, in := range append(change("null", row(p)), `{"deep":`+deep+`,"op":"u","before":null,"after":`+row(p)+`}`) {
				for _, typ := range []event.Type{event.Nested, event.Text} {
					check(columns(keyOnly, typ), in, wantReject)
					check(columns(partial, typ), in, "version=1000 id=1 gone=false")
				}
				check(parts(keyOnly), in, wantReject)
				check(parts(partial), in, "version=1000 id=1 gone=false")
			}
			unwrapped := partial
			unwrapped.Unwrapped = true
			check(columns(unwrapped, event.Nested), row(p), "version=1000 id=1 gone=false")
			check(parts(unwrapped), row(p), "version=1000 id=1 gone=false")
			for _, in := range change(row(`["a","b"]`), row(p)) {
				check(columns(event.Envelope{}, event.Nested), in, `version=1000 id=1 gone=false c=["a","b"]`)
				check(parts(event.Envelope{}), in, `version=1000 id=1 first="a" second="b" gone=false, formerly id=1 first="a" second="b"`)
			}
			for _, in := range change(row(`{"key":"v"}`), row(p)) {
				check(parts(event.Envelope{}), in, `version=1000 id=1 key="v" gone=false, formerly id=1 key="v"`)
			}
			for _, in := range change(row(p), row(p)) {
				check(columns(event.Envelope{}, event.Nested), in, wantReject)
				check(parts(event.Envelope{}), in, wantReject)
			}
			for _, in := range change(row(p), row(`["a"]`)) {
				check(parts(event.Envelope{}), in, "missing_field: field before.c: the before-image lacks it")
			}
		})
	}
	for name, p := range almost {
		t.Run(name, func(t *testing.T) {
			for _, in := range change("null", row(p)) {
				check(columns(partial, event.Nested), in, `version=1000 id=1 gone=false c=`+p)
			}
		})
	}
}

// TestNullsAndColumnsThatWereNotSentDiffer: a null is a value of its column, and a column that was not sent has an unknown one, also in the
// record after one that lacks it.
func TestNullsAndColumnsThatWereNotSentDiffer(t *testing.T) {
	for name, s := range map[string]event.Schema{
		"wrapped":   columns(event.Envelope{Keys: []string{"id"}, Partial: true}, event.Text),
		"unwrapped": columns(event.Envelope{Keys: []string{"id"}, Partial: true, Unwrapped: true}, event.Text),
	} {
		d := event.NewDecoder(s)
		for _, c := range []struct {
			json         string
			null, unsent bool
		}{{`"` + placeholder + `"`, true, true}, {`null`, true, false}, {`"x"`, false, false}, {`"` + placeholder + `"`, true, true}, {"", true, true},
			{`null`, true, false}} {
			value := strings.Replace(row(c.json), `"c":,`, "", 1) // without its json, the record does not have the column at all
			if name == "wrapped" {
				value = change("null", value)[0]
			}
			var b event.Batch
			if err := d.Decode(&event.Record{Value: []byte(value), Timestamp: 1000}, &b); err != nil {
				t.Fatal(err)
			}
			if v := b.Events[0].Values[1]; v.Null() != c.null || v.Unsent() != c.unsent || v.Bool() {
				t.Errorf("%s, %s: null %t, unsent %t, true %t", name, c.json, v.Null(), v.Unsent(), v.Bool())
			}
		}
	}
}

// holdsPlaceholder reports whether a value is a placeholder.
func holdsPlaceholder(v event.Value) bool {
	json := jsontext.Value(v.Text())
	switch {
	case v.Type == event.Text:
		json, _ = jsontext.AppendQuote(nil, v.Text())
	case v.Type != event.Nested:
		return false
	}
	compact := func(v jsontext.Value) string {
		v = v.Clone()
		if err := v.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(false)); err != nil {
			return fmt.Sprint(err)
		}
		return string(v)
	}
	for _, p := range placeholders {
		if compact(json) == compact(jsontext.Value(p)) {
			return true
		}
	}
	return false
}

// Looking for placeholders allocates nothing for ordinary columns, whole or in parts.
func TestOrdinaryColumnsAllocateNothing(t *testing.T) {
	s := wrap(event.Envelope{Form: event.Debezium, Keys: []string{"id"}, Partial: true}, -1, at("id", event.Int), at("name", event.Text), at("tags", event.Nested),
		at("tag", event.Text, "tags2", "0"), at("attrs", event.Nested), at("attr", event.Text, "attrs2", "b"), at("code", event.Int, "codes", "0"))
	rec := &event.Record{Timestamp: 1000, Value: []byte(`{"op":"u","before":null,"after":{"id":1,"name":"a name of more than twenty-eight bytes",
		"tags":["blue and long enough to be looked at","red"],"tags2":["_blue and long enough to be looked at","x"],"attrs":{"b":"a value that is long enough"},
		"attrs2":{"_a":"a value that is long enough","b":"c"},"codes":[95,95,100,101,98,101,122,105,117,1]}}`)}
	d := event.NewDecoder(s)
	var b event.Batch
	n := testing.AllocsPerRun(100, func() {
		d.Reset(&b)
		if err := d.Decode(rec, &b); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%.2f allocations an event", n)
	}
}
