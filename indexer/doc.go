// Package indexer is the Writer for the search index: it turns events into documents, groups of documents into bulk calls,
// and the answer to every single document into a verdict. The engines below it (elastic, embedded) implement its interface Engine.
//
// The path of an event: Submit encodes its documents (document.go) and queues each in the lane of its id (writer.go); a lane
// takes what has gathered, at most one write for a document, merges partial changes into what the index holds (partial.go),
// reading what it has not written lately (recent.go),
// makes one bulk call and reads every outcome (lane.go, outcome.go, decide.go); the last one settles the flight (flight.go).
// Beside that path: pace.go adapts the calls to the server, part.go and expire.go keep indexes in parts by time, and
// remove documents that were deleted long ago.
//
// The invariants:
//   - A document is a pure function of the events of its row: of each field the greatest version, among equals the last
//     submitted. Repeats, shuffles and unknown outcomes change nothing.
//   - Every submitted event ends in exactly one of: written, already newer (both: durable), retry, reject, halt.
//   - No more than 1 % of what is written, and 100 a minute, are rejected because an index refuses them: it halts then.
//   - A document that waits holds up nothing but itself.
//   - Two changes of one document are never in two calls at once, and are applied in the order submitted.
package indexer
