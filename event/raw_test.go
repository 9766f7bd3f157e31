package event_test

import (
	"strings"
	"testing"

	"brine/event"
)

// TestFieldsDoNotChangeWhatTheEnvelopeSays: a change is judged by what its record says, whatever a field makes of it.
func TestFieldsDoNotChangeWhatTheEnvelopeSays(t *testing.T) {
	turned := func(f event.Field, c event.Conversion) event.Field {
		f.Convert = c
		return f
	}
	op := func(c event.Conversion) event.Field { return turned(at("op", event.Text, "$op"), c) }
	kind := func(c event.Conversion) event.Field { return turned(at("kind", event.Text, "$type"), c) }
	deleted := func(c event.Conversion) event.Field { return turned(at("state", event.Text, "$deleted"), c) }
	kinds := event.Conversion{Enum: map[string]string{"c": "created", "u": "updated", "d": "c", "r": "read"}, Else: "d"}
	states := event.Conversion{Enum: map[string]string{"true": "removed", "false": "true"}}
	wrapped := func(f event.Field) event.Schema {
		return wrap(event.Envelope{Form: event.Debezium, Refused: []event.LeftOut{event.Truncate}}, -1, at("id", event.Int), f)
	}
	bare := func(f event.Field) event.Schema {
		return wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true, Keys: []string{"id"}}, -1, at("id", event.Int), f)
	}
	canal := func(f event.Field) event.Schema {
		return wrap(event.Envelope{Form: event.Canal, Refused: []event.LeftOut{event.Truncate}}, -1, at("id", event.Int), f)
	}
	maxwell := func(f event.Field) event.Schema {
		s := wrap(event.Envelope{Form: event.Maxwell}, -1, at("id", event.Int), f, at("place", event.Text, "$position"))
		s.Position = &event.Position{File: "place"}
		return s
	}
	snapshot := func(f event.Field, unwrapped bool) event.Schema {
		e := event.Envelope{Form: event.Debezium, Unwrapped: unwrapped}
		if unwrapped {
			e.Keys = []string{"id"}
		}
		s := wrap(e, -1, at("id", event.Int), f, at("lsn", event.Int, "$source", "lsn"))
		s.Position = &event.Position{LSN: "lsn"}
		return s
	}
	read := func(c event.Conversion) event.Field {
		return turned(at("snapshot", event.Text, "$source", "snapshot"), c)
	}
	defaulted := at("snapshot", event.Text, "$source", "snapshot")
	defaulted.Default = event.TextValue("incremental")
	upper, lower := event.Conversion{Case: event.Upper}, event.Conversion{Case: event.Lower}
	for _, c := range []struct {
		name   string
		schema event.Schema
		in     string
		want   string
	}{
		{"create", wrapped(op(kinds)), `{"op":"c","after":{"id":1}}`, `version=1000 id=1 op="created" gone=false`},
		{"delete", wrapped(op(kinds)), `{"op":"d","before":{"id":1},"after":null}`, `version=1000 id=1 op="c" gone=true`},
		{"truncate", wrapped(op(kinds)), `{"op":"t"}`, `undecodable: it is a truncate`},
		{"another kind", wrapped(op(kinds)), `{"op":"x","after":{"id":1}}`, `undecodable: field op: unknown kind of change: "x"`},
		{"another kind that becomes one", wrapped(op(lower)), `{"op":"C","after":{"id":1}}`, `undecodable: field op: unknown kind of change: "C"`},
		{"spaces", wrapped(op(event.Conversion{Trim: true})), `{"op":" c","after":{"id":1}}`, `undecodable: field op: unknown kind of change: " c"`},
		{"no kind", wrapped(op(kinds)), `{"after":{"id":1}}`, `missing_field: field op`},

		{"a marked row", bare(deleted(states)), `{"id":1,"__deleted":"true"}`, `version=1000 id=1 state="removed" gone=true`},
		{"a marked row, as a bool", bare(deleted(states)), `{"id":1,"__deleted":true}`, `version=1000 id=1 state="removed" gone=true`},
		{"a living row", bare(deleted(states)), `{"id":1,"__deleted":"false"}`, `version=1000 id=1 state="true" gone=false`},
		{"a row that is marked by its kind", bare(op(kinds)), `{"id":1,"__op":"d"}`, `version=1000 id=1 op="c" gone=true`},
		{"an update", bare(op(kinds)), `{"id":1,"__op":"u"}`, `version=1000 id=1 op="updated" gone=false`},

		{"canal", canal(kind(lower)), `{"type":"INSERT","data":[{"id":"1"},{"id":"2"}]}`,
			"version=1000 id=1 kind=\"insert\" gone=false\nversion=1000 id=2 kind=\"insert\" gone=false"},
		{"canal's delete", canal(kind(lower)), `{"type":"DELETE","data":[{"id":"1"}]}`, `version=1000 id=1 kind="delete" gone=true`},
		{"canal's truncate", canal(kind(lower)), `{"type":"TRUNCATE"}`, `undecodable: it is a truncate`},
		{"canal's other kinds", canal(kind(upper)), `{"type":"insert","data":[{"id":"1"}]}`, `undecodable: field type: unknown kind of row change: "insert"`},

		{"maxwell", maxwell(kind(upper)), `{"type":"insert","position":"b.1:2","data":{"id":1}}`, `version=4294967298 id=1 kind="INSERT"`},
		{"maxwell's bootstrap", maxwell(kind(upper)), `{"type":"bootstrap-insert","data":{"id":1}}`, `version=0 id=1 kind="BOOTSTRAP-INSERT" gone=false`},

		{"read beside the log", snapshot(read(upper), false), `{"op":"r","after":{"id":1},"source":{"snapshot":"incremental"}}`,
			`version=0 id=1 snapshot="INCREMENTAL" gone=false`},
		{"read beside the log, unwrapped", snapshot(read(upper), true), `{"id":1,"__op":"r","__source_snapshot":"incremental"}`,
			`version=0 id=1 snapshot="INCREMENTAL" gone=false`},
		{"not read beside the log", snapshot(read(lower), false), `{"op":"r","after":{"id":1},"source":{"snapshot":"INCREMENTAL"}}`, `missing_field: field source.lsn`},
		{"a default", snapshot(defaulted, false), `{"op":"r","after":{"id":1},"source":{}}`, `missing_field: field source.lsn`},
		{"a default of null", snapshot(defaulted, false), `{"op":"r","after":{"id":1},"source":{"snapshot":null}}`, `missing_field: field source.lsn`},
	} {
		if got := said(t, c.schema, &event.Record{Value: []byte(c.in), Timestamp: 1000}); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	// A fix changes what the record says.
	fixes := map[string]string{"op": `op == "z" ? "c" : op`}
	wantFixed(t, wrapped(op(kinds)), fixes, `{"op":"z","after":{"id":1}}`, "1 created false @")
	wantFixed(t, wrapped(op(kinds)), fixes, `{"op":"u","after":{"id":1},"before":{"id":2}}`, "1 updated false @")
	wantFixed(t, wrapped(op(kinds)), fixes, `{"op":"d","before":{"id":1}}`, "1 ")
}
