package avro_test

import (
	"strings"
	"testing"

	twmb "github.com/twmb/avro"

	"brine/event"
	"brine/event/avro"
	"brine/registry"
)

// Schemas of Debezium's own records, as Kafka Connect's Avro converter registers them.
const (
	ownTransaction = `{"type":"record","name":"TransactionMetadataValue","namespace":"io.debezium.connector.common","fields":[{"name":"status","type":"string"},
		{"name":"id","type":"string"},{"name":"event_count","type":["null","long"],"default":null},{"name":"data_collections","type":["null",{"type":"array",
		"items":{"type":"record","name":"collection","namespace":"event","fields":[{"name":"data_collection","type":"string"},{"name":"event_count","type":"long"}],
		"connect.version":1,"connect.name":"event.collection"}}],"default":null},{"name":"ts_ms","type":"long"}],"connect.version":1,
		"connect.name":"io.debezium.connector.common.TransactionMetadataValue"}`
	ownTransactionKey = `{"type":"record","name":"TransactionMetadataKey","namespace":"io.debezium.connector.common","fields":[{"name":"id","type":"string"}]}`
	ownSchemaChange   = `{"type":"record","name":"SchemaChangeValue","namespace":"io.debezium.connector.mysql","fields":[{"name":"source","type":{"type":"record",
		"name":"Source","fields":[{"name":"connector","type":"string"},{"name":"ts_ms","type":"long"}]}},{"name":"ts_ms","type":"long"},
		{"name":"databaseName","type":["null","string"],"default":null},{"name":"schemaName","type":["null","string"],"default":null},
		{"name":"ddl","type":["null","string"],"default":null},{"name":"tableChanges","type":{"type":"array","items":{"type":"record","name":"Change",
		"namespace":"io.debezium.connector.schema","fields":[{"name":"type","type":"string"},{"name":"id","type":"string"}]}}}]}`
	rowOfTransactions = `{"type":"record","name":"Value","namespace":"s1.shop.jobs","fields":[{"name":"status","type":"string"},{"name":"id","type":"string"},
		{"name":"event_count","type":["null","long"],"default":null},{"name":"data_collections","type":["null",{"type":"array","items":"string"}],"default":null},
		{"name":"ts_ms","type":"long"}]}`
)

// Debezium's own records in Avro are left out, in their envelope's topics and behind ExtractNewRecordState, even if fields are declared at
// their members with other types, and even if breaking schemas halt.
func TestDebeziumsOwnRecords(t *testing.T) {
	end := map[string]any{"status": "END", "id": "571", "event_count": int64(1), "ts_ms": int64(1),
		"data_collections": []any{map[string]any{"data_collection": "shop.orders", "event_count": int64(1)}}}
	begin := map[string]any{"status": "BEGIN", "id": "571", "event_count": nil, "data_collections": nil, "ts_ms": int64(1)}
	alter := map[string]any{"source": map[string]any{"connector": "mysql", "ts_ms": int64(1)}, "ts_ms": int64(2), "databaseName": "shop", "schemaName": nil,
		"ddl": "ALTER TABLE orders …", "tableChanges": []any{map[string]any{"type": "ALTER", "id": "shop.orders"}}}
	row := map[string]any{"status": "END", "id": "571", "event_count": int64(1), "ts_ms": int64(1), "data_collections": []any{"a"}}
	elsewhere := func(schema string) string {
		return strings.NewReplacer("io.debezium.connector.", "shop.").Replace(schema) // a transform has renamed it
	}
	ids := []event.Field{{Name: "id", Type: event.Int}, {Name: "status", Type: event.Bool}, {Name: "source", Type: event.Text}, {Name: "ts_ms", Type: event.Bool}}
	texts := []event.Field{{Name: "id", Type: event.Text}, {Name: "status", Type: event.Text}}
	inKeys := []event.Field{{Name: "id", Type: event.Int, Place: event.InKey, Path: []string{"id"}}, {Name: "status", Type: event.Text}}
	for _, c := range []struct {
		name   string
		fields []event.Field
		schema string
		value  any
		bare   string // the outcome of unwrapped rows
		whole  string // the same behind an envelope
	}{
		{"a transaction begins", ids, ownTransaction, begin, "left out: transaction", "left out: transaction"},
		{"a transaction ends", ids, ownTransaction, end, "left out: transaction", "left out: transaction"},
		{"a transaction ends, with fields that fit", texts, ownTransaction, end, "left out: transaction", "left out: transaction"},
		{"a transaction ends, under another name", ids, elsewhere(ownTransaction), end, "left out: transaction", "left out: transaction"},
		{"a transaction ends, with a key that does not fit", inKeys, ownTransaction, end, "left out: transaction", "left out: transaction"},
		{"a schema change", ids, ownSchemaChange, alter, "left out: schema_change", "left out: schema_change"},
		{"a schema change, under another name", texts, elsewhere(ownSchemaChange), alter, "left out: schema_change", "left out: schema_change"},
		{"a heartbeat", texts, heartbeatSchema, map[string]any{"ts_ms": int64(1)}, "left out: heartbeat", "left out: heartbeat"},
		{"a heartbeat where a column has its name", ids, heartbeatSchema, map[string]any{"ts_ms": int64(1)}, "left out: heartbeat", "left out: heartbeat"},
		{"a row with all these columns", texts, rowOfTransactions, row, "written: 571 END", "missing_field: field op"},
		{"a row with all these columns, of other types", ids, rowOfTransactions, row, "breaking_schema: field id", "missing_field: field op"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, unwrapped := range []bool{true, false} {
				s := newShelf()
				s.add(1, "s1.transaction-value", c.schema)
				s.add(2, "s1.transaction-key", ownTransactionKey)
				e := &event.Envelope{Form: event.Debezium, Unwrapped: unwrapped, MarkedDeletes: unwrapped}
				schema := e.Wrap(event.Schema{Fields: c.fields, Version: -1, HaltBreaking: true, Needed: []int{0}, Format: avro.Registered(registry.Confluent, s),
					KeyFormat: avro.Registered(registry.Confluent, s)})
				if err := schema.Validate(); err != nil {
					t.Fatal(err)
				}
				encode := func(id byte, schema string, value any) []byte {
					p, err := twmb.MustParse(schema).AppendEncode([]byte{0, 0, 0, 0, id}, value)
					if err != nil {
						t.Fatal(err)
					}
					return p
				}
				d, b := event.NewDecoder(schema), new(event.Batch)
				rec := &event.Record{Key: encode(2, ownTransactionKey, map[string]any{"id": "571"}), Value: encode(1, c.schema, c.value), Timestamp: 1000}
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
					got = "written: " + valueText(ev.Values[0]) + " " + valueText(ev.Values[1])
				}
				if !strings.HasPrefix(got, want) {
					t.Errorf("unwrapped %v:\ngot  %s\nwant %s", unwrapped, got, want)
				}
				rec.Value, rec.Key = rec.Value[:len(rec.Value)-1], nil
				if err := d.Decode(rec, b); strings.HasPrefix(want, "left out") && (err == nil || !strings.HasPrefix(err.Error(), "undecodable: ")) {
					t.Errorf("unwrapped %v, and truncated: %v", unwrapped, err)
				}
			}
		})
	}
}
