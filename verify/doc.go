// Package verify holds what is in the stores against what the topics say: which rows and documents are missing, stale, different,
// or there without an event; which events share a row; which records are neither in a store nor in the dead letters.
//
// What is expected is made by the code that writes: the sink's own mutations and the indexer's own documents, recorded instead of
// sent. So whatever those can write can be verified, and no second opinion on it exists.
//
// The path: a Replay of the range that keeps no progress hands every event to an expecter (expect.go), whose entries (entry.go) are
// sorted by key in a file (sorter.go), cell values as hashes. One pass over the ranges of the tables (look.go) folds the entries of a key
// (fold.go) and compares them with what the store has (judge.go): all of a range, or just the keys. What differs is a suspect. A second
// look at those alone, after what has meanwhile come into the topic was read too, decides; so a table may be written while it is verified.
//
// Around a Check stand Tables and Shared (plan.go), which derive what is read from what the sources write; Follower (follow.go), which
// makes a Check of what was committed since the one before; and Diff (diff.go), which compares a sample of a replay with the rows that
// are there.
//
// The invariants:
//   - Memory is bounded by Options.Memory and MaxFindings, whatever the size of topic and table.
//   - Nothing is found wrong that a write under way explains: records from the live group's watermark on may be in a store or not.
//   - Everything found names its record or its row, so that it can be looked at and repaired.
package verify

//go:generate go test -run TestPagesListTheKinds . -update
