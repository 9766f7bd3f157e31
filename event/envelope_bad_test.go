package event_test

import (
	"cmp"
	"strings"
	"testing"

	"brine/event"
)

// envelopes are the forms whose records are JSON: what precedes and follows the value of column f, and its path.
var envelopes = []struct {
	name, before, behind, path string
	of                         event.Envelope
}{
	{"debezium", `{"before":null,"after":{"id":1,"f":`, `},"source":{"ts_ms":1},"op":"c"}`, "after.f", event.Envelope{Form: event.Debezium}},
	{"debezium with its schema", `{"schema":{"type":"struct","fields":[{"field":"after","type":"struct","fields":[{"field":"f"}]}]},"payload":{"after":{"id":1,"f":`,
		`},"source":{"ts_ms":1},"op":"c"}}`, "after.f", event.Envelope{Form: event.Debezium}},
	{"debezium unwrapped", `{"id":1,"f":`, `,"__op":"c"}`, "f", event.Envelope{Form: event.Debezium, Unwrapped: true}},
	{"maxwell", `{"type":"insert","ts":1,"data":{"id":1,"f":`, `}}`, "data.f", event.Envelope{Form: event.Maxwell}},
	{"canal", `{"type":"INSERT","es":1,"data":[{"id":"1","f":`, `}],"old":null}`, "data.f", event.Envelope{Form: event.Canal}},
}

// TestBadInputOfEnvelopes checks that each known mistake of publishers has its own outcome in every envelope, and that a good record after
// it is read as usual.
func TestBadInputOfEnvelopes(t *testing.T) {
	for _, e := range envelopes {
		schema := func(typ event.Type) event.Schema { return wrap(e.of, -1, at("id", event.Int), at("f", typ)) }
		good := e.before + `"good"` + e.behind
		for _, c := range []struct {
			name  string
			typ   event.Type
			value string // JSON
			want  string // how it begins; F stands for the path
			text  string // the same if every value is a text; empty: the same in quotes
		}{
			{"recursion", event.Text, `"y","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "undecodable: ", ""},
			{"recursion within", event.Nested, strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "undecodable: ", `version=1000 id=1 gone=false f="[[[[`}, // it is no JSON then, but a text
			{"100,000 columns", event.Text, `"y",` + strings.TrimSuffix(strings.Repeat(`"x":null,`, 100_000), ","), `version=1000 id=1 f="y" gone=false`, ""},
			{"a value of 5 MB", event.Text, `"` + strings.Repeat("x", 5<<20) + `"`, `version=1000 id=1 f="` + strings.Repeat("x", 5<<20) + `"`, ""},
			{"invalid UTF-8", event.Text, "\"\xff\"", "undecodable: ", ""},
			{"half of a surrogate pair", event.Text, `"\ud83d"`, "undecodable: ", ""},
			{"a column twice", event.Text, `"a","f":"b"`, "undecodable: field F: it occurs twice", ""},
			{"NaN", event.Float, `NaN`, "undecodable: ", `wrong_type: field F: a number is expected, found "NaN"`},
			{"a float out of range", event.Float, `1e999`, "wrong_type: field F: the number is out of range", ""},
			{"a number past 2⁶³", event.Int, `9223372036854775808`, "wrong_type: field F: the number does not fit 64 bits", ""},
			{"a number below −2⁶³", event.Int, `-9223372036854775809`, "wrong_type: field F: the number does not fit 64 bits", ""},
			{"a decimal of 39 digits", event.Decimal, strings.Repeat("7", 39), "wrong_type: field F: the decimal has more than 38 digits", ""},
			{"the year 0", event.Time, `"0000-01-01T00:00:00Z"`, "version=1000 id=1 f=-62167219200000 gone=false", ""},
			{"the year 9999", event.Time, `"9999-12-31T23:59:59.999Z"`, "version=1000 id=1 f=253402300799999 gone=false", ""},
			{"the year 10000", event.Time, `"10000-01-01T00:00:00Z"`, "wrong_type: field F: a time as 2013-01-31T08:00:00Z", ""},
			{"an object", event.Int, `{"a":1}`, "wrong_type: field F: an integer is expected, found ", ""},
		} {
			value, want := c.value, c.want
			if e.of.Form == event.Canal {
				if want = cmp.Or(c.text, want); !strings.HasPrefix(value, `"`) {
					value = `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
				}
			}
			s := schema(c.typ)
			d := event.NewDecoder(s)
			got := strings.TrimSpace(decodeAll(s, d, &event.Record{Value: []byte(e.before + value + e.behind), Timestamp: 1000}))
			if want = strings.Replace(want, "F:", e.path+":", 1); !strings.HasPrefix(got, want) {
				t.Errorf("%s, %s:\ngot  %.300s\nwant %.300s", e.name, c.name, got, want)
			}
			again := decodeAll(s, d, &event.Record{Value: []byte(good), Timestamp: 1000})
			if fresh := decodeAll(s, event.NewDecoder(s), &event.Record{Value: []byte(good), Timestamp: 1000}); again != fresh {
				t.Errorf("%s, a good record behind %s:\ngot  %s\nwant %s", e.name, c.name, again, fresh)
			}
		}
		s := schema(event.Text)
		for n := 1; n < len(good); n++ {
			if got := decodeAll(s, event.NewDecoder(s), &event.Record{Value: []byte(good[:n]), Timestamp: 1000}); !strings.HasPrefix(got, "undecodable: ") {
				t.Fatalf("%s, truncated to %s: %s", e.name, good[:n], got)
			}
		}
		if got := decodeAll(s, event.NewDecoder(s), &event.Record{Value: []byte("\x00\x00\x00\x00\x01" + good), Timestamp: 1000}); !strings.HasPrefix(got, "undecodable: ") {
			t.Errorf("%s, framed for a registry: %s", e.name, got)
		}
	}
}
