package config

import (
	"strings"
	"testing"

	"brine/registry"
)

// TestSchemasOfOwnRecordsAreNotCompared checks that a topic whose newest schema is of Debezium's own records, which are left out, lacks no
// field, while another schema without the row does.
func TestSchemasOfOwnRecordsAreNotCompared(t *testing.T) {
	const text = `
kafka: { brokers: [localhost:9092] }
hbase: { connect: "embedded:./data" }
registry: { url: "http://localhost:8081" }
tables:
  t: { row: entity, key: "md5(id, 4) + id", families: { e: {} } }
pipelines:
  p:
    topic_pattern: s1\..*
    format: FORMAT
    envelope: { form: debezium, unwrapped: true, key: [id] }
    deletes: marked
    images: { deleted: gone }
    fields: { id: text, v: text, gone: bool, at: { type: int, path: $source.lsn } }
    version: lsn(at)
    rows: [ { table: t, set: { "e:v": v, "e:g": gone } } ]
`
	for format, schemas := range map[string][2]registry.Schema{
		"avro": {{Type: registry.Avro, Text: `{"type":"record","name":"TransactionMetadataValue","namespace":"io.debezium.connector.common","fields":[
			{"name":"status","type":"string"},{"name":"id","type":"string"}]}`},
			{Type: registry.Avro, Text: `{"type":"record","name":"Value","namespace":"s1.shop.t","fields":[{"name":"status","type":"string"}]}`}},
		"protobuf": {{Type: registry.Protobuf, Text: `syntax = "proto3"; package io.debezium.connector.common; message TransactionMetadataValue { string status = 1; }`},
			{Type: registry.Protobuf, Text: `syntax = "proto3"; message Value { string status = 1; }`}},
	} {
		cfg, problems := Parse("brine.yaml", []byte(strings.Replace(text, "FORMAT", format, 1)), environ())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		p := cfg.Pipeline("p")
		if found, leftOut := p.CompareSchema(registry.Value, &schemas[0]); len(found) > 0 || !leftOut {
			t.Errorf("%s: a transaction's schema: %v, %v", format, found, leftOut)
		}
		if found, leftOut := p.CompareSchema(registry.Value, &schemas[1]); len(found) == 0 || leftOut {
			t.Errorf("%s: a row's schema: %v, %v", format, found, leftOut)
		}
	}
}
