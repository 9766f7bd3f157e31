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
// What to read for what: conn.go and servers.go (calls and connections), registry.go, locator.go, rounds.go and cache.go (where rows are),
// batch.go, mutator.go, admit.go, lane.go, hold.go, writer.go, multi.go, outcome.go and placement.go (a mutation's way, in this
// order), rest.go (how a lane waits), pace.go and isolation.go (lanes that are slow, and mutations that make calls fail),
// tries.go, get.go and scan.go (reading), admin.go, remedy.go (exceptions and what is done about them).
package hbase
