package event_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/derive"
	"brine/event"
)

// fixed returns the schema with a fix of its fields by name.
func fixed(t *testing.T, s event.Schema, fixes map[string]string) event.Schema {
	t.Helper()
	x := &event.Fix{}
	for i, f := range s.Fields {
		if fixes[f.Name] != "" {
			x.Fields = append(x.Fields, i)
		}
	}
	b := derive.New(x.Declared(s.Fields))
	for _, i := range x.Fields {
		f := s.Fields[i]
		if err := b.Fix(f.Name, f.Type, "--let "+f.Name, fixes[f.Name]); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	x.Deriver = b.Rules()
	s.Fix = x
	return s
}

func inShort(ev *event.Event) string {
	var out []string
	for _, v := range ev.Values {
		switch v.Type {
		case 0:
			out = append(out, map[bool]string{false: "null", true: "unsent"}[v.Unsent()])
		case event.Text, event.Nested:
			out = append(out, string(v.Text()))
		case event.Float:
			out = append(out, fmt.Sprint(v.Float()))
		case event.Bool:
			out = append(out, fmt.Sprint(v.Bool()))
		default:
			out = append(out, fmt.Sprint(v.Int()))
		}
	}
	return strings.Join(out, " ") + fmt.Sprint(" @", ev.Version)
}

// wantFixed decodes a record with fixes, and compares the event or the reject's beginning.
func wantFixed(t *testing.T, s event.Schema, fixes map[string]string, value, want string) {
	t.Helper()
	const now = 1_400_000_000_000
	d, b := event.NewDecoder(fixed(t, s, fixes)), &event.Batch{}
	got := ""
	if err := d.Decode(&event.Record{Value: []byte(value), Timestamp: now}, b); err != nil {
		got = err.Error()
	} else {
		ev := &b.Events[0]
		if got = inShort(ev); ev.Former != nil {
			got += " before " + strings.TrimSuffix(inShort(&event.Event{Values: ev.Former}), " @0")
		}
	}
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s\ngives    %s\nexpected %s", value, got, want)
	}
}

