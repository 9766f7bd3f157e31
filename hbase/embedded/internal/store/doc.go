// Package store keeps HBase cells in Pebble and reads them with HBase's semantics: versions, time to live, delete markers, time ranges. It
// does not know protobuf, the wire protocol or region servers.
//
// A table is a space of cells, identified by a number that is never reused. Regions do not appear in the keys, so a split, a merge or a
// move writes only hbase:meta. The keys of a cell and of a record of the catalogue:
//
//	0x02 | space, 4 bytes big endian | row | family 0x00 | qualifier | timestamp, 8 bytes | type, 1 byte   → value | TTL
//	0x01 | name                                                                                           → record
//
//	row, qualifier   each 0x00 written as 0x00 0xFF, then the end 0x00 0x01, so that a shorter one sorts first
//	row of hbase:meta   table 0x00 0x02 start key 0x00 0x02 id, then the end 0x00 0x01: its parts are compared one by one
//	family           printable, so 0x00 ends it
//	timestamp        sign bit flipped, then all bits inverted: newest first
//	type             inverted: of one timestamp, delete markers before puts
//	TTL              0x00 for none; else 8 bytes big endian, in milliseconds, and 0x01. A folder of format 1 has values alone
//
// The byte order of the keys is HBase's cell order. Two cells with the same coordinates have the same key: the one applied last wins.
// Changes that must be atomic are committed as one Pebble batch, and a commit returns once the operating system has the log record (with
// Options.Fsync: once the disk has it); concurrent commits share one write.
//
// Before Pebble opens a folder, the store checks it against what is known of it: the inventory if it was closed (internal/datadir), and the
// lengths of logs and manifests (lengths.go). Salvage makes a new folder from the readable parts of a damaged one.
//
// Nothing is written after a failed write or sync: a fence cuts Pebble off from the folder (fence.go), every call returns ErrUnavailable
// and the cause, and the folder is opened again, for another life of the store, as soon as that succeeds (life.go).
package store
