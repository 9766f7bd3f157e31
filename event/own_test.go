package event_test

import (
	"testing"

	"brine/event"
)

// Debezium's own records, as its JSON converter writes them.
const (
	begins        = `{"status":"BEGIN","id":"571:53195829","ts_ms":950,"event_count":null,"data_collections":null}`
	ends          = `{"status":"END","id":"571:53195832","ts_ms":950,"event_count":2,"data_collections":[{"data_collection":"s1.a","event_count":2}]}`
	endsEarly     = `{"status":"END","id":"571","event_count":0,"data_collections":[]}` // before Debezium 1.7
	alters        = `{` + source + `,"ts_ms":950,"databaseName":"shop","schemaName":null,"ddl":"ALTER TABLE orders …","tableChanges":[{"type":"ALTER","id":"\"shop\".\"orders\"","table":{}}]}`
	altersWithout = `{` + postgres + `,"ts_ms":950,"databaseName":"shop","schemaName":"public","ddl":null,"tableChanges":[{"type":"CREATE"}]}`
	beats         = `{"ts_ms":950}`
)

// Debezium's own records are left out whatever is declared, and no row is taken for one because it shares some of their members.
func TestDebeziumsOwnRecords(t *testing.T) {
	whole := func(fields ...event.Field) event.Schema {
		return wrap(event.Envelope{Form: event.Debezium}, -1, fields...)
	}
	bare := func(fields ...event.Field) event.Schema {
		return wrap(event.Envelope{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true}, -1, fields...)
	}
	inKey := bare(event.Field{Name: "id", Type: event.Int, Place: event.InKey, Path: []string{"id"}}, at("name", event.Text))
	inKey.KeyFormat = event.JSONFormat{}
	ids, texts := bare(at("id", event.Int), at("status", event.Int)), bare(at("id", event.Text), at("status", event.Text))
	halting := bare(at("id", event.Int))
	halting.HaltBreaking, halting.Needed = true, []int{0}
	for _, c := range []struct {
		name   string
		schema event.Schema
		in     string
		want   string // for the bare record
		named  string // the same in a schema that has the record's name; empty: the same
	}{
		{"a row's id and status", whole(at("id", event.Int), at("status", event.Text)), begins, "left out: transaction", ""},
		{"an envelope's id and status", whole(at("name", event.Text), at("id", event.Int, "$id"), at("status", event.Int, "$status")), ends, "left out: transaction", ""},
		{"more than Debezium writes", whole(at("id", event.Int)), `{"host":"h",` + ends[1:], "left out: transaction", ""},
		{"without a time", whole(at("id", event.Int)), endsEarly, "left out: transaction", ""},
		{"a forgotten unwrapped: true", whole(at("id", event.Int)), `{"id":1,"status":"END","event_count":2}`,
			`missing_field: field op: it is not a change in Debezium's format; write unwrapped: true in the envelope if its rows come without one`, "left out: transaction"},
		{"the same with a time", whole(at("id", event.Int)), `{"id":1,"ts_ms":950}`,
			`missing_field: field op: it is not a change in Debezium's format; write unwrapped: true in the envelope if its rows come without one`, "left out: transaction"},

		{"unwrapped, id and status of other types", ids, begins, "left out: transaction", ""},
		{"unwrapped, id and status as they are", texts, ends, "left out: transaction", ""},
		{"unwrapped, a time that is none", bare(at("ts_ms", event.Text)), begins, "left out: transaction", ""},
		{"unwrapped, all members declared", bare(at("status", event.Text), at("id", event.Text), at("event_count", event.Int), at("data_collections", event.Nested)), ends, "left out: transaction", ""},
		{"unwrapped, parts of a member declared", bare(at("of", event.Text, "data_collections", "0", "data_collection")), ends, "left out: transaction", ""},
		{"unwrapped, a key of another type", inKey, begins, "left out: transaction", ""},
		{"unwrapped, a needed field of another type", halting, ends, "left out: transaction", ""},
		{"unwrapped, ddl and source", bare(at("ddl", event.Int), at("source", event.Text)), alters, "left out: schema_change", ""},
		{"unwrapped, source as JSON", bare(at("source", event.Nested)), altersWithout, "left out: schema_change", ""},
		{"unwrapped, a heartbeat", bare(at("id", event.Int)), beats, "left out: heartbeat", ""},

		{"unwrapped, a row of a table of transactions", texts, `{"status":"PAID","id":"571","ts_ms":950,"event_count":null,"data_collections":null}`,
			`version=1000 id="571" status="PAID" gone=false`, "left out: transaction"},
		{"unwrapped, a row with one column more", texts, `{"note":1,` + begins[1:], `version=1000 id="571:53195829" status="BEGIN" gone=false`, "left out: transaction"},
		{"unwrapped, a row with what the transform adds", texts, `{"__op":"c",` + begins[1:], `version=1000 id="571:53195829" status="BEGIN" gone=false`, "left out: transaction"},
		{"unwrapped, a row with a text in a column named so", texts, `{"status":"END","id":"571","ts_ms":950,"event_count":2,"data_collections":"[]"}`,
			`version=1000 id="571" status="END" gone=false`, "left out: transaction"},
		{"unwrapped, a row of statements", bare(at("ddl", event.Text)), `{"source":"app","databaseName":"shop","ddl":"x","ts_ms":950}`, `version=1000 ddl="x" gone=false`, "left out: transaction"},
		{"unwrapped, a row of one column", bare(at("ts_ms", event.Int)), beats, `version=1000 ts_ms=950 gone=false`, "left out: transaction"},
		{"unwrapped, a row with a value that does not fit", ids, `{"id":"x","status":1}`, `wrong_type: field id: an integer is expected, found a string`, "left out: transaction"},
		{"Maxwell", wrap(event.Envelope{Form: event.Maxwell}, -1, at("id", event.Int)), ends, `missing_field: field type: it is not a change in Maxwell's format`, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(in, want string) {
				t.Helper()
				rec := &event.Record{Key: []byte(`{"id":"571"}`), Value: []byte(in), Timestamp: 1000}
				if got := said(t, c.schema, rec); got != want {
					t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
				}
			}
			check(c.in, c.want)
			if c.named == "-" {
				return
			}
			check(`{"schema":null,"payload":`+c.in+`}`, c.want)
			check(` { "payload" : `+c.in+`, "schema" : {"type":"struct","fields":[]} } `, c.want)
			if c.named != "" { // the schema says what the record is, whatever it holds
				check(`{"schema":{"type":"struct","fields":[],"name":"io.debezium.connector.common.TransactionMetadataValue"},"payload":`+c.in+`}`, c.named)
			}
			check(`{"schema":{"type":"struct","fields":[],"name":"s1.shop.orders.Value"},"payload":`+c.in+`}`, c.want)
		})
	}
	for name, want := range map[string]string{
		"io.debezium.connector.mysql.SchemaChangeValue": "left out: schema_change", "io.debezium.connector.common.Heartbeat": "left out: heartbeat",
		"io.debezium.connector.common.Another": `version=1000 id="7" gone=false`, "shop.Heartbeat": `version=1000 id="7" gone=false`,
	} {
		rec := &event.Record{Value: []byte(`{"schema":{"type":"struct","name":"` + name + `"},"payload":{"id":"7","new":1}}`), Timestamp: 1000}
		if got := said(t, texts, rec); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