func TestFixes(t *testing.T) {
	plain := event.Schema{Version: 1, Fields: []event.Field{{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS},
		{Name: "n", Type: event.Int}, {Name: "any", Type: event.Nested},
		{Name: "state", Type: event.Text, Convert: event.Conversion{Enum: map[string]string{"1": "new", "2": "paid"}}}}}
	imaged := event.Schema{Version: -1, Images: event.Images{Before: []string{"before"}, After: []string{"after"}},
		Fields: []event.Field{{Name: "id", Type: event.Text, Path: []string{"after", "id"}}, {Name: "n", Type: event.Int, Path: []string{"after", "n"}}}}
	debezium := (&event.Envelope{Form: event.Debezium}).Wrap(event.Schema{Version: -1, Fields: []event.Field{{Name: "id", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "price", Type: event.Text, Numbers: true}}})
	const connect = `{"schema":{"type":"struct","fields":[{"field":"after","type":"struct","fields":[{"field":"id","type":"string"},` +
		`{"field":"at","type":"int64","name":"io.debezium.time.MicroTimestamp"},{"field":"price","type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}}]}]},` +
		`"payload":{"op":"c","after":{"id":%s,"at":1357034220000007,"price":"BNI="}}}`
	for _, c := range []struct {
		name   string
		schema event.Schema
		fixes  map[string]string
		value  string
		want   string // or the reject
	}{
		{"a text where a number is declared", plain, map[string]string{"n": `n.trim()`}, `{"id":"a","at":5,"n":" 12 "}`, "a 5 12 null null @5"},
		{"a default for a missing field", plain, map[string]string{"n": `n == null ? "7" : n`}, `{"id":"a","at":5}`, "a 5 7 null null @5"},
		{"a number is read as its type", plain, map[string]string{"at": `int(at) * 1000`}, `{"id":"a","at":"5"}`, "a 5000 null null null @5000"},
		{"a time in words", plain, map[string]string{"at": `timestamp(at)`}, `{"id":"a","at":"2013-01-31T08:00:00.5Z"}`, "a 1359619200500 null null null @1359619200500"},
		{"a time as a text", plain, map[string]string{"at": `at + "Z"`}, `{"id":"a","at":"2013-01-31T08:00:00"}`, "a 1359619200000 null null null @1359619200000"},
		{"what is right stays", plain, map[string]string{"at": `at`, "n": `n`, "id": `id`, "any": `any`, "state": `state`}, `{"id":"\"q","at":5,"n":-7,"any":{"a":[1,"x"]},"state":"2"}`, "\"q 5 -7 {\"a\":[1,\"x\"]} paid @5"},
		{"the field's conversion follows", plain, map[string]string{"state": `state == "9" ? "2" : state`}, `{"id":"a","at":5,"state":9}`, "a 5 null null paid @5"},
		{"an object becomes a text", plain, map[string]string{"id": `id`}, `{"id":{"x":1},"at":5}`, `{"x":1} 5 null null null @5`},
		{"of another field", plain, map[string]string{"id": `id == null ? string(n) : id`}, `{"at":5,"n":3}`, "3 5 3 null null @5"},
		{"all see the record", plain, map[string]string{"id": `n + 1`, "n": `"1"`}, `{"at":5,"n":3}`, ""},
		{"null", plain, map[string]string{"n": `n != "x" ? n : null`}, `{"id":"a","at":5,"n":"x"}`, "a 5 null null null @5"},
		{"still of another type", plain, map[string]string{"n": `n + "x"`}, `{"id":"a","at":5,"n":"1"}`, `wrong_type: field n: an integer is expected, found "1x"`},
		{"no answer", plain, map[string]string{"n": `string(int(n))`}, `{"id":"a","at":5,"n":"x"}`, "bad_expression"},
		{"not a field's fault", plain, map[string]string{"n": `n`}, `{"id":"a","at":5,`, "undecodable"},
		{"another field's fault", plain, map[string]string{"n": `n`}, `{"id":1,"at":5}`, "wrong_type: field id"},
		{"both images", imaged, map[string]string{"n": `n.trim()`}, `{"before":{"id":"b","n":" 1"},"after":{"id":"a","n":"2 "}}`, "a 2 @1400000000000 before b 1"},
		{"a delete has only what was before", imaged, map[string]string{"n": `n.trim()`}, `{"before":{"id":"b","n":" 1"},"after":null}`, "b 1 @1400000000000"},
		{"what did not change", imaged, map[string]string{"n": `n == null ? "9" : n.trim()`}, `{"before":{"id":"b"},"after":{"id":"a","n":"2 "}}`, "a 2 @1400000000000 before b 2"},
		{"a schema's times and decimals stay", debezium, map[string]string{"id": `id`, "at": `at`, "price": `price`}, fmt.Sprintf(connect, "7"), "7 1357034220000 12.34 @1400000000000"},
		{"a schema's time in words", debezium, map[string]string{"id": `at.substring(0, 4)`, "at": `timestamp(at) + duration("1s")`}, fmt.Sprintf(connect, "7"), "2013 1357034221000 12.34 @1400000000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "all see the record" {
				b := derive.New((&event.Fix{Fields: []int{0, 2}}).Declared(c.schema.Fields))
				if err := b.Fix("id", event.Text, "--let id", c.fixes["id"]); err == nil || !strings.Contains(err.Error(), "does not accept text with int") {
					t.Errorf("a fixed field is a text on the right side too: %v", err)
				}
				return
			}
			wantFixed(t, c.schema, c.fixes, c.value, c.want)
		})
	}
}

