// Package verify compares the contents of the stores with the topics. It reports which rows and documents are missing, stale, different, or
// present without an event; which events share a row; and which records are neither in a store nor in the dead letters.
//
// The code that writes also makes what is expected: the sink's own mutations and the indexer's own documents, recorded instead of sent. So
// everything they can write can be verified, and there is no second implementation.
//
// The path: a Replay of the range, which keeps no progress, passes every event to an expecter (expect.go). Its entries (entry.go) are
// sorted by key in a file (sorter.go), with cell values as hashes. One pass over the ranges of the tables (look.go) folds the entries of
// each key (fold.go) and compares them with the store (judge.go): with the whole range, or only the keys. Whatever differs is a suspect. A
// second look at the suspects alone decides, after what has meanwhile come into the topic was read too. So a table may be written while it
// is verified.
//
// Around a Check there are Tables and Shared (plan.go), which derive what to read from what the sources write; Follower (follow.go), which
// runs a Check of what was committed since the previous one; and Diff (diff.go), which compares a sample of a replay with the existing
// rows.
//
// The invariants:
//   - Options.Memory and MaxFindings bound the memory, whatever the size of topic and table.
//   - Nothing is reported as wrong that a write under way explains: records from the live group's watermark on may be in a store or not.
//   - Every finding names its record or its row, so that it can be inspected and repaired.
package verify

//go:generate go test -run TestPagesListTheKinds . -update
