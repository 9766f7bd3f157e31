// Package hbase is a native HBase client: it finds masters, regions and servers, sends batches of mutations in region
// lanes, retries what may be retried, and reads by get and scan. sink and query import it; so can anyone who wants an
// HBase client and nothing else of ours. It imports no metrics package: Hooks tell what happens.
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
//	            varint │ parameter: a MultiRequest, for one, that tells how many cells each mutation has
//	            cell block, to the frame's end
//	cell block  int32 length │ cell, again and again
//	cell        int32 key length │ int32 value length │ key │ value
//	key         int16 row length │ row │ byte family length │ family │ qualifier │ int64 timestamp │ byte type
//
// An answer has a ResponseHeader instead, with the call's id and, if it failed, an exception; answers come in any order.
// Options.Compression compresses the cell block as a whole.
//
// A client has goroutines of its own, all of which have ended when Close returns. The package has one thing that no client
// owns: the ZooKeeper sessions that all clients of a process share, see quorums in zookeeper_quorum.go.
//
// What to read for what: conn.go and servers.go (calls and connections), registry.go, zookeeper.go with its session and quorum,
// locator.go, locator_meta.go, rounds.go, cache.go and table_state.go (where rows are), batch.go, mutator.go, admit.go, lane.go, lanes.go, hold.go, writer.go, multi.go, outcome.go and placement.go (a mutation's way, in this
// order), ease.go (what a flight keeps while a region fails), rest.go (how a lane waits), gone.go (calls that a server keeps), pace.go and isolation.go (lanes that are slow, and mutations that make calls fail),
// stats.go (what waits where), tries.go, get.go, scan.go, filter.go and comparator.go (reading), change.go, condition.go and delta.go (changes of one row
// outside of the lanes: conditions, increments), admin*.go, remedy.go (exceptions and what is done about them).
package hbase
