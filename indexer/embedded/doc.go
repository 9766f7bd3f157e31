// Package embedded is the indexer.Engine in this process: Bleve indexes on disk, one folder each, for `brine dev`, tests and installations
// without a search server. Bleve's cjk analyzer cuts text into words: Chinese, Japanese and Korean into pairs of characters, other scripts
// at blanks and punctuation, in lower case.
//
// The invariants: what Bulk has answered is on disk (it survives kill -9), and Get and Search find it immediately. Conditions on versions
// are checked and applied under one lock of the index. LIMITS.md lists what it does not do.
package embedded
