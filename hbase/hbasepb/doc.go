// Package hbasepb holds the protobuf messages of HBase's wire, as far as brine speaks it. The .proto files are our own and
// minimal; names, numbers, types and the proto package hbase.pb are HBase's, so that the bytes are too. Services are not
// declared: a method travels as its name in RequestHeader.
//
// Invariant: the .pb.go files are what internal/gen makes of the .proto files, which a test checks.
package hbasepb

//go:generate go run ./internal/gen
