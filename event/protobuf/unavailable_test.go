package protobuf

import (
	"fmt"
	"strings"
	"testing"

	"brine/event"
)

// TestUnavailableInProtobuf checks that no form in which Debezium says that it has no value of a column is written, whether a field holds
// the column or only a part of it.
func TestUnavailableInProtobuf(t *testing.T) {
	compiled, err := CompileText("envelope.proto", `syntax = "proto3";
message Value {
  int64 id = 1; string name = 2; bytes raw = 3; repeated string tags = 4; repeated int32 codes = 5; repeated int64 longs = 6;
  map<string, string> attrs = 7; repeated bytes raws = 8; repeated int32 loose = 9 [packed = false];
}
message Envelope { Value before = 1; Value after = 2; string op = 3; }`, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := compiled.Message("Envelope")
	const placeholder = "__debezium_unavailable_value"
	of := func(name string) string {
		var s strings.Builder
		for _, c := range []byte(placeholder) {
			fmt.Fprintf(&s, "%s: %d ", name, c)
		}
		return s.String()
	}
	outcome := func(partial bool, after, fields string) string {
		t.Helper()
		e := &event.Envelope{Form: event.Debezium, Keys: []string{"id"}, Partial: partial}
		s := e.Wrap(event.Schema{Fields: declare(t, fields), Version: -1, Format: m})
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		var b event.Batch
		d := event.NewDecoder(s)
		out := ""
		for _, row := range []string{after, ``, after} { // what one record lacks does not matter for the next
			out = ""
			var value []byte
			for part := range strings.SplitSeq(row, "|") { // joined messages are merged
				value = append(value, encode(t, m, `op: "u" after { id: 1 `+part+`}`)...)
			}
			if err := d.Decode(&event.Record{Value: value, Timestamp: 1}, &b); err != nil {
				return err.Error()
			}
			for _, v := range b.Events[len(b.Events)-1].Values[1:] {
				out += string(v.Text()) + ";"
			}
		}
		return out
	}
	if got := outcome(false, `name: "`+placeholder+`"|name: "ann"`, "id int\nc text name"); got != "ann;" {
		t.Errorf("the last one counts: %s", got)
	}
	for _, c := range []struct{ after, column, part, whole, value string }{
		{`name: "` + placeholder + `"`, "name", "", ";", ""},
		{`name: "ann"|name: "` + placeholder + `"`, "name", "", ";", ""},
		{`raw: "` + placeholder + `"`, "raw", "", ";", ""},
		{`tags: "` + placeholder + `"`, "tags", "0", ";", ";"},
		{`tags: "` + placeholder + `"`, "tags", "1", ";", ";"},
		{`tags: "` + placeholder + `" tags: "x"`, "tags", "1", `["` + placeholder + `","x"];`, "x;"},
		{`tags: "x"`, "tags", "0", `["x"];`, "x;"},
		{of("codes"), "codes", "0", ";", ";"},
		{of("longs"), "longs", "0", ";", ";"},
		{of("loose"), "loose", "0", ";", ";"},
		{`codes: 95`, "codes", "0", "[95];", "95;"},
		{`raws: "` + placeholder + `"`, "raws", "0", ";", ";"},
		{`attrs { key: "` + placeholder + `" value: "` + placeholder + `" }`, "attrs", placeholder, ";", ";"},
		{`attrs { key: "` + placeholder + `" value: "` + placeholder + `" }`, "attrs", "x", ";", ";"},
		{`attrs { key: "x" value: "y" }`, "attrs", "x", `{"x":"y"};`, "y;"},
	} {
		if got := outcome(true, c.after, "id int\nc json "+c.column); got != c.whole {
			t.Errorf("%s: %s, want %s", c.after, got, c.whole)
		}
		if c.part == "" {
			if got := outcome(true, c.after, "id int\nc text "+c.column); got != strings.ReplaceAll(c.whole, `"`, "") {
				t.Errorf("%s as text: %s", c.after, got)
			}
			continue
		}
		if got := outcome(true, c.after, "id int\nc number "+c.column+"."+c.part); got != c.value {
			t.Errorf("%s, %s: %s, want %s", c.after, c.part, got, c.value)
		}
	}
}
