// Package indexer is the Writer for the search index: it turns events into documents, groups of documents into bulk calls, and the answer
// for every single document into a verdict. The engines below it (elastic, embedded) implement its interface Engine.
//
// The path of an event: Submit encodes its documents (document.go) and queues each in the lane of its id (writer.go). A lane takes what has
// gathered, at most one write per document (round.go). It reads documents that it has not written lately (recent.go), merges partial
// changes into them (partial.go), makes bulk calls (round.go, call.go) and decides about every document (outcome.go, decide.go). The last
// one of a flight settles it (lane.go, flight.go). Beside that path, pace.go adapts the calls to the server, and part.go and expire.go keep
// indexes in parts by time, and remove documents that were deleted long ago.
//
// The invariants:
//   - A document is a pure function of the events of its row: for each field the greatest version, among equals the last submitted.
//     Repeats, shuffles and unknown outcomes change nothing.
//   - Every submitted event ends in exactly one of: written, already newer (both: durable), retry, reject, halt.
//   - At most 1 % of what is written, plus 100 a minute, is rejected because an index refuses it; then the writer halts.
//   - A document that waits holds up nothing but itself.
//   - Two changes of one document are never in two calls at once, and are applied in the order submitted: also if one has been given up
//     (verdict retry), in the order of their records, because later ones wait until it is submitted again (owed.go).
package indexer
