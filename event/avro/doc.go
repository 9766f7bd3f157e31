// Package avro reads Avro records for package event.
//
// A record is read by a plan (plan.go), which is made of the schema that the record was written with and of the declared fields: what no
// field asks for is passed over by its length, and what one asks for goes from the record's bytes to event.Builder without a value between.
// What the writer's schema lacks is absent; a reader's schema and its defaults do not exist here, the declared fields stand for them.
//
// It keeps these invariants. Reading is total and pure: any bytes, with any schema, give an event or an *event.Error, in time and memory
// that the record's length bounds. Every byte of the record is accounted for: it is the whole value that the schema describes, and nothing
// more.
package avro