// A fix must not take a column that the database did not send for one that is null: what it made of that would replace the row's own value.
func TestFixesOfWhatTheDatabaseDidNotSend(t *testing.T) {
	const unsent = `"__debezium_unavailable_value"`
	fields := []event.Field{{Name: "id", Type: event.Text}, {Name: "n", Type: event.Int}, {Name: "note", Type: event.Text},
		{Name: "low", Type: event.Int, Path: []string{"doc", "low"}}, {Name: "high", Type: event.Int, Path: []string{"doc", "high"}}}
	schema := func(partial bool, keys ...string) event.Schema {
		return (&event.Envelope{Form: event.Debezium, Partial: partial, Keys: keys}).Wrap(event.Schema{Version: -1, Fields: fields})
	}
	whole, partial := schema(false, "id"), schema(true, "id")
	change := func(op, before, note, doc string) string {
		return fmt.Sprintf(`{"op":%q,"before":%s,"after":{"id":"a","n":" 1","note":%s,"doc":%s}}`, op, before, note, doc)
	}
	const doc = `{"low":3,"high":4}`
	n := `n.trim()`
	for _, c := range []struct {
		name   string
		schema event.Schema
		fixes  map[string]string
		value  string
		want   string // or the reject
	}{
		{"a default for null is not for what was not sent", partial, map[string]string{"n": n, "note": `note == null ? "none" : note`}, change("u", "null", unsent, doc), "a 1 unsent 3 4 @1400000000000"},
		{"null itself", partial, map[string]string{"n": n, "note": `note == null ? "none" : note`}, change("u", "null", "null", doc), "a 1 none 3 4 @1400000000000"},
		{"a value that depends on nothing", partial, map[string]string{"n": n, "note": `"x"`}, change("u", "null", unsent, doc), "a 1 x 3 4 @1400000000000"},
		{"of another column that was sent", partial, map[string]string{"n": n, "note": `id`}, change("u", "null", unsent, doc), "a 1 a 3 4 @1400000000000"},
		{"and of one that may have changed", partial, map[string]string{"n": n, "note": `note == null ? n : note`}, change("u", "null", unsent, doc), "bad_expression: --let note: the database did not send note because it has not changed, so there is no result, and n may have changed"},
		{"a column that was sent of one that was not", partial, map[string]string{"n": `note == null ? "7" : n`}, change("u", "null", unsent, doc), "bad_expression: --let n: the database did not send note"},
		{"a column that was sent, of nothing but one that was not", partial, map[string]string{"n": `note.substring(0, 1)`}, change("u", "null", unsent, doc), "a unsent unsent 3 4 @1400000000000"},
		{"whole rows: it is still lacking", whole, map[string]string{"n": n, "note": `note == null ? "none" : note`}, change("u", "null", unsent, doc), "missing_field: field after.note: the database did not send the column because it has not changed"},
		{"whole rows: the fix is what it lacked", whole, map[string]string{"n": n, "note": `"x"`}, change("u", "null", unsent, doc), "a 1 x 3 4 @1400000000000"},
		{"a row under a new key: the fix is what it lacked", partial, map[string]string{"n": n, "note": `"x"`}, change("c", "null", unsent, doc), "a 1 x 3 4 @1400000000000"},
		{"a row under a new key", partial, map[string]string{"n": n}, change("c", "null", unsent, doc), "missing_field: field after.note: the database did not send the column because only the row's key has changed"},
		{"the before-image has it, and the fix sees it", schema(false), map[string]string{"n": n, "note": `note == null ? "none" : note.trim()`}, change("u", `{"id":"a","n":"0","note":" was","doc":{"low":3,"high":4}}`, unsent, doc), "a 1 was 3 4 @1400000000000 before a 0 was 3 4"},
		{"the before-image was not sent either", schema(true), map[string]string{"n": n, "note": `note == null ? "none" : note`}, change("u", `{"id":"a","n":"0","note":`+unsent+`,"doc":{"low":3,"high":4}}`, unsent, doc), "a 1 unsent 3 4 @1400000000000 before a 0 null 3 4"},
		{"one part of a column", partial, map[string]string{"n": n, "low": `"5"`}, change("u", "null", `"y"`, unsent), "a 1 y 5 unsent @1400000000000"},
		{"whole rows: one part of a column", whole, map[string]string{"n": n, "low": `"5"`}, change("u", "null", `"y"`, unsent), "missing_field: field after.doc: the database did not send the column"},
		{"all parts of a column", whole, map[string]string{"n": n, "low": `"5"`, "high": `"6"`}, change("u", "null", `"y"`, unsent), "a 1 y 5 6 @1400000000000"},
	} {
		t.Run(c.name, func(t *testing.T) { wantFixed(t, c.schema, c.fixes, c.value, c.want) })
	}
}
