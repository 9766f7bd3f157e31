// Package avro reads Avro records for package event.
//
// A record is read by a plan (plan.go), made of the schema that the record was written with and of the declared fields. What no field asks
// for is skipped by its length; what a field asks for goes from the record's bytes to event.Builder without an intermediate value. What the
// writer's schema lacks is absent. There are no reader's schemas and defaults here; the declared fields take their place.
//
// The package keeps these invariants. Reading is total and pure: any bytes, with any schema, yield an event or an *event.Error, in time and
// memory bounded by the record's length. Every byte of the record is accounted for: it is exactly the value that the schema describes.
package avro
