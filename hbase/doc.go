// Package hbase is a native HBase client: it finds masters, regions and servers, sends batches of mutations in region
// lanes, retries what may be retried, and reads by get and scan. It imports nothing that belongs to brine's own work, so anyone who
// wants an HBase client and nothing else can use it. It imports no metrics package: Hooks report what happens.
//
// The invariants:
//   - cached regions of one table never overlap;
//   - every mutation given to Submit gets exactly one result;
//   - two mutations of one row are applied in the order given, among answered calls (after an unknown outcome only their
//     timestamps order them, which is why every cell carries one);
//   - remedies for remote exceptions never leave the package: callers see a *MutationError or an *Error.
//
// On the wire a call and its answer are a frame each, integers big-endian, messages protobuf with a varint length before them:
//
//	frame       int32 length of all that follows
//	            varint │ RequestHeader: call id, method, length of the cell block, time-out
//	            varint │ parameter: a MultiRequest, for one, that says how many cells each mutation has
//	            cell block, to the frame's end
//	cell block  int32 length │ cell, again and again
//	cell        int32 key length │ int32 value length │ key │ value
//	key         int16 row length │ row │ byte family length │ family │ qualifier │ int64 timestamp │ byte type
//
// An answer has a ResponseHeader instead, with the call's id and, if it failed, an exception; answers come in any order.
// Options.Compression compresses the cell block as a whole.
//
// A client has goroutines of its own, all of which have ended when Close returns. One thing belongs to no client: the ZooKeeper
// sessions that all clients of a process share (internal/zk).
//
// This package holds what a caller uses; each of its rooms has a page of its own:
//
//	internal/pipeline   the path of a mutation from Submit to its result; its doc.go is an outline, step by step
//	internal/locate     where rows are: the cache, hbase:meta, the registries
//	internal/rpc        connections, calls, and the rows and cells of answers
//	internal/remote     exceptions, and what is done about each: the table of remedies
//	internal/zk         what ZooKeeper knows of an HBase
//	internal/wire       frames, cells and headers as bytes
//
// Reads and admin calls go through tries.go, which applies remedies and waits: get.go, multiget.go, scan.go, filter.go and comparator.go
// read; change.go, condition.go and delta.go change one row outside of the lanes (conditions, increments); admin*.go asks the master.
package hbase
