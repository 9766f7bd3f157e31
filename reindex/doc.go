// Package reindex rebuilds a search index, from HBase or from the topics, beside the one in use, and then puts it in that one's place. The
// pipelines keep running meanwhile.
//
// The path: rows of the tables become the events that would have made them (recover.go). They are scanned in parallel ranges (table.go,
// scan.go) and the indexer's own Writer writes them into the new index. Then the topics are read from the position that the rows had when
// that began (catchup.go), repeatedly until little is left. The new index takes the name of the old one, and the topics are read once more,
// up to their ends at that time (run.go). The progress is stored in a document in an index of its own (state.go, keeper.go), so that the
// same command resumes after a kill.
//
// The invariants:
//   - Nothing that arrived meanwhile is missing. For every record one of these holds: its row was in the table before the scan began; it
//     was read from the topic before the swap; it was read after the swap; or it arrived after the swap, and the live pipeline writes it to
//     the new index. Documents are pure functions of events, and versions order them, so writing one twice, or by both, changes nothing.
//   - If the new index refuses a document, the old index stays in place, unless the caller allows it.
//   - One process at a time builds an index, and one that was considered dead does no harm: each save of the state requires the previous
//     one.
//   - Memory is bounded by Workers, and by what the Writer may buffer.
package reindex
