// Package reindex builds a search index again, from HBase or from the topics, beside the one that is in use, and has it take that one's
// place. The pipelines go on meanwhile.
//
// The path: rows of the tables become the events that would have made them (recover.go), are scanned by ranges side by side (table.go,
// scan.go) and written by the indexer's own Writer into the new index. Then the topics are read from where the rows were when that
// began (catchup.go), again and again until little is left. The new index takes the name of the old one, and the topics are read once
// more, up to where they end after that (run.go). What is done is kept in a document of an index of its own (state.go, keeper.go), so that
// the same command goes on after a kill.
//
// The invariants:
//   - Nothing that came meanwhile is missing. Of every record one of these holds: its row was in the table before the scan began; it
//     was read from the topic before the swap; it was read after the swap; or it came after the swap, and the live pipeline writes it to
//     the new index. Documents are pure functions of events and versions order them, so being written twice, or by both, changes nothing.
//   - Nothing that the new index refuses is passed over, unless the caller says so: then the old index stays in place.
//   - One process at a time builds an index, and one that was thought dead does no harm: each save of the state needs the one before.
//   - Memory is bounded by Workers, and by what the Writer may buffer.
package reindex
