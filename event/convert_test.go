package event_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"brine/event"
)

func TestConversions(t *testing.T) {
	from := event.Conversion{FromText: true}
	table := event.Conversion{Trim: true, Case: event.Lower, Enum: map[string]string{"1": "created", "true": "yes", "x": "X"}}
	withElse := table
	withElse.Else = "other"
	for _, c := range []struct {
		name  string
		field event.Field
		in    string
		want  string
	}{
		{"int", event.Field{Type: event.Int, Convert: from}, `"-9223372036854775808"`, `f=-9223372036854775808`},
		{"int, still a number", event.Field{Type: event.Int, Convert: from}, `12`, `f=12`},
		{"int with zeros", event.Field{Type: event.Int, Convert: from}, `"007"`, `f=7`},
		{"int with a plus", event.Field{Type: event.Int, Convert: from}, `"+7"`, `f=7`},
		{"int past 64 bits", event.Field{Type: event.Int, Convert: from}, `"9223372036854775808"`, `wrong_type: field f: the number does not fit 64 bits`},
		{"int with a fraction", event.Field{Type: event.Int, Convert: from}, `"1.0"`,
			`wrong_type: field f: an integer is expected, found a number with a fraction or an exponent`},
		{"no int", event.Field{Type: event.Int, Convert: from}, `"12a"`, `wrong_type: field f: an integer is expected, found "12a"`},
		{"no digits", event.Field{Type: event.Int, Convert: from}, `"+"`, `wrong_type: field f: an integer is expected, found "+"`},
		{"empty", event.Field{Type: event.Int, Convert: from}, `""`, `wrong_type: field f: an integer is expected, found ""`},
		{"white space", event.Field{Type: event.Int, Convert: from}, `" 1"`, `wrong_type: field f: an integer is expected, found " 1"`},
		{"trimmed", event.Field{Type: event.Int, Convert: event.Conversion{FromText: true, Trim: true}}, `" 1\n"`, `f=1`},
		{"float", event.Field{Type: event.Float, Convert: from}, `"1.50"`, `f=1.5`},
		{"float with an exponent", event.Field{Type: event.Float, Convert: from}, `"-.5E+1"`, `f=-5`},
		{"NaN", event.Field{Type: event.Float, Convert: from}, `"NaN"`, `wrong_type: field f: a number is expected, found "NaN"`},
		{"infinity", event.Field{Type: event.Float, Convert: from}, `"-Inf"`, `wrong_type: field f: a number is expected, found "-Inf"`},
		{"hexadecimal", event.Field{Type: event.Float, Convert: from}, `"0x1p-2"`, `wrong_type: field f: a number is expected, found "0x1p-2"`},
		{"float out of range", event.Field{Type: event.Float, Convert: from}, `"1e999"`, `wrong_type: field f: the number is out of range`},
		{"float that would be zero", event.Field{Type: event.Float, Convert: from}, `"-1e-400"`, `wrong_type: field f: the number is out of range`},
		{"bool", event.Field{Type: event.Bool, Convert: from}, `"1"`, `f=true`},
		{"bool, false", event.Field{Type: event.Bool, Convert: from}, `"false"`, `f=false`},
		{"no bool", event.Field{Type: event.Bool, Convert: from}, `"yes"`, `wrong_type: field f: a bool is expected, found "yes"`},
		{"time_s", event.Field{Type: event.TimeS, Convert: from}, `"7"`, `f=7000`},
		{"object", event.Field{Type: event.Int, Convert: from}, `{}`, `wrong_type: field f: an integer is expected, found an object`},
		{"trim", event.Field{Type: event.Text, Convert: event.Conversion{Trim: true}}, `" a b\u00a0"`, `f="a b"`},
		{"upper", event.Field{Type: event.Text, Convert: event.Conversion{Case: event.Upper}}, `"straße é"`, `f="STRASSE É"`},
		{"lower", event.Field{Type: event.Text, Convert: event.Conversion{Case: event.Lower}}, `"ABC"`, `f="abc"`},
		{"trim of a time", event.Field{Type: event.Time, Format: "%Y %m %d", Convert: event.Conversion{Trim: true}}, `" 1970 01 01 "`, `f=0`},
		{"table", event.Field{Type: event.Text, Convert: table}, `" X "`, `f="X"`},
		{"table, of a number", event.Field{Type: event.Text, Convert: table}, `1`, `f="created"`},
		{"table, of a bool", event.Field{Type: event.Text, Convert: table}, `true`, `f="yes"`},
		{"not in the table", event.Field{Type: event.Text, Convert: table}, `"2"`, `wrong_type: field f: "2" is not in the table of its values`},
		{"a number not in the table", event.Field{Type: event.Text, Convert: table}, `1.0`, `wrong_type: field f: "1.0" is not in the table of its values`},
		{"else", event.Field{Type: event.Text, Convert: withElse}, `"2"`, `f="other"`},
		{"null in a table with else", event.Field{Type: event.Text, Convert: withElse}, `null`, ``},
		{"default of null", event.Field{Type: event.Text, Convert: table, Default: event.TextValue("none")}, `null`, `f="none"`},
		{"default, not used", event.Field{Type: event.Int, Default: event.IntValue(5)}, `6`, `f=6`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.field.Name = "f"
			s := event.Schema{Version: -1, Fields: []event.Field{c.field}}
			if c.name == "upper" {
				c.want = `f="` + strings.ToUpper("straße é") + `"`
			}
			e, err := decode(s, `{"f":`+c.in+`}`, 1000)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = strings.TrimPrefix(strings.TrimPrefix(show(s, e), "version=1000"), " ")
			}
			if got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

// valued is a format whose records hold one value of each kind that formats pass on.
type valued func(b *event.Builder, n *event.Node) *event.Error

func (v valued) NewReader(root *event.Node) event.Reader { return &valuedReader{v, root.Children()[0]} }

type valuedReader struct {
	set  valued
	node *event.Node
}

func (r *valuedReader) Read(_ *event.Record, b *event.Builder) *event.Error { return r.set(b, r.node) }

// The values of all formats go through the same conversions.
func TestConversionsOfOtherFormats(t *testing.T) {
	table := event.Conversion{Enum: map[string]string{"1": "one", "true": "yes", "1.5": "more", "18446744073709551615": "most"}}
	for name, c := range map[string]struct {
		set   valued
		field event.Field
		want  string
	}{
		"a string": {func(b *event.Builder, n *event.Node) *event.Error { return b.Text(n, []byte("12")) },
			event.Field{Type: event.Int, Convert: event.Conversion{FromText: true}}, "version=0 f=12"},
		"a string without a cast": {func(b *event.Builder, n *event.Node) *event.Error { return b.Text(n, []byte("12")) },
			event.Field{Type: event.Int}, "wrong_type: field f: an integer is expected, found a string"},
		"a text of a format of texts": {func(b *event.Builder, n *event.Node) *event.Error { return b.Parse(n, []byte("12")) },
			event.Field{Type: event.Int}, "version=0 f=12"},
		"an integer in a table": {func(b *event.Builder, n *event.Node) *event.Error { return b.Int(n, 1) },
			event.Field{Type: event.Text, Convert: table}, `version=0 f="one"`},
		"a large integer in a table": {func(b *event.Builder, n *event.Node) *event.Error { return b.Uint(n, math.MaxUint64) },
			event.Field{Type: event.Text, Convert: table}, `version=0 f="most"`},
		"a float in a table": {func(b *event.Builder, n *event.Node) *event.Error { return b.Float(n, 1.5) },
			event.Field{Type: event.Text, Convert: table}, `version=0 f="more"`},
		"a bool in a table": {func(b *event.Builder, n *event.Node) *event.Error { return b.Bool(n, true) },
			event.Field{Type: event.Text, Convert: table}, `version=0 f="yes"`},
		"null": {func(b *event.Builder, n *event.Node) *event.Error { return b.Null(n) },
			event.Field{Type: event.Float, Default: event.FloatValue(2)}, "version=0 f=2"},
		"absent": {func(*event.Builder, *event.Node) *event.Error { return nil },
			event.Field{Type: event.Float, Default: event.FloatValue(2)}, "version=0 f=2"},
		"JSON in a text": {func(b *event.Builder, n *event.Node) *event.Error { return b.Parse(n, []byte(" {\"a\":1,\"a\":2}")) },
			event.Field{Type: event.Nested}, "version=0"},
		"no JSON in a text": {func(b *event.Builder, n *event.Node) *event.Error { return b.Parse(n, []byte("{")) },
			event.Field{Type: event.Nested}, `wrong_type: field f: JSON in a string is expected, found "{"`},
	} {
		c.field.Name = "f"
		s := event.Schema{Version: -1, Format: c.set, Fields: []event.Field{c.field}}
		if got := outcomeOf(s, &event.Record{Value: []byte("x")}); got != c.want {
			t.Errorf("%s: got %s; want %s", name, got, c.want)
		}
	}
}

// Images hold what was written, with the defaults that apply to it.
func TestDefaultsOfImages(t *testing.T) {
	s := event.Schema{Version: -1, Images: event.Images{Before: []string{"before"}, After: []string{"after"}, Deleted: "gone"}, Fields: []event.Field{
		{Name: "id", Type: event.Text, Path: []string{"after", "id"}},
		{Name: "kind", Type: event.Text, Path: []string{"after", "kind"}, Default: event.TextValue("none")},
		{Name: "gone", Type: event.Bool}, {Name: "shop", Type: event.Text, Const: event.TextValue("eu")},
		{Name: "topic", Type: event.Text, Place: event.RecordTopic},
	}}
	for in, want := range map[string]string{
		`{"before":{"id":"A","kind":null},"after":{"id":"A","kind":"k"}}`: `now id="A" kind="k" gone=false shop="eu" topic="t" was id="A" kind="none" gone=false shop="eu" topic="t"`,
		`{"before":{"id":"B"},"after":{"id":"A","kind":null}}`:            `now id="A" kind="none" gone=false shop="eu" topic="t" was id="B" kind="none" gone=false shop="eu" topic="t"`,
		`{"before":{"id":"A"},"after":null}`:                              `now id="A" kind="none" gone=true shop="eu" topic="t"`,
	} {
		events, err := eventsOf(s, &event.Record{Topic: "t", Value: []byte(in)})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		got := strings.Replace(show(s, events[0]), "version=0", "now", 1)
		if f := events[0].Former; f != nil {
			got += strings.Replace(show(s, event.Event{Values: f}), "version=0", " was", 1)
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestConversionErrors(t *testing.T) {
	for want, f := range map[string]event.Field{
		"field f is declared text, which accepts text as is":                   {Type: event.Text, Convert: event.Conversion{FromText: true}},
		"field f is declared json, which is never trimmed":                     {Type: event.Nested, Convert: event.Conversion{Trim: true}},
		"field f is declared int; only a text has a case or a table of values": {Type: event.Int, Convert: event.Conversion{Enum: map[string]string{"a": "b"}}},
		"field f has an empty table of values; fill it, or remove it":          {Type: event.Text, Convert: event.Conversion{Enum: map[string]string{}}},
		"field f has a text for values that its table lacks, but no table":     {Type: event.Text, Convert: event.Conversion{Else: "x", Trim: true}},
		`field f is trimmed or converted to another case before it is looked up, so its table's "A" never matches; write "a"`: {Type: event.Text,
			Convert: event.Conversion{Case: event.Lower, Enum: map[string]string{"A": "b"}}},
	} {
		f.Name = "f"
		if err := (event.Schema{Version: -1, Fields: []event.Field{f}}).Validate(); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
}

func TestValueOf(t *testing.T) {
	for in, f := range map[string]event.Field{"12": {Type: event.Int}, "1.5": {Type: event.Float}, "true": {Type: event.Bool}, "a": {Type: event.Text},
		"2013-01-31T00:00:00Z": {Type: event.Time}, `{"a":[]}`: {Type: event.Nested}, "7": {Type: event.TimeS}} {
		v, err := f.ValueOf(in)
		if err != nil || v.Type != f.Type.Stored() {
			t.Errorf("%s: %v, %v", in, v, err)
		}
	}
	if _, err := (event.Field{Type: event.Int}).ValueOf("x"); err == nil {
		t.Error("x is an int")
	}
}

func TestElementsOfArrays(t *testing.T) {
	s := event.Schema{Version: -1, Fields: []event.Field{
		{Name: "first", Type: event.Text, Path: []string{"items", "0", "sku"}}, {Name: "third", Type: event.Int, Path: []string{"items", "2"}},
		{Name: "plain", Type: event.Text, Path: []string{"items", "01"}},
	}}
	for in, want := range map[string]string{
		`{"items":[{"sku":"a","x":[1]},[],7,8]}`: `version=5 first="a" third=7`,
		`{"items":[]}`:                           `version=5`,
		`{"items":[null]}`:                       `version=5`,
		`{"items":{"0":{"sku":"o"},"01":"p"}}`:   `version=5 first="o" plain="p"`,
		`{"items":[1]}`:                          `wrong_type: field items.0: an object is expected, found a number`,
		`{"items":[{},{},"x"]}`:                  `wrong_type: field items.2: an integer is expected, found a string`,
		`{"items":[{},{},1`:                      `undecodable: field items: it ends too early at byte 17`,
		`{"items":[{"sku":"a","sku":"b"}]}`:      `undecodable: field items.0.sku: it occurs twice`,
		`{"items":"x"}`:                          `wrong_type: field items: an object is expected, found a string`,
	} {
		if got := outcomeOf(s, &event.Record{Value: []byte(in), Timestamp: 5}); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestArraysOfEvents(t *testing.T) {
	s := event.Schema{Version: 0, Format: event.JSONFormat{Array: true}, Fields: []event.Field{{Name: "at", Type: event.TimeMS}, {Name: "n", Type: event.Int}}}
	for in, want := range map[string]string{
		`[{"at":1,"n":1},{"at":2}]`:   `version=1 at=1 n=1 | version=2 at=2`,
		` [ ] `:                       `version=5 left out: empty`,
		`[{"at":1},{"n":1},{"at":2}]`: `missing_field: field 1.at: it is the version of the event`,
		`[{"at":1},{"n":1}]`:          `missing_field: field 1.at: it is the version of the event`,
		`[{"at":1},2]`:                `undecodable: field 1: a JSON object is expected, found a number`,
		`[{"at":1},{"at":"x"}]`:       `wrong_type: field 1.at: a time in ms is expected, found a string`,
		`{"at":1}`:                    `undecodable: a JSON array of objects is expected, found an object`,
		`[{"at":1}] 2`:                `undecodable: there is data after the array at byte 11`,
		`[{"at":1}`:                   `undecodable: it ends too early at byte 9`,
		`[{"at":1},{"at":`:            `undecodable: field 1.at: it ends too early at byte 16`,
		`[{"at":1},{"at":1,"at":2}]`:  `undecodable: field 1.at: it occurs twice`,
		``:                            `undecodable: the value is empty`,
	} {
		if got := outcomeOf(s, &event.Record{Value: []byte(in), Timestamp: 5}); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
	many := "[" + strings.Repeat(`{"at":1},`, event.MaxEvents) + `{"at":1}]`
	var b event.Batch
	d := event.NewDecoder(s)
	if err := d.Decode(&event.Record{Value: []byte(many)}, &b); err == nil || len(b.Events) > 0 ||
		err.Error() != "too_large: field 9999: the record contains more than 10000 events" {
		t.Errorf("%d events, %v", len(b.Events), err)
	}
	if err := d.Decode(&event.Record{Value: []byte(many[:1] + many[10:])}, &b); err != nil || len(b.Events) != event.MaxEvents {
		t.Errorf("%d events, %v", len(b.Events), err)
	}
	if !slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Version == 1 }) {
		t.Error("no version")
	}
}

// TestZeroIsNotOutOfRange checks that zero is a float however it is written.
func TestZeroIsNotOutOfRange(t *testing.T) {
	for _, text := range []string{"0", "-0", "0.0", "0e5", "0.000E-400", "-0.00000000000000000000", "5e-324"} {
		if _, err := (event.Field{Name: "f", Type: event.Float}).ValueOf(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
