// Package hbasepb holds the protobuf messages of HBase's wire protocol that brine uses. The .proto files are our own and minimal. Names,
// numbers, types and the proto package hbase.pb are HBase's, so the encoding is the same. Services are not declared: a method is sent as
// its name in RequestHeader.
//
// Invariant: the .pb.go files are what internal/gen generates from the .proto files; a test checks this.
package hbasepb

//go:generate go run ./internal/gen
