package protobuf

import (
	"strings"
	"testing"

	"brine/event"
	"brine/registry"
)

// Messages of Debezium's own records, as Kafka Connect's Protobuf converter registers them.
const (
	ownTransaction = `syntax = "proto3"; package io.debezium.connector.common;
message TransactionMetadataValue { string status = 1; string id = 2; int64 event_count = 3; repeated Collection data_collections = 4; int64 ts_ms = 5;
  message Collection { string data_collection = 1; int64 event_count = 2; } }`
	ownSchemaChange = `syntax = "proto3"; package io.debezium.connector.mysql;
message SchemaChangeValue { Source source = 1; int64 ts_ms = 2; optional string databaseName = 3; optional string schemaName = 4; optional string ddl = 5;
  repeated Change tableChanges = 6; message Source { string connector = 1; int64 ts_ms = 2; } message Change { string type = 1; string id = 2; } }`
	ownHeartbeat      = `syntax = "proto3"; package io.debezium.connector.common; message Heartbeat { int64 ts_ms = 1; }`
	rowOfTransactions = `syntax = "proto3"; message Value { string status = 1; string id = 2; int64 event_count = 3; repeated string data_collections = 4; int64 ts_ms = 5; }`
)

// Debezium's own records in Protobuf are left out, in their envelope's topics and behind ExtractNewRecordState, even if fields are declared
// at their members with other types, and even if breaking schemas halt.
func TestDebeziumsOwnRecords(t *testing.T) {
	elsewhere := func(schema string) string { // a transform has renamed it
		return strings.NewReplacer("io.debezium.connector.", "shop.", "TransactionMetadataValue", "T", "SchemaChangeValue", "S").Replace(schema)
	}
	end := `status:"END" id:"571" event_count:1 data_collections:{data_collection:"shop.orders" event_count:1} ts_ms:1`
	alter := `source:{connector:"mysql"} ts_ms:2 ddl:"ALTER TABLE orders …" tableChanges:{type:"ALTER" id:"shop.orders"}`
	ids, texts := declare(t, "id int\nstatus bool\nsource text\nts_ms bool"), declare(t, "id text\nstatus text")
	for _, c := range []struct {
		name, schema, message string
		fields                []event.Field
		in                    string
		bare, whole           string // the outcomes of unwrapped rows, and behind an envelope
	}{
		{"a transaction begins", ownTransaction, "TransactionMetadataValue", ids, `status:"BEGIN" id:"571" ts_ms:1`, "left out: transaction", "left out: transaction"},
		{"a transaction ends", ownTransaction, "TransactionMetadataValue", ids, end, "left out: transaction", "left out: transaction"},
		{"a transaction ends, with fields that fit", ownTransaction, "TransactionMetadataValue", texts, end, "left out: transaction", "left out: transaction"},
		{"a transaction ends, under another name", elsewhere(ownTransaction), "T", ids, end, "left out: transaction", "left out: transaction"},
		{"a schema change", ownSchemaChange, "SchemaChangeValue", ids, alter, "left out: schema_change", "left out: schema_change"},
		{"a schema change without ddl", ownSchemaChange, "SchemaChangeValue", texts, `source:{} tableChanges:{}`, "left out: schema_change", "left out: schema_change"},
		{"a schema change, under another name", elsewhere(ownSchemaChange), "S", texts, alter, "left out: schema_change", "left out: schema_change"},
		{"a heartbeat", ownHeartbeat, "Heartbeat", texts, `ts_ms:1`, "left out: heartbeat", "left out: heartbeat"},
		{"a heartbeat where a column has its name", ownHeartbeat, "Heartbeat", ids, `ts_ms:1`, "left out: heartbeat", "left out: heartbeat"},
		{"a row with all these columns", rowOfTransactions, "Value", texts, `status:"END" id:"571" event_count:1 data_collections:"a" ts_ms:1`, `id="571" status="END"`, "missing_field: field op"},
		{"a row with all these columns, of other types", rowOfTransactions, "Value", ids, `status:"END" id:"571"`, "breaking_schema: field id", "missing_field: field op"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, unwrapped := range []bool{true, false} {
				e := &event.Envelope{Form: event.Debezium, Unwrapped: unwrapped, MarkedDeletes: unwrapped}
				schema := e.Wrap(event.Schema{Fields: c.fields, Version: -1, HaltBreaking: true, Needed: []int{0},
					Format: Registered(registry.Confluent, &single{schema: &registry.Schema{ID: registry.ID{Number: 5}, Type: registry.Protobuf, Text: c.schema}})})
				if err := schema.Validate(); err != nil {
					t.Fatal(err)
				}
				d, b := event.NewDecoder(schema), new(event.Batch)
				rec := &event.Record{Value: frame(5, []byte{0}, body(t, c.schema, c.message, c.in)), Timestamp: 1000}
				if err := d.Resolve(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
				got, want := "", c.whole
				if unwrapped {
					want = c.bare
				}
				if err := d.Decode(rec, b); err != nil {
					got = err.Error()
				} else if ev := b.Events[0]; ev.LeftOut != "" {
					got = "left out: " + string(ev.LeftOut)
				} else {
					got = "id=" + show(ev.Values[0]) + " status=" + show(ev.Values[1])
				}
				if !strings.HasPrefix(got, want) {
					t.Errorf("unwrapped %v:\ngot  %s\nwant %s", unwrapped, got, want)
				}
				rec.Value = rec.Value[:len(rec.Value)-1]
				if err := d.Decode(rec, b); strings.HasPrefix(want, "left out") && (err == nil || !strings.HasPrefix(err.Error(), "undecodable: ")) {
					t.Errorf("unwrapped %v, and truncated: %v", unwrapped, err)
				}
			}
		})
	}
}
