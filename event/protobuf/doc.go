// Package protobuf reads records that are Protobuf messages, as descriptors say that they are laid out.
//
// A Schema is compiled from a .proto file or from what a registry has of one. A Message of it is an event.Format: its reader walks over the
// bytes by a plan that is made once, of the descriptor and the declared fields, and costs no allocation. What the plan cannot set at once,
// JSON and well-known types, is collected and set when the record has been read.
//
// The invariant: a reader sees what Protobuf's own parser would see. The last value of a field counts, occurrences of a message are merged,
// the last member of a oneof wins, repeated fields come packed or not. It differs in three things: fields that nobody declared are not
// looked into, text is UTF-8 in proto2 too, and a declared field of another wire type is an error, not an unknown field.
package protobuf
