// Package hbase is a native HBase client. It finds masters, regions and servers, sends batches of mutations in region lanes, retries what
// may be retried, and reads with gets and scans. It imports nothing of brine's own work, so it can be used as an HBase client alone. It
// imports no metrics package: Hooks report what happens.
//
// The invariants:
//   - cached regions of one table never overlap;
//   - every mutation passed to Submit gets exactly one result;
//   - among answered calls, two mutations of one row are applied in the order given (after an unknown outcome only their
//     timestamps order them, which is why every cell carries one);
//   - remedies for remote exceptions never leave the package: callers see a *MutationError or an *Error.
//
// On the wire, a call and its answer are one frame each. Integers are big-endian; messages are protobuf, preceded by a varint length:
//
//	frame       int32 length of all that follows
//	            varint │ RequestHeader: call id, method, length of the cell block, time-out
//	            varint │ parameter: for example a MultiRequest, which has the number of cells of each mutation
//	            cell block, to the frame's end
//	cell block  int32 length │ cell, repeated
//	cell        int32 key length │ int32 value length │ key │ value
//	key         int16 row length │ row │ byte family length │ family │ qualifier │ int64 timestamp │ byte type
//
// An answer has a ResponseHeader instead, with the call's id and, if the call failed, an exception. Answers arrive in any order.
// Options.Compression compresses the cell block as a whole.
//
// A client has its own goroutines, all of which have ended when Close returns. Only the ZooKeeper sessions belong to no client: all clients
// of a process share them (internal/zk).
//
// This package holds the API; each internal package has its own documentation:
//
//	internal/pipeline   the path of a mutation from Submit to its result; its doc.go is an outline, step by step
//	internal/locate     where rows are: the cache, hbase:meta, the registries
//	internal/rpc        connections, calls, and the rows and cells of answers
//	internal/remote     exceptions and the table of their remedies
//	internal/zk         what ZooKeeper knows about an HBase cluster
//	internal/wire       frames, cells and headers as bytes
//
// Reads and admin calls go through tries.go, which applies remedies and waits. get.go, multiget.go, scan.go, filter.go and comparator.go
// read; change.go, condition.go and delta.go change one row outside the lanes (conditions, increments); admin*.go calls the master.
package hbase
