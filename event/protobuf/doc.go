// Package protobuf reads records that are Protobuf messages, as described by descriptors.
//
// A Schema is compiled from a .proto file or from a registry's schema. A Message of it is an event.Format: its reader walks over the bytes
// by a plan, which is made once from the descriptor and the declared fields, without allocating. What the plan cannot set at once (JSON and
// well-known types) is collected, and set at the end of the record.
//
// The invariant: a reader sees what Protobuf's own parser would see. The last value of a field counts, occurrences of a message are merged,
// the last member of a oneof wins, and repeated fields may be packed or not. There are three differences: the contents of undeclared fields
// are not checked, text must be UTF-8 in proto2 too, and a declared field of another wire type is an error instead of an unknown field.
package protobuf
