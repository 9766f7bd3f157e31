package event_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/event/csv"
)

// seen returns the names seen in records, with their counts.
func seen(u *event.Undeclared) string {
	c := u.Counts()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Names)) {
		out = append(out, fmt.Sprintf("%s=%d", name, c.Names[name]))
	}
	return fmt.Sprintf("%d of %d+%d: %s", len(c.Names), c.Looked, c.Others, strings.Join(out, " "))
}

// What records hold besides the declared fields is counted by name, in one record of 64, and once per record.
func TestUndeclaredFieldsAreCounted(t *testing.T) {
	fields := []event.Field{{Name: "id", Type: event.Text}, {Name: "city", Type: event.Text, Path: []string{"to", "city"}}}
	row := func(form event.EnvelopeForm, unwrapped bool) event.Schema {
		e := &event.Envelope{Form: form, Unwrapped: unwrapped}
		return e.Wrap(event.Schema{Fields: fields[:1], Version: -1})
	}
	for _, c := range []struct {
		name, value string
		schema      event.Schema
		want        string
	}{
		{"JSON", `{"id":"a","note":1,"to":{"city":"x","zip":[{"deep":1}]},"n\u0061me":{"a":2}}`, event.Schema{Fields: fields, Version: -1},
			"3 of 2+0: name=2 note=2 to.zip=2"},
		{"nothing more", `{"id":"a","to":{"city":"x"}}`, event.Schema{Fields: fields, Version: -1}, "0 of 2+0: "},
		{"read again by the slow way", `{"note":1,"id":"a","to":"x"}`, event.Schema{Fields: fields, Version: -1}, "1 of 2+0: note=2"},
		{"a list", `[{"id":"a","x":1},{"id":"b","x":1}]`, event.Schema{Fields: fields, Version: -1, Format: event.JSONFormat{Array: true}}, "1 of 2+0: x=2"},
		{"CSV", `a,b,c`, event.Schema{Fields: fields[:1], Version: -1, Format: csv.Format{Columns: []string{"id", "x", "y"}}}, "2 of 2+0: x=2 y=2"},
		{"Debezium's own members", `{"before":null,"after":{"id":"a","x":1},"source":{"db":"d"},"op":"c","ts_ms":1}`, row(event.Debezium, false),
			"1 of 2+0: after.x=2"},
		{"an unwrapped row", `{"id":"a","x":1,"__op":"c","__table":"t"}`, row(event.Debezium, true), "1 of 2+0: x=2"},
		{"Canal", `{"type":"INSERT","data":[{"id":"a","x":"1"}],"old":null,"es":1}`, row(event.Canal, false), "1 of 2+0: data.x=2"},
		{"Maxwell", `{"type":"update","data":{"id":"a","x":1},"old":{"y":1},"ts":1}`, row(event.Maxwell, false), "1 of 2+0: data.x=2"},
		{"Canal's Protobuf", string(canalPacket(canalEntry(100, 2, 1, 12, canalRow(canalColumns(2, "id", "1", "x", "1"))))), row(event.CanalProtobuf, false), "1 of 2+0: data.x=2"},
		{"Canal's Protobuf, former values", string(canalPacket(canalEntry(100, 2, 2, 12, canalRow(canalColumns(1, "id", "1", "y", "1"), canalColumns(2, "id", "1", "x", "1"))))),
			row(event.CanalProtobuf, false), "1 of 2+0: data.x=2"},
		{"a long name", `{"id":"a","` + strings.Repeat("ü", 80) + `":1}`, event.Schema{Fields: fields, Version: -1},
			"1 of 2+0: " + strings.Repeat("ü", 50) + "=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := new(event.Undeclared)
			c.schema.Undeclared = u
			d, b := event.NewDecoder(c.schema), new(event.Batch)
			for range event.LookEach + 1 {
				_ = d.Decode(&event.Record{Value: []byte(c.value), Timestamp: 1}, b) // some are rejects
			}
			if got := seen(u); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// However many different names records have, only a limited number is kept.
func TestUndeclaredNamesAreBounded(t *testing.T) {
	u := new(event.Undeclared)
	d := event.NewDecoder(event.Schema{Fields: []event.Field{{Name: "id", Type: event.Text}}, Version: -1, Undeclared: u})
	b := new(event.Batch)
	const more = 50
	for i := range (event.MostUndeclared + more) * event.LookEach {
		if err := d.Decode(&event.Record{Value: fmt.Appendf(nil, `{"id":"a","made-up-%d":1}`, i/event.LookEach)}, b); err != nil {
			t.Fatal(err)
		}
		d.Reset(b)
	}
	if c := u.Counts(); len(c.Names) != event.MostUndeclared || c.Others != more {
		t.Errorf("%d names and %d others", len(c.Names), c.Others)
	}
}

// Looking allocates nothing once a name is known.
func TestLookingAllocatesNothing(t *testing.T) {
	d := event.NewDecoder(event.Schema{Fields: []event.Field{{Name: "id", Type: event.Text}}, Version: -1, Undeclared: new(event.Undeclared)})
	b, rec := new(event.Batch), &event.Record{Value: []byte(`{"id":"a","note":{"x":[1,2]},"n":1}`)}
	if n := testing.AllocsPerRun(10, func() {
		d.Reset(b)
		for range 2 * event.LookEach {
			if err := d.Decode(rec, b); err != nil {
				t.Fatal(err)
			}
		}
	}); n > 0 {
		t.Errorf("%.1f allocations", n)
	}
}
