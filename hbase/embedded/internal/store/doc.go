// Package store keeps HBase cells in Pebble and answers reads with HBase's semantics: versions, time to live, delete
// markers, time ranges. It knows no protobuf, no wire and no region servers.
//
// A table is a space of cells, named by a number that is never used twice. Regions do not show in the keys, so that a
// split, a merge or a move writes nothing but hbase:meta. The keys of one cell and of one record of the catalogue:
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
// Iterating the keys in byte order is HBase's cell order. A cell applied twice with the same coordinates is one key: the
// last applied wins. What must be atomic is committed as one Pebble batch, and a commit returns when the operating system
// has the log record (with Options.Fsync: when the disk has it); concurrent commits share one write.
//
// A folder is held against what is known of it before Pebble opens it: the inventory of one that was closed (internal/datadir), and the
// lengths of logs and manifests (lengths.go). Salvage makes a new one of what can be read of one that is damaged.
//
// Nothing is written behind a write or sync that failed: a fence cuts Pebble off from the folder (fence.go), every call is answered with
// ErrUnavailable and the cause, and the folder is opened again, for another life of the store, as soon as that succeeds (life.go).
package store
